import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { NetworkView } from "../../../api.ts";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { Choice, SignalField } from "../../components/field.tsx";
import { Form } from "../../components/form.tsx";
import { Notice } from "../../components/notice.tsx";
import { Loaded } from "../../components/waiting.tsx";
import { dictionary } from "../../dictionary/dictionary.ts";
import en from "../../dictionary/en/instances.ts";
import pt from "../../dictionary/pt/instances.ts";
import { client } from "../../shell/client.ts";
import { navigate } from "../../shell/place.ts";
import { useAction } from "../../shell/use-action.ts";
import { useData } from "../../shell/use-data.ts";
import { CallerFields } from "./caller-fields.tsx";
import { callerForm, callerOfForm } from "./caller-form.ts";
import { networks, networkTexts } from "./network-list.ts";

const t = dictionary({ en, pt });

/** A dialog for a new instance's name and network; it then opens the instance's page, where the phone is linked. */
export function CreateInstanceDialog({ onClose }: { readonly onClose: () => void }) {
  const networkList = useData(networks);
  return (
    <Dialog title={t.value.create.title} onClose={onClose}>
      <Loaded data={networkList} lines={4}>
        {([first, ...others]) =>
          first === undefined ? (
            <Notice tone="warn">{t.value.create.noNetwork}</Notice>
          ) : (
            <CreateForm networks={[first, ...others]} onClose={onClose} />
          )
        }
      </Loaded>
    </Dialog>
  );
}

function CreateForm({
  networks,
  onClose,
}: {
  readonly networks: readonly [NetworkView, ...NetworkView[]];
  readonly onClose: () => void;
}) {
  const name = useSignal("");
  const provider = useSignal(networks[0].name);
  const caller = useSignal(callerForm());
  const { caller_ids } = networks.find((network) => network.name === provider.value) ?? networks[0];
  const create = useAction(async () => {
    const callerId = caller_ids === null ? null : callerOfForm(caller.value);
    const input = { name: name.value, provider: provider.value, ...(callerId && { callerId }) };
    const { id } = await client.instances.create(input);
    onClose();
    navigate(`/instances/${id}`);
  });
  const texts = t.value.create;
  // The dialog opens before its fields are rendered, so the browser has none to focus.
  useEffect(() => document.querySelector<HTMLInputElement>("dialog input")?.focus(), []);
  return (
    <Form
      action={create}
      buttons={
        <>
          <Button busy={create.busy}>{texts.action}</Button>
          <Button variant="quiet" onClick={onClose}>
            {texts.cancel}
          </Button>
        </>
      }
    >
      <SignalField label={texts.name} hint={texts.nameHint} autocomplete="off" maxLength={120} required signal={name} />
      {networks.length > 1 && (
        <fieldset class="choices">
          <legend>{texts.network}</legend>
          {networks.map((network) => {
            const { title, text } = networkTexts(network.name);
            return (
              <Choice
                key={network.name}
                type="radio"
                name="network"
                title={title}
                explanation={text}
                checked={provider.value === network.name}
                onChange={() => {
                  provider.value = network.name;
                }}
              />
            );
          })}
        </fieldset>
      )}
      {caller_ids !== null && (
        <details class="more">
          <summary>{texts.caller}</summary>
          <div class="stack">
            <CallerFields caller={caller} allowedCallers={caller_ids} />
          </div>
        </details>
      )}
    </Form>
  );
}
