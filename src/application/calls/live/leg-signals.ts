import { errorText } from "../../../base/error.ts";
import type { CallSignal } from "../../../domain/calls/call-signal.ts";
import type { Leg, LegEvent } from "../../../ports/telephony.ts";

/**
 * Signals of a leg, in terms of the call's flow; the last signal is always `leg_ended`. Never rejects.
 * @param isNewKey returns true if a key has not been reported in another way
 */
export async function* legSignals(leg: Leg, isNewKey: (digit: string) => boolean): AsyncGenerator<CallSignal> {
  let detail = "the leg reported no end";
  try {
    for await (const event of leg.events) if (event.type !== "dtmf" || isNewKey(event.digit)) yield signalOf(event);
  } catch (error) {
    detail = errorText(error);
  }
  // Has no effect after "ended". If the leg never reported its end, the call would never end without this.
  yield { type: "leg_ended", cause: "internal_error", detail };
}

function signalOf(event: LegEvent): CallSignal {
  switch (event.type) {
    case "dtmf":
      return { type: "noticed", fact: { event: "dtmf", data: { digit: event.digit } } };
    case "noted":
      return { type: "noticed", fact: event.fact };
    case "ended":
      return {
        type: "leg_ended",
        cause: event.cause,
        detail: event.detail,
        fault: event.fault,
        refusal: event.refusal,
      };
    case "early_media":
      return { type: "noticed", fact: { event: "early_media", data: {} } };
    default:
      return event;
  }
}
