import { expect, test } from "vitest";
import { hoursText, messageFacts, retryText } from "../../../adapters/console/app/pages/batches/batch-facts.ts";

test.each([
  [
    "a text",
    { type: "FIXED_TTS", tts: { text: "Hello {{name}}", voiceId: "en-US-1" }, onMachine: "hang_up" },
    { text: "Hello {{name}}", voiceId: "en-US-1", onMachine: "hang_up" },
  ],
  ["an audio file", { type: "FIXED_AUDIO" }, {}],
  [
    "an agent",
    { type: "DYNAMIC_AGENT", agent: { instructions: ["Say: hi.", "Hang up."], language: "en", firstMessage: null } },
    { text: "Say: hi.\nHang up.", language: "en", firstMessage: null },
  ],
])("the facts about %s", (_, message, facts) => {
  expect(messageFacts(message)).toEqual(facts);
});

test.each([
  [{ first_ms: 900_000, factor: 1, max_ms: 900_000 }, 2, "Busy, Voicemail: 2 more calls, after 15 minutes"],
  [{ first_ms: 5_400_000, factor: 2, max_ms: 86_400_000 }, 1, "Busy, Voicemail: 1 more call, after 90 minutes"],
  [
    { first_ms: 1_500, factor: 1.5, max_ms: 7_200_000 },
    3,
    "Busy, Voicemail: 3 more calls, after 1.5 seconds, then 1.5 × as long, at most 2 hours",
  ],
])("the retries with the backoff %j", (backoff, times, text) => {
  expect(retryText({ on: ["busy", "machine"], times, backoff })).toBe(text);
});

test("the hours have their days and their zone", () => {
  const hours = { from: "09:00", to: "18:00" };
  expect(hoursText({ ...hours, days: [1, 7] }, "callee")).toBe("09:00–18:00 · Mon, Sun · in the callee’s time zone");
  expect(hoursText({ ...hours, days: null }, "America/Sao_Paulo")).toBe("09:00–18:00 · America/Sao_Paulo");
});
