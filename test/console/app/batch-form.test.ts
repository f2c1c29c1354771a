import { expect, test } from "vitest";
import {
  asCallForm,
  batchMessageOf,
  batchRequest,
  EMPTY_BATCH,
  startHasPassed,
} from "../../../adapters/console/app/pages/new-batch/batch-form.ts";
import { EMPTY_FORM } from "../../../adapters/console/app/pages/new-call/call-form.ts";

const form = { ...EMPTY_FORM, text: "Hello {{name}}", voiceId: "en-US-1", instanceId: "inst_1", reference: "7" };
const message = batchMessageOf(form);

test("the message of a batch has no instance, target or reference", () => {
  expect(message).toMatchObject({ type: "FIXED_TTS", tts: { text: "Hello {{name}}", voiceId: "en-US-1" } });
  expect(Object.keys(message)).not.toEqual(expect.arrayContaining(["instanceId"]));
  expect("target" in message || "reference" in message).toBe(false);
});

const LIMITS = { gapMinutes: "60", pausesOnFaults: false };

test("an empty form has neither schedule nor retries", () => {
  const input = batchRequest({ ...EMPTY_BATCH, name: " A ", instanceIds: ["inst_1"] }, message);
  expect(input).toEqual({ name: "A", instanceIds: ["inst_1"], message });
});

test("hours, retries and limits are sent as numbers and times", () => {
  const input = batchRequest(
    { ...EMPTY_BATCH, startAt: "2026-12-01T10:00", hasHours: true, retryOn: ["busy"], maxConcurrent: "3", ...LIMITS },
    message,
  );
  expect(input.schedule).toEqual({
    startAt: new Date(2026, 11, 1, 10).toISOString(),
    hours: { from: "09:00", to: "18:00", days: [1, 2, 3, 4, 5] },
    zone: "callee",
  });
  expect(input.retry).toEqual({ on: ["busy"], times: 2, afterMs: 1_800_000 });
  expect(input).toMatchObject({ maxConcurrent: 3, gapMs: 3_600_000, breaker: false });
});

test("the checks see a value for each placeholder", () => {
  expect(asCallForm(form).text).toBe("Hello x");
});

test.each([
  ["", false],
  ["2026-12-01T09:58", true],
  ["2026-12-01T10:00", false],
])("a start at %j has passed at 10:00: %s", (startAt, isPast) => {
  expect(startHasPassed({ startAt }, new Date(2026, 11, 1, 10).getTime())).toBe(isPast);
});
