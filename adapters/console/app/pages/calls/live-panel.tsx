import { useEffect } from "preact/hooks";
import { Button, LinkButton } from "../../components/button.tsx";
import { Card } from "../../components/card.tsx";
import { Notice } from "../../components/notice.tsx";
import { dictionary } from "../../dictionary/dictionary.ts";
import enCalls from "../../dictionary/en/calls.ts";
import en from "../../dictionary/en/new-call.ts";
import ptCalls from "../../dictionary/pt/calls.ts";
import pt from "../../dictionary/pt/new-call.ts";
import { faultSentence } from "../../shell/fault-sentence.ts";
import { href } from "../../shell/place.ts";
import { Keypad } from "../phone/keypad.tsx";
import { Elapsed } from "./call-text.tsx";
import type { MicrophoneCall } from "./microphone-call.ts";
import { spacedNumber } from "./typed-number.ts";

const t = dictionary({ en, pt });
const calls = dictionary({ en: enCalls, pt: ptCalls });

/** A call through the microphone, and then its outcome. */
export function LivePanel({ call, onClose }: { readonly call: MicrophoneCall; readonly onClose: () => void }) {
  const { live } = t.value;
  const phase = call.phase.value;
  const isEnded = phase === "ended";
  const leave = (): void => void call.hangUp().catch(() => {}); // fails if the call has just ended
  useEffect(() => {
    const warn = (event: BeforeUnloadEvent): void => {
      if (call.phase.peek() !== "ended") event.preventDefault();
    };
    addEventListener("beforeunload", warn);
    return () => {
      removeEventListener("beforeunload", warn);
      leave();
    };
  }, [call]);
  return (
    <Card title={live.title(spacedNumber(call.number))}>
      <div class="stack live-call">
        <p class="live-state" role="status">
          <strong>{isEnded ? live.ended : call.muted.value ? live.muted : live[phase]}</strong>
          {phase === "talking" && call.answeredAt.value && (
            <span class="number quiet" aria-hidden="true">
              <Elapsed since={call.answeredAt.value} />
            </span>
          )}
        </p>
        {isEnded ? <EndNotice call={call} /> : <CallControls call={call} />}
        {call.keys.value !== "" && <p class="small">{live.pressed([...call.keys.value].join(" "))}</p>}
        <div class="row">
          {!isEnded && (
            <>
              <Button
                variant="quiet"
                icon={call.muted.value ? "mute" : "mic"}
                onClick={() => call.mute(!call.muted.value)}
              >
                {call.muted.value ? live.unmute : live.mute}
              </Button>
              <Button variant="danger" icon="hangup" onClick={leave}>
                {live.hangUp}
              </Button>
            </>
          )}
          {isEnded && (
            <>
              <LinkButton to={href(`/calls/${call.callId}`)}>{live.details}</LinkButton>
              <Button variant="quiet" onClick={onClose}>
                {live.again}
              </Button>
            </>
          )}
        </div>
      </div>
    </Card>
  );
}

function CallControls({ call }: { readonly call: MicrophoneCall }) {
  const { live } = t.value;
  const { heard, spoken } = call.levels.value;
  return (
    <>
      <div class="phone-meters">
        <Level label={live.you} value={call.muted.value ? 0 : spoken} />
        <Level label={live.callee} value={heard} />
      </div>
      {call.phase.value === "talking" && <Keypad press={(key) => call.press(key)} />}
    </>
  );
}

/** Loudness, from 0 to 100. */
function Level({ label, value }: { readonly label: string; readonly value: number }) {
  return (
    <label>
      <span>{label}</span>
      <meter min={0} max={100} value={value} />
    </label>
  );
}

function EndNotice({ call }: { readonly call: MicrophoneCall }) {
  const fault = call.fault.value;
  if (fault !== undefined) return <Notice tone="bad">{faultSentence(fault)}</Notice>;
  const reason = call.end.value?.reason;
  if (!reason) return null;
  return <p>{reason === "stream_closed" ? t.value.live.hungUp : calls.value.outcomes[reason]}</p>;
}
