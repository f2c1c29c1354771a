import { useId } from "preact/hooks";
import { Choice, Field } from "../../components/field.tsx";
import { type BatchForm, startHasPassed } from "./batch-form.ts";
import { newBatchTexts as t } from "./new-batch-texts.ts";

const DAYS = [1, 2, 3, 4, 5, 6, 7] as const;

interface Props {
  readonly form: BatchForm;
  readonly edit: (change: Partial<BatchForm>) => void;
}

/** Form fields for the times at which calls may be dialled. */
export function ScheduleFields({ form, edit }: Props) {
  const { schedule } = t.value;
  const zoneListId = useId();
  const toggle = (day: number): void =>
    edit({ days: form.days.includes(day) ? form.days.filter((other) => other !== day) : [...form.days, day].sort() });
  return (
    <div class="stack">
      <div class="columns">
        <Field
          type="datetime-local"
          label={schedule.start}
          hint={schedule.startHint}
          fault={startHasPassed(form, Date.now()) ? schedule.past : undefined}
          value={form.startAt}
          onInput={(startAt) => edit({ startAt })}
        />
        <Field
          type="datetime-local"
          label={schedule.end}
          hint={schedule.endHint}
          value={form.endAt}
          onInput={(endAt) => edit({ endAt })}
        />
      </div>
      <Choice
        type="checkbox"
        title={schedule.hours}
        explanation={schedule.hoursText}
        checked={form.hasHours}
        onChange={(event) => edit({ hasHours: event.currentTarget.checked })}
      />
      {form.hasHours && (
        <>
          <div class="columns">
            <Field
              label={schedule.from}
              pattern="\d\d:\d\d"
              placeholder="09:00"
              value={form.from}
              onInput={(from) => edit({ from })}
            />
            <Field
              label={schedule.to}
              pattern="\d\d:\d\d"
              placeholder="18:00"
              value={form.to}
              onInput={(to) => edit({ to })}
            />
          </div>
          <fieldset class="field batch-days">
            <legend class="group-label">{schedule.days}</legend>
            {DAYS.map((day) => (
              <label key={day} class="type-choice">
                <input type="checkbox" checked={form.days.includes(day)} onChange={() => toggle(day)} />
                {schedule.dayNames[day]}
              </label>
            ))}
          </fieldset>
          <Field
            label={schedule.zone}
            hint={schedule.zoneHint}
            list={zoneListId}
            spellcheck={false}
            value={form.zone}
            onInput={(zone) => edit({ zone })}
          />
          <datalist id={zoneListId}>
            <option value="callee" />
            <option value={Intl.DateTimeFormat().resolvedOptions().timeZone} />
          </datalist>
        </>
      )}
    </div>
  );
}
