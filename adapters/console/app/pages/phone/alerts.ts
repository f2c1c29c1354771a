import { dictionary } from "../../dictionary/dictionary.ts";
import en from "../../dictionary/en/phone.ts";
import pt from "../../dictionary/pt/phone.ts";
import { spacedNumber } from "../calls/typed-number.ts";
import type { PhoneCall } from "./phone-state.ts";
import { flashTitle, notify, ring } from "./ringer.ts";

const t = dictionary({ en, pt });

/** The caller's name or number, for display; a number does not wrap. */
export function callerText({ from }: PhoneCall): string {
  if (from.withheld) return t.value.withheld;
  return (
    from.display_name ??
    (from.phone_number === null ? t.value.unknown : spacedNumber(from.phone_number).replaceAll(" ", "\u00a0"))
  );
}

/** Alerts the user to a call with sound, title, notification and vibration, until the returned function is called. */
export function alertUser(call: PhoneCall, context: AudioContext): () => void {
  const { calls } = t.value;
  const stopFunctions = [
    ring(context),
    flashTitle(calls(callerText(call))),
    notify(calls(callerText(call)), t.value.through(call.instance.name)),
  ];
  navigator.vibrate?.([600, 400, 600, 400, 600]);
  return () => {
    for (const stop of stopFunctions) stop();
    navigator.vibrate?.(0);
  };
}
