import { useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { RingportError } from "../../../../src/client/index.ts";
import { BATCH_CALL_TYPES } from "../../../../src/domain/batches/batch.ts";
import { variablesOf } from "../../../../src/domain/batches/message-template.ts";
import { Button } from "../components/button.tsx";
import { Card } from "../components/card.tsx";
import { Field } from "../components/field.tsx";
import { Notice } from "../components/notice.tsx";
import { PageLayout } from "../components/page.tsx";
import { FaultNotice, Progress } from "../components/waiting.tsx";
import { client } from "../shell/client.ts";
import { ConsoleError } from "../shell/console-api.ts";
import { navigate } from "../shell/place.ts";
import { useAction } from "../shell/use-action.ts";
import { useInstances } from "./calls/use-instances.ts";
import {
  asCallForm,
  type BatchForm,
  batchMessageOf,
  batchRequest,
  EMPTY_BATCH,
  startHasPassed,
} from "./new-batch/batch-form.ts";
import { type ChosenFile, ChosenList } from "./new-batch/chosen-list.ts";
import { importFile } from "./new-batch/import-file.ts";
import { ListFields } from "./new-batch/list-fields.tsx";
import { newBatchTexts as t } from "./new-batch/new-batch-texts.ts";
import { NumbersField } from "./new-batch/numbers-field.tsx";
import { RetryFields } from "./new-batch/retry-fields.tsx";
import { ScheduleFields } from "./new-batch/schedule-fields.tsx";
import { MessageFields } from "./new-call/call-type-fields.tsx";
import { audioBase64 } from "./new-call/chosen-audio.ts";
import { FaultList } from "./new-call/form-field.tsx";
import { FormState } from "./new-call/form-state.ts";
import { readServerLimits, serverLimits } from "./new-call/server-limits.ts";

/** `/batches/new`: the form that creates a draft and imports its list. */
export default function NewBatch() {
  const message = useMemo(() => new FormState(serverLimits, asCallForm), []);
  const list = useMemo(() => new ChosenList(), []);
  const instances = useInstances();
  const form = useSignal<BatchForm>(EMPTY_BATCH);
  const isValidated = useSignal(false);
  const progress = useSignal<number | undefined>(undefined);
  const element = useRef<HTMLFormElement>(null);
  useEffect(() => void readServerLimits(), []);
  const edit = (change: Partial<BatchForm>): void => {
    form.value = { ...form.value, ...change };
  };
  const activeInstances = instances.value.value?.filter(({ status }) => status === "ACTIVE") ?? [];
  useEffect(() => {
    if (activeInstances.length === 1 && form.value.instanceIds.length === 0)
      edit({ instanceIds: [activeInstances[0]?.id ?? ""] });
  }, [activeInstances.length]);
  const variables = variablesOf(batchMessageOf(message.form.value));

  const create = useAction(async () => {
    isValidated.value = true;
    const file = list.fileFor(variables);
    const isComplete = form.value.name.trim() !== "" && form.value.instanceIds.length > 0 && file !== undefined;
    if (!message.validate() || !isComplete || !file || startHasPassed(form.value, Date.now()))
      return showFault(element.current);
    try {
      navigate(`/batches/${await createDraft(form.value, message, file, (share) => (progress.value = share))}`);
    } catch (error) {
      if (!(error instanceof RingportError && error.errors.length > 0)) throw error;
      message.showServerFaults(withoutPrefix(error));
      showFault(element.current);
    } finally {
      progress.value = undefined;
    }
  });

  const texts = t.value;
  const requiredFault = (isMissing: boolean, text: string) => (isValidated.value && isMissing ? text : undefined);
  const formFaults = message.faults.value.get(undefined) ?? [];
  return (
    <PageLayout title={texts.title} lead={texts.lead}>
      <form
        ref={element}
        class="stack measure-wide"
        onSubmit={(event) => {
          event.preventDefault();
          create.start();
        }}
        noValidate
      >
        <Card>
          <Field
            label={texts.name.label}
            hint={texts.name.hint}
            fault={requiredFault(form.value.name.trim() === "", texts.required)}
            autocomplete="off"
            maxLength={100}
            value={form.value.name}
            onInput={(name) => edit({ name })}
          />
        </Card>
        <Card title={texts.numbers.title}>
          <NumbersField
            instances={instances}
            selectedIds={form.value.instanceIds}
            onChange={(instanceIds) => edit({ instanceIds })}
            fault={requiredFault(form.value.instanceIds.length === 0, texts.numbers.none)}
          />
        </Card>
        <Card title={texts.message.title}>
          <div class="stack">
            <p class="quiet small">{texts.message.variables}</p>
            <MessageFields state={message} limits={serverLimits.value} types={BATCH_CALL_TYPES} />
          </div>
        </Card>
        <Card title={texts.list.title}>
          <ListFields
            list={list}
            variables={variables}
            fault={requiredFault(list.isEmpty, texts.list.none)}
            onOpen={create.forget}
          />
        </Card>
        <Card title={texts.schedule.title}>
          <ScheduleFields form={form.value} edit={edit} />
        </Card>
        <Card title={texts.more.title}>
          <RetryFields form={form.value} edit={edit} />
        </Card>
        {formFaults.length > 0 && (
          <Notice tone="bad">
            <FaultList faults={formFaults} />
          </Notice>
        )}
        {create.fault !== undefined && <FaultNotice error={create.fault} />}
        {progress.value !== undefined && <Progress label={texts.list.importing} value={progress.value} />}
        <div class="row">
          <Button icon="arrow" busy={create.busy}>
            {create.busy ? texts.creating : texts.create}
          </Button>
        </div>
      </form>
    </PageLayout>
  );
}

/** Creates the draft and imports its list; if the import fails, the draft is deleted. @returns the draft's id */
async function createDraft(
  form: BatchForm,
  message: FormState,
  { name, file, columns }: ChosenFile,
  onProgress: (share: number) => void,
): Promise<string> {
  const { type, audio } = message.form.value;
  const content = batchMessageOf(message.form.value, type === "FIXED_AUDIO" && audio ? audioBase64(audio) : undefined);
  const { id } = await client.batches.create(batchRequest(form, content));
  try {
    onProgress(0);
    await importFile(id, file, columns, onProgress);
  } catch (error) {
    await client.batches.delete(id).catch(() => {});
    if (!(error instanceof ConsoleError && error.code === "batch_full")) throw error;
    // The server's message mentions the stored rows, but they have been deleted with the draft.
    throw new ConsoleError({ ...error, detail: `${name}: ${t.value.list.tooMany}` }, error.retryAfter);
  }
  return id;
}

/** The faults of the message, with the field names of a call. */
function withoutPrefix({ code, detail, errors }: RingportError): Parameters<FormState["showServerFaults"]>[0] {
  return {
    code,
    detail,
    errors: errors.map((fault) => ({ ...fault, pointer: fault.pointer.replace(/^\/message(?=\/|$)/, "") })),
  };
}

/** Moves the focus to the first invalid field. */
function showFault(form: HTMLFormElement | null): void {
  requestAnimationFrame(() => {
    const field = form?.querySelector<HTMLElement>('[aria-invalid="true"], .fault, .notice-bad');
    field?.closest("details")?.setAttribute("open", "");
    field?.focus();
    field?.scrollIntoView({ block: "center" });
  });
}
