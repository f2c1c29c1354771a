import { useSignal } from "@preact/signals";
import { ownMember } from "../../../../../src/base/own-member.ts";
import { Button } from "../../components/button.tsx";
import { Notice } from "../../components/notice.tsx";
import { dictionary } from "../../dictionary/dictionary.ts";
import en from "../../dictionary/en/phone.ts";
import { formatDuration } from "../../dictionary/format.ts";
import pt from "../../dictionary/pt/phone.ts";
import { changeQuery } from "../../shell/place.ts";
import { spacedNumber } from "../calls/typed-number.ts";
import { callerText } from "./alerts.ts";
import { CallScreen } from "./call-screen.tsx";
import { FirstCall } from "./first-call.tsx";
import type { Phone } from "./phone.ts";
import type { LastCall, PhoneState } from "./phone-state.ts";

const t = dictionary({ en, pt });

/** The phone: its number, its state, and its controls. */
export function PhoneScreen({ phone, number }: { readonly phone: Phone; readonly number: string }) {
  const state = phone.state.value;
  const isIdle = state.name !== "ringing" && state.name !== "talking";
  return (
    <div class="columns">
      <div class="stack">
        <section class={`phone phone-${state.name}`} aria-label={number}>
          <p class="phone-number number">{spacedNumber(number)}</p>
          {isIdle ? <IdleScreen phone={phone} state={state} /> : <CallScreen phone={phone} state={state} />}
        </section>
        {!isSecureContext && <Notice tone="warn">{t.value.insecure}</Notice>}
        {phone.isSilenced.value && <Notice tone="warn">{t.value.soundOff}</Notice>}
        {isIdle && (
          <div class="row">
            <Button small variant="plain" onClick={() => changeQuery({ number: undefined })}>
              {t.value.change}
            </Button>
            <NotificationButton />
          </div>
        )}
      </div>
      {isIdle && <FirstCall number={number} />}
    </div>
  );
}

type IdleState = Exclude<PhoneState, { readonly name: "ringing" | "talking" }>;

function IdleScreen({ phone, state }: { readonly phone: Phone; readonly state: IdleState }) {
  return (
    <>
      <p class="phone-status" role="status">
        {statusText(state)}
      </p>
      {state.name === "ready" && <p class="quiet small">{t.value.readyText}</p>}
      {state.name !== "refused" && state.last && <LastCallNotice last={state.last} />}
      {state.name === "refused" && <Button onClick={() => phone.retry()}>{t.value.tryAgain}</Button>}
    </>
  );
}

function statusText(state: IdleState): string {
  if (state.name !== "refused") return t.value[state.name];
  return state.reason === "too_many" ? t.value.tooMany : t.value.signedOut;
}

function LastCallNotice({ last }: { readonly last: LastCall }) {
  const length = last.ms === undefined ? "" : ` (${t.value.lasted(formatDuration(last.ms))})`;
  return (
    <div class="phone-last small" role="status">
      <p>{t.value.last(callerText(last.call)) + length}</p>
      <p>{endText(last)}</p>
    </div>
  );
}

function endText({ cause, ms }: LastCall): string {
  const { ends } = t.value;
  if (ms === undefined && (cause === "released" || cause === "no_answer")) return ends.missed;
  return ownMember(ends, cause) ?? ends.other;
}

/** Asks for permission to show notifications, unless it has already been granted or denied. */
function NotificationButton() {
  const permission = useSignal("Notification" in globalThis ? Notification.permission : "denied");
  if (permission.value !== "default" || !isSecureContext) return null;
  const requestPermission = async (): Promise<void> => {
    permission.value = await Notification.requestPermission();
  };
  return (
    <Button small variant="plain" onClick={() => void requestPermission()}>
      {t.value.notifyMe}
    </Button>
  );
}
