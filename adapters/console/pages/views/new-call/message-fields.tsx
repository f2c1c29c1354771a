import { useMemo } from "preact/hooks";
import type { Limits } from "../../../../../src/domain/limits.ts";
import { CodeBlock } from "../../components/copy.tsx";
import { Choice } from "../../components/field.tsx";
import { Notice } from "../../components/notice.tsx";
import { dictionary } from "../../dictionary/dictionary.ts";
import en from "../../dictionary/en/new-call.ts";
import { formatNumber } from "../../dictionary/format.ts";
import pt from "../../dictionary/pt/new-call.ts";
import { session } from "../../shell/session.ts";
import { AgentFields } from "./agent-fields.tsx";
import { AudioField } from "./audio-field.tsx";
import { SelectField, TextArea } from "./form-field.tsx";
import type { FormState } from "./form-state.ts";
import { VoiceField } from "./voice-field.tsx";

const t = dictionary({ en, pt });
const TYPES = ["FIXED_TTS", "FIXED_AUDIO", "DYNAMIC_AGENT", "DYNAMIC_STREAM"] as const;
/** Approximate speed of voices. */
const CHARACTERS_PER_SECOND = 14;

/** Message for the callee: the type of the call, and the fields of that type. */
export function MessageFields({ state, limits }: { readonly state: FormState; readonly limits: Limits }) {
  const { type } = state.form.value;
  const { what } = t.value;
  return (
    <div class="stack">
      <fieldset class="call-types">
        <legend class="visually-hidden">{what.title}</legend>
        {TYPES.map((each) => (
          <Choice
            key={each}
            type="radio"
            name="type"
            title={what[each]}
            explanation={what[`${each}_text`]}
            checked={type === each}
            onChange={() => state.edit({ type: each })}
          />
        ))}
      </fieldset>
      {type === "FIXED_TTS" && <TextFields state={state} limits={limits} />}
      {type === "FIXED_AUDIO" && <AudioField state={state} most={limits.audioBytes} />}
      {type === "DYNAMIC_AGENT" && <AgentFields state={state} />}
      {type === "DYNAMIC_STREAM" && <StreamNotes />}
      {(type === "FIXED_TTS" || type === "FIXED_AUDIO") && <MachineField state={state} at="/onMachine" />}
    </div>
  );
}

function TextFields({ state, limits }: { readonly state: FormState; readonly limits: Limits }) {
  const { text } = state.form.value;
  const characters = useMemo(() => [...text.trim()].length, [text]);
  const length = t.value.text.length(formatNumber(characters), formatNumber(limits.textLength));
  const seconds = Math.max(1, Math.round(characters / CHARACTERS_PER_SECOND));
  const spoken = t.value.text.spoken(formatNumber(seconds, { style: "unit", unit: "second", unitDisplay: "long" }));
  return (
    <>
      <TextArea
        state={state}
        name="text"
        at="/tts/text"
        label={t.value.text.label}
        placeholder={t.value.text.placeholder}
        hint={characters === 0 ? length : `${length}, ${spoken}`}
        rows={4}
      />
      <VoiceField state={state} name="voiceId" at="/tts/voiceId" />
    </>
  );
}

/** Behaviour of a call at an answering machine. */
export function MachineField({
  state,
  at,
}: {
  readonly state: FormState;
  readonly at: "/onMachine" | "/agent/onMachine";
}) {
  const { machine } = t.value;
  return (
    <SelectField
      state={state}
      name="onMachine"
      at={at}
      label={machine.label}
      options={[
        { value: "", text: machine.default },
        { value: "leave_message", text: machine.leave_message },
        { value: "hang_up", text: machine.hang_up },
      ]}
    />
  );
}

/** Notes for a person before they talk through this browser. */
function StreamNotes() {
  const { stream } = t.value;
  if (session.value?.streams === false)
    return (
      <Notice tone="warn">
        <strong>{stream.off}</strong>
        <p>{stream.offText}</p>
        <CodeBlock label={stream.off} code="RINGPORT_STREAM_PREVIEW=1" />
      </Notice>
    );
  if (!isSecureContext)
    return (
      <Notice tone="warn">
        <strong>{stream.noMicrophone}</strong>
        <p>{stream.insecure}</p>
      </Notice>
    );
  return <p class="quiet">{stream.about}</p>;
}
