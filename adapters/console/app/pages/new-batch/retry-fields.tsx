import { Field } from "../../components/field.tsx";
import type { BatchForm } from "./batch-form.ts";
import { newBatchTexts as t } from "./new-batch-texts.ts";

const RETRY_REASONS = ["busy", "no_answer", "declined", "unreachable", "machine", "interrupted"] as const;

/** Form fields for repeated calls to a person, and for the batch's limits. */
export function RetryFields({
  form,
  edit,
}: {
  readonly form: BatchForm;
  readonly edit: (change: Partial<BatchForm>) => void;
}) {
  const { more } = t.value;
  const { retryOn } = form;
  return (
    <div class="stack">
      <fieldset class="field type-choices batch-days">
        <legend class="group-label">{more.on}</legend>
        {RETRY_REASONS.map((reason) => (
          <label key={reason} class="type-choice">
            <input
              type="checkbox"
              checked={retryOn.includes(reason)}
              onChange={(event) =>
                edit({
                  retryOn: event.currentTarget.checked
                    ? [...retryOn, reason]
                    : retryOn.filter((other) => other !== reason),
                })
              }
            />
            {more.reasons[reason]}
          </label>
        ))}
      </fieldset>
      {retryOn.length > 0 && (
        <div class="columns">
          <Field
            type="number"
            min={1}
            max={20}
            label={more.times}
            value={form.retryTimes}
            onInput={(retryTimes) => edit({ retryTimes })}
          />
          <Field
            type="number"
            min={0}
            step="any"
            label={more.after}
            value={form.retryMinutes}
            onInput={(retryMinutes) => edit({ retryMinutes })}
          />
        </div>
      )}
      <Field
        type="number"
        min={1}
        label={more.concurrent}
        hint={more.concurrentHint}
        value={form.maxConcurrent}
        onInput={(maxConcurrent) => edit({ maxConcurrent })}
      />
      <Field
        type="number"
        min={0}
        step="any"
        label={more.gap}
        hint={more.gapHint}
        value={form.gapMinutes}
        onInput={(gapMinutes) => edit({ gapMinutes })}
      />
      <label class="type-choice">
        <input
          type="checkbox"
          checked={form.pausesOnFaults}
          onChange={(event) => edit({ pausesOnFaults: event.currentTarget.checked })}
        />
        {more.pausesOnFaults}
      </label>
    </div>
  );
}
