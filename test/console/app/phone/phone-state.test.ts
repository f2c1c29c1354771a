import { describe, expect, test } from "vitest";
import {
  nextPhoneState,
  type PhoneInput,
  type PhoneState,
} from "../../../../adapters/console/app/pages/phone/phone-state.ts";
import type { PhoneMessage } from "../../../../adapters/telephony/simulator/phones/phone-message.ts";

const from = { phone_number: "+12025551234", display_name: null, withheld: false };
const instance = { id: "inst_1", name: "Front desk" };
const call = { id: "call_1", from, instance, sampleRate: 16_000 };

const READY = message({ type: "ready", number: "+12025550147" });
const RINGING = message({ type: "ringing", call_id: "call_1", from, instance, sample_rate: 16_000 });
const ANSWERED = message({ type: "answered", call_id: "call_1" });
const ended = (cause: "released" | "answered_elsewhere", call_id = "call_1") =>
  message({ type: "ended", call_id, cause });

function message(phoneMessage: PhoneMessage): PhoneInput {
  return { type: "message", message: phoneMessage };
}

/** The state after these inputs, one each second. */
function stateAfter(...inputs: PhoneInput[]): PhoneState {
  const start: PhoneState = { name: "connecting" };
  return inputs.reduce<PhoneState>((state, input, index) => nextPhoneState(state, input, 1_000 * (index + 1)), start);
}

describe("a phone", () => {
  test("is ready once it is connected, rings, and has the call once the server confirms the answer", () => {
    expect(stateAfter(READY)).toEqual({ name: "ready" });
    expect(stateAfter(READY, RINGING)).toEqual({ name: "ringing", call });
    expect(stateAfter(READY, RINGING, ANSWERED)).toEqual({ name: "talking", call, since: 3_000 });
  });

  test("shows the end and the length of the last call", () => {
    expect(stateAfter(READY, RINGING, ANSWERED, ended("released"))).toEqual({
      name: "ready",
      last: { call, cause: "released", ms: 1_000 },
    });
    expect(stateAfter(READY, RINGING, ended("answered_elsewhere"))).toEqual({
      name: "ready",
      last: { call, cause: "answered_elsewhere", ms: undefined },
    });
  });

  test("ignores messages about another call, and errors", () => {
    const error = message({ type: "error", code: "no_such_call", detail: "over" });
    expect(stateAfter(READY, RINGING, ended("released", "call_0"), error)).toEqual({ name: "ringing", call });
    expect(stateAfter(READY, ANSWERED, ended("released"))).toEqual({ name: "ready" });
  });

  test("keeps the last call while it reconnects", () => {
    const disconnectedState = stateAfter(READY, RINGING, ANSWERED, { type: "closed" });
    const last = { call, cause: "connection_lost", ms: 1_000 };
    expect(disconnectedState).toEqual({ name: "disconnected", last });
    expect(nextPhoneState(nextPhoneState(disconnectedState, { type: "closed" }, 5_000), READY, 6_000)).toEqual({
      name: "ready",
      last,
    });
  });

  test("rings again after reconnecting during the ringing", () => {
    expect(stateAfter(READY, RINGING, { type: "closed" }, READY, RINGING)).toEqual({ name: "ringing", call });
  });

  test("gives up when the server refuses it", () => {
    expect(stateAfter({ type: "refused", reason: "too_many" })).toEqual({ name: "refused", reason: "too_many" });
  });
});
