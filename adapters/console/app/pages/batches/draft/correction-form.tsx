import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { BatchTarget } from "../../../../../../src/client/index.ts";
import { Button } from "../../../components/button.tsx";
import { Field } from "../../../components/field.tsx";
import { Form } from "../../../components/form.tsx";
import { client } from "../../../shell/client.ts";
import { toast } from "../../../shell/toasts.tsx";
import { useAction } from "../../../shell/use-action.ts";
import { phoneNumberOf } from "../../calls/typed-number.ts";
import { newBatchTexts as t } from "../../new-batch/new-batch-texts.ts";
import { targetFaultText } from "../target-fault-texts.ts";

/** A form for correcting a row's number and variables. */
export function CorrectionForm({
  batchId,
  target,
  variables,
  onSaved,
  onClose,
}: {
  readonly batchId: string;
  readonly target: BatchTarget;
  /** Names of the variables in the message. */
  readonly variables: readonly string[];
  readonly onSaved: () => Promise<void>;
  readonly onClose: () => void;
}) {
  const { faults: texts } = t.value;
  const { position, row, phone_number } = target;
  const phone = useSignal(phone_number);
  const values = useSignal<Readonly<Record<string, string>>>(
    Object.fromEntries(Object.entries(target.variables).map(([name, value]) => [name, String(value)])),
  );
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => element.current?.querySelector("input")?.focus(), []);
  const save = useAction(async () => {
    const filledValues = Object.entries(values.value).filter(([, value]) => value.trim() !== "");
    const correctedTarget = await client.batches.updateTarget(batchId, position, {
      phoneNumber: phoneNumberOf(phone.value),
      variables: Object.fromEntries(filledValues),
    });
    if (correctedTarget.status === "WAITING") toast(texts.corrected(row));
    onClose();
    await onSaved();
  });
  const faultOf = (...columns: readonly string[]) => {
    const fault = target.faults.find(({ column }) => columns.includes(column));
    return fault && targetFaultText(fault);
  };
  return (
    <div ref={element} class="correction">
      <Form
        action={save}
        buttons={
          <>
            <Button small busy={save.busy}>
              {texts.save}
            </Button>
            <Button small variant="quiet" onClick={onClose}>
              {texts.cancel}
            </Button>
          </>
        }
      >
        <div class="columns">
          <Field
            type="tel"
            label={texts.number}
            fault={faultOf("phoneNumber", "phone")}
            autocomplete="off"
            value={phone.value}
            onInput={(text) => {
              phone.value = text;
            }}
          />
          {variables.map((name) => (
            <Field
              key={name}
              label={name}
              fault={faultOf(name)}
              autocomplete="off"
              value={values.value[name] ?? ""}
              onInput={(text) => {
                values.value = { ...values.value, [name]: text };
              }}
            />
          ))}
        </div>
      </Form>
    </div>
  );
}
