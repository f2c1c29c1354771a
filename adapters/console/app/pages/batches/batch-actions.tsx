import { useSignal } from "@preact/signals";
import type { BatchDetails } from "../../../../../src/client/index.ts";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { Choice } from "../../components/field.tsx";
import { Form } from "../../components/form.tsx";
import { dictionary } from "../../dictionary/dictionary.ts";
import en from "../../dictionary/en/components.ts";
import pt from "../../dictionary/pt/components.ts";
import { client } from "../../shell/client.ts";
import { confirm } from "../../shell/confirm.tsx";
import { faultSentence } from "../../shell/fault-sentence.ts";
import { navigate } from "../../shell/place.ts";
import { toast } from "../../shell/toasts.tsx";
import { useAction } from "../../shell/use-action.ts";
import type { Data } from "../../shell/use-data.ts";
import { batchTexts as t } from "./batch-texts.ts";

const components = dictionary({ en, pt });

interface Props {
  readonly batch: BatchDetails;
  readonly data: Data<BatchDetails>;
}

/** Buttons that pause, resume, cancel or delete a batch. */
export function BatchActions({ batch, data }: Props) {
  const { id, name, status } = batch;
  const { actions } = t.value;
  const isCancelling = useSignal(false);
  const transition = useAction(async (run: (id: string) => Promise<BatchDetails>) => {
    try {
      data.set(await run(id));
    } catch (error) {
      toast(faultSentence(error), "bad");
      await data.reload();
    }
  });
  const isOpen = status === "SCHEDULED" || status === "RUNNING" || status === "PAUSED";
  if (!isOpen)
    return (
      <Button
        variant="danger"
        icon="trash"
        onClick={() =>
          confirm({
            title: actions.removeTitle(name),
            consequence: actions.removeText,
            action: actions.remove,
            async run() {
              await client.batches.delete(id);
              toast(actions.removed);
              navigate("/batches");
            },
          })
        }
      >
        {actions.remove}
      </Button>
    );
  return (
    <>
      {status === "PAUSED" ? (
        <Button icon="play" busy={transition.busy} onClick={() => transition.start(client.batches.resume)}>
          {actions.resume}
        </Button>
      ) : (
        <Button
          variant="quiet"
          icon="pause"
          busy={transition.busy}
          onClick={() => transition.start(client.batches.pause)}
        >
          {actions.pause}
        </Button>
      )}
      <Button variant="danger" onClick={() => (isCancelling.value = true)}>
        {actions.cancel}
      </Button>
      {isCancelling.value && <CancelDialog batch={batch} data={data} onClose={() => (isCancelling.value = false)} />}
    </>
  );
}

/** Asks whether to cancel a batch, and whether to end its live calls. */
function CancelDialog({ batch: { id, name }, data, onClose }: Props & { readonly onClose: () => void }) {
  const { actions } = t.value;
  const liveCalls = useSignal<"finish" | "end">("finish");
  const cancel = useAction(async () => {
    data.set(await client.batches.cancel(id, { liveCalls: liveCalls.value }));
    onClose();
  });
  return (
    <Dialog title={actions.cancelTitle(name)} onClose={onClose}>
      <Form
        action={cancel}
        buttons={
          <>
            <Button variant="quiet" onClick={onClose}>
              {components.value.cancel}
            </Button>
            <Button variant="danger" busy={cancel.busy}>
              {actions.cancel}
            </Button>
          </>
        }
      >
        <p>{actions.cancelText}</p>
        <fieldset class="choices">
          <legend>{actions.live}</legend>
          {(["finish", "end"] as const).map((policy) => (
            <Choice
              key={policy}
              type="radio"
              name="live"
              title={actions[policy]}
              checked={liveCalls.value === policy}
              onChange={() => {
                liveCalls.value = policy;
              }}
            />
          ))}
        </fieldset>
      </Form>
    </Dialog>
  );
}
