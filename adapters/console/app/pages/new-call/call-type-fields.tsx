import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import type { CallType } from "../../../../../src/domain/calls/call.ts";
import type { Limits } from "../../../../../src/domain/limits.ts";
import { CodeBlock } from "../../components/copy.tsx";
import { Choice } from "../../components/field.tsx";
import { Notice } from "../../components/notice.tsx";
import { callTypes } from "../../dictionary/call-types.ts";
import { dictionary } from "../../dictionary/dictionary.ts";
import en from "../../dictionary/en/new-call.ts";
import { formatNumber } from "../../dictionary/format.ts";
import pt from "../../dictionary/pt/new-call.ts";
import { signedIn } from "../../shell/session.ts";
import { AgentFields } from "./agent-fields.tsx";
import { AudioField } from "./audio-field.tsx";
import { MachineField, TextArea } from "./form-field.tsx";
import type { FormState } from "./form-state.ts";
import { VoiceField } from "./voice/voice-field.tsx";

const t = dictionary({ en, pt });
/** Approximate rate of speech, characters per second. */
const CHARACTERS_PER_SECOND = 14;

/** The fields for each call type, in form order. */
const FIELDS: Readonly<Record<CallType, (props: FieldsProps) => JSX.Element>> = {
  FIXED_TTS: (props) => (
    <>
      <TextFields {...props} />
      <MachineField {...props} field="/onMachine" />
    </>
  ),
  FIXED_AUDIO: ({ state, limits }) => (
    <>
      <AudioField state={state} maxBytes={limits.audioBytes} />
      <MachineField state={state} field="/onMachine" />
    </>
  ),
  DYNAMIC_AGENT: AgentFields,
  DYNAMIC_STREAM: StreamNotes,
};

interface FieldsProps {
  readonly state: FormState;
  readonly limits: Limits;
}

/** Fields for the message to the callee: the call type, and the fields of that type. */
export function MessageFields({
  state,
  limits,
  types = Object.keys(FIELDS) as CallType[],
}: FieldsProps & {
  /** Call types to choose from. Default: all. */
  readonly types?: readonly CallType[];
}) {
  const { type } = state.form.value;
  const Fields = FIELDS[type];
  return (
    <div class="stack">
      <fieldset class="call-types">
        <legend class="visually-hidden">{t.value.message.title}</legend>
        {types.map((callType) => (
          <Choice
            key={callType}
            type="radio"
            name="type"
            title={callTypes[callType].value.choice}
            explanation={callTypes[callType].value.explanation}
            checked={type === callType}
            onChange={() => state.edit({ type: callType })}
          />
        ))}
      </fieldset>
      <Fields state={state} limits={limits} />
    </div>
  );
}

function TextFields({ state, limits }: FieldsProps) {
  const { text } = state.form.value;
  const characters = useMemo(() => [...text.trim()].length, [text]);
  const length = t.value.text.length(formatNumber(characters), formatNumber(limits.textLength));
  const seconds = Math.max(1, Math.round(characters / CHARACTERS_PER_SECOND));
  const durationText = t.value.text.spoken(
    formatNumber(seconds, { style: "unit", unit: "second", unitDisplay: "long" }),
  );
  return (
    <>
      <TextArea
        state={state}
        name="text"
        field="/tts/text"
        label={t.value.text.label}
        placeholder={t.value.text.placeholder}
        hint={characters === 0 ? length : `${length}, ${durationText}`}
        rows={4}
      />
      <VoiceField state={state} name="voiceId" field="/tts/voiceId" />
    </>
  );
}

/** Notes about calls through the microphone. */
function StreamNotes() {
  const { stream } = t.value;
  if (signedIn.value?.streams === false)
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
