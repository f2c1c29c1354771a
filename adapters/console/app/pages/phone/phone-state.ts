import type { PhoneCaller, PhoneEnd, PhoneMessage } from "../../../../telephony/simulator/phones/phone-message.ts";

/** A call as the phone shows it. */
export interface PhoneCall {
  readonly id: string;
  readonly from: PhoneCaller;
  readonly instance: { readonly id: string; readonly name: string };
  /** Sample rate of the audio, Hz. */
  readonly sampleRate: number;
}

/** Reason why the server has permanently refused the phone. */
export type RefusalReason = "too_many" | "signed_out";

/** State of the phone. */
export type PhoneState =
  | { readonly name: "connecting"; readonly last?: LastCall }
  /** The connection has been lost or cannot be opened; the phone tries again. */
  | { readonly name: "disconnected"; readonly last?: LastCall }
  | { readonly name: "refused"; readonly reason: RefusalReason }
  | { readonly name: "ready"; readonly last?: LastCall }
  | { readonly name: "ringing"; readonly call: PhoneCall }
  /** `since`: time at which the call was answered, ms. */
  | { readonly name: "talking"; readonly call: PhoneCall; readonly since: number };

/** The previous call, and how it ended for this phone. */
export interface LastCall {
  readonly call: PhoneCall;
  readonly cause: PhoneEnd | "connection_lost";
  /** Duration since the call was answered, ms; undefined if it was not answered. */
  readonly ms: number | undefined;
}

/** Inputs of a phone. */
export type PhoneInput =
  | { readonly type: "message"; readonly message: PhoneMessage }
  | { readonly type: "closed" }
  | { readonly type: "refused"; readonly reason: RefusalReason };

/** The state after an input. @param now ms */
export function nextPhoneState(state: PhoneState, input: PhoneInput, now: number): PhoneState {
  switch (input.type) {
    case "closed":
      return { name: "disconnected", ...lastOf(state, "connection_lost", now) };
    case "refused":
      return { name: "refused", reason: input.reason };
    case "message":
      return afterMessage(state, input.message, now);
  }
}

function afterMessage(state: PhoneState, message: PhoneMessage, now: number): PhoneState {
  switch (message.type) {
    case "ready":
      return { name: "ready", ...lastOf(state, "connection_lost", now) };
    case "ringing":
      return { name: "ringing", call: callOf(message) };
    case "answered":
      return isAbout(state, message.call_id) ? { name: "talking", call: state.call, since: now } : state;
    case "ended":
      return isAbout(state, message.call_id) ? { name: "ready", ...lastOf(state, message.cause, now) } : state;
    case "error":
      return state;
  }
}

type InCall = Extract<PhoneState, { readonly call: PhoneCall }>;

const isAbout = (state: PhoneState, callId: string): state is InCall => "call" in state && state.call.id === callId;

/** The current call, which has just ended; if there is none, the previous one. */
function lastOf(state: PhoneState, cause: LastCall["cause"], now: number): { readonly last?: LastCall } {
  if ("call" in state) {
    const ms = state.name === "talking" ? now - state.since : undefined;
    return { last: { call: state.call, cause, ms } };
  }
  return "last" in state && state.last ? { last: state.last } : {};
}

const callOf = (ringing: Extract<PhoneMessage, { readonly type: "ringing" }>): PhoneCall => ({
  id: ringing.call_id,
  from: ringing.from,
  instance: ringing.instance,
  sampleRate: ringing.sample_rate,
});
