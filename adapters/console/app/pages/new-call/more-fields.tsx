import { Choice } from "../../components/field.tsx";
import { dictionary } from "../../dictionary/dictionary.ts";
import en from "../../dictionary/en/new-call.ts";
import pt from "../../dictionary/pt/new-call.ts";
import { TextArea, TextField } from "./form-field.tsx";
import type { FormState } from "./form-state.ts";

const t = dictionary({ en, pt });

/** The rarely used fields of every call; expanded if one has a value or a fault. */
export function MoreFields({ state }: { readonly state: FormState }) {
  const { more } = t.value;
  const { recording, withheld, reference, metadata, fromNumber, fromName } = state.form.value;
  const isUsed = recording || withheld || [reference, metadata, fromNumber, fromName].some((text) => text !== "");
  const hasFault = [...state.faults.value.keys()].some((field) =>
    /^\/(?:from|reference|metadata|recording)/.test(field ?? ""),
  );
  return (
    <details class="more" open={isUsed || hasFault || undefined}>
      <summary>{more.title}</summary>
      <div class="stack">
        <Choice
          type="checkbox"
          title={more.recording}
          explanation={more.recordingText}
          checked={recording}
          onChange={(event) => state.edit({ recording: event.currentTarget.checked })}
        />
        <TextField state={state} name="reference" field="/reference" label={more.reference} hint={more.referenceHint} />
        <TextArea
          state={state}
          name="metadata"
          field="/metadata"
          label={more.metadata}
          hint={more.metadataHint}
          placeholder='{"order":7}'
          spellcheck={false}
        />
        <fieldset class="stack stack-s">
          <legend class="group-label">{more.caller}</legend>
          <p class="quiet small">{more.callerHint}</p>
          <div class="columns">
            <TextField
              state={state}
              name="fromNumber"
              field="/from/phoneNumber"
              label={more.callerNumber}
              type="tel"
              inputMode="tel"
              autoComplete="off"
            />
            <TextField
              state={state}
              name="fromName"
              field="/from/displayName"
              label={more.callerName}
              autoComplete="off"
            />
          </div>
          <Choice
            type="checkbox"
            title={more.withheld}
            explanation={more.withheldText}
            checked={withheld}
            onChange={(event) => state.edit({ withheld: event.currentTarget.checked })}
          />
        </fieldset>
      </div>
    </details>
  );
}
