import { signal } from "@preact/signals";
import { describe, expect, it } from "vitest";
import { FormState } from "../../../adapters/console/app/pages/new-call/form-state.ts";
import { DEFAULT_LIMITS } from "../../../src/domain/limits.ts";

function filledForm(): FormState {
  const state = new FormState(signal(DEFAULT_LIMITS));
  state.edit({ instanceId: "inst_1", phoneNumber: "+12025550100", text: "Hi", voiceId: "en-US-1" });
  return state;
}

describe("a form in progress", () => {
  it("shows its faults from the first attempt to send it, until they are corrected", () => {
    const state = new FormState(signal(DEFAULT_LIMITS));
    expect(state.faults.value.size).toBe(0);
    expect(state.validate()).toBe(false);
    expect([...state.faults.value.keys()]).toContain("/tts/text");
    state.edit({ text: "Hi" });
    expect([...state.faults.value.keys()]).not.toContain("/tts/text");
  });

  it("shows a refusal at its field until changed", () => {
    const state = filledForm();
    expect(state.validate()).toBe(true);
    state.showServerFaults({ code: "destination_not_allowed", detail: "may not be called", errors: [] });
    expect([...state.faults.value.keys()]).toEqual(["/target/phoneNumber"]);
    state.edit({ phoneNumber: "+12025550101" });
    expect(state.faults.value.size).toBe(0);
  });

  it("creates one call however often it is sent, and another call after it was placed or changed", () => {
    const state = filledForm();
    const key = state.idempotencyKey;
    state.validate();
    state.showServerFaults({ code: "server_busy", detail: "busy", errors: [] });
    expect(state.idempotencyKey).toBe(key);
    state.edit({ text: "Hello" });
    const nextKey = state.idempotencyKey;
    expect(nextKey).not.toBe(key);
    state.renewKey();
    expect(state.idempotencyKey).not.toBe(nextKey);
  });

  it("is checked by the server's limits once they are loaded", () => {
    const limits = signal(DEFAULT_LIMITS);
    const state = new FormState(limits);
    state.edit({ instanceId: "inst_1", phoneNumber: "+12025550100", text: "Hello there", voiceId: "en-US-1" });
    expect(state.validate()).toBe(true);
    limits.value = { ...DEFAULT_LIMITS, textLength: 5 };
    expect([...state.faults.value.keys()]).toEqual(["/tts/text"]);
  });
});
