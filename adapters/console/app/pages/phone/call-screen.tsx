import { useEffect, useRef } from "preact/hooks";
import { Icon } from "../../components/icon.tsx";
import { dictionary } from "../../dictionary/dictionary.ts";
import en from "../../dictionary/en/phone.ts";
import { formatDuration } from "../../dictionary/format.ts";
import pt from "../../dictionary/pt/phone.ts";
import { useEverySecond } from "../calls/call-text.tsx";
import { spacedNumber } from "../calls/typed-number.ts";
import { callerText } from "./alerts.ts";
import { Keypad } from "./keypad.tsx";
import type { LiveCall } from "./live-call.ts";
import type { Phone } from "./phone.ts";
import type { PhoneCall, PhoneState } from "./phone-state.ts";

const t = dictionary({ en, pt });

type InCall = Extract<PhoneState, { readonly name: "ringing" | "talking" }>;

/** A ringing or answered call: the caller and the buttons. */
export function CallScreen({ phone, state }: { readonly phone: Phone; readonly state: InCall }) {
  return state.name === "ringing" ? (
    <RingingScreen phone={phone} call={state.call} />
  ) : (
    <TalkingScreen phone={phone} call={state.call} since={state.since} />
  );
}

function RingingScreen({ phone, call }: { readonly phone: Phone; readonly call: PhoneCall }) {
  const answer = useRef<HTMLButtonElement>(null);
  useEffect(() => answer.current?.focus({ preventScroll: true }), []);
  return (
    <>
      <div role="alert">
        <p class="phone-status">{t.value.ringing}</p>
        <Caller call={call} />
      </div>
      <div class="phone-actions">
        <button type="button" class="phone-button phone-end" onClick={() => phone.decline()}>
          <Icon name="hangup" size={26} />
          {t.value.decline}
        </button>
        <button type="button" class="phone-button phone-answer" ref={answer} onClick={() => phone.answer()}>
          <Icon name="call" size={26} />
          {t.value.answer}
        </button>
      </div>
    </>
  );
}

function TalkingScreen({
  phone,
  call,
  since,
}: {
  readonly phone: Phone;
  readonly call: PhoneCall;
  readonly since: number;
}) {
  const liveCall = phone.liveCall.value;
  const isMuted = liveCall?.muted.value ?? false;
  return (
    <>
      <Caller call={call} />
      <Timer since={since} />
      {liveCall && <Meters liveCall={liveCall} />}
      <div class="phone-actions">
        <button
          type="button"
          class="phone-button"
          aria-pressed={isMuted}
          disabled={liveCall?.microphone.value !== "on"}
          onClick={() => phone.mute(!isMuted)}
        >
          <Icon name={isMuted ? "mute" : "mic"} size={26} />
          {isMuted ? t.value.muted : t.value.mute}
        </button>
        <button type="button" class="phone-button phone-end" onClick={() => phone.hangUp()}>
          <Icon name="hangup" size={26} />
          {t.value.hangUp}
        </button>
      </div>
      <Keypad press={(digit) => phone.press(digit)} />
    </>
  );
}

function Caller({ call }: { readonly call: PhoneCall }) {
  const { phone_number, display_name, withheld } = call.from;
  return (
    <div class="phone-caller">
      <p class="phone-name">{callerText(call)}</p>
      {!withheld && display_name !== null && phone_number !== null && (
        <p class="number">{spacedNumber(phone_number)}</p>
      )}
      <p class="quiet small">{t.value.through(call.instance.name)}</p>
    </div>
  );
}

function Timer({ since }: { readonly since: number }) {
  const now = useEverySecond(() => performance.now());
  return (
    <p class="phone-timer number" role="timer" aria-label={t.value.length}>
      {formatDuration(now - since)}
    </p>
  );
}

/** The levels in both directions, and the reason for a silent microphone. */
function Meters({ liveCall }: { readonly liveCall: LiveCall }) {
  const { heard, spoken } = liveCall.levels.value;
  const microphone = liveCall.microphone.value;
  const hint = microphone === "on" || microphone === "insecure" || microphone === "off" ? undefined : microphone;
  return (
    <div class="phone-meters">
      <Meter label={t.value.heard} level={heard} />
      <Meter label={t.value.spoken} level={liveCall.muted.value ? 0 : spoken} />
      {hint && (
        <p class="small quiet" role="status">
          {t.value.microphone[hint]}
        </p>
      )}
    </div>
  );
}

function Meter({ label, level }: { readonly label: string; readonly level: number }) {
  return (
    <label>
      <span class="small">{label}</span>
      <meter min={0} max={100} value={level} />
    </label>
  );
}
