import { describe, expect, test } from "vitest";
import en from "../../../adapters/console/app/dictionary/en/call.ts";
import pt from "../../../adapters/console/app/dictionary/pt/call.ts";
import { eventText } from "../../../adapters/console/app/pages/call/event-text.ts";
import type { CallEvent } from "../../../src/client/index.ts";
import { EVENT_TYPES, type EventData } from "../../../src/domain/events.ts";

const finalData = {
  reason: "busy",
  detail: null,
  answered_by: null,
  heard_ms: 0,
  heard_ratio: 0,
  heard_evidence: "none",
  duration_ms: 0,
} as const;
const listener = { user_id: "usr_1", token_id: null };

/** Data of every call event that has some. */
const DATA: Partial<EventData> = {
  route: { trunk: "north", attempt: 2, reason: "SIP 503" },
  address_resolved: { resolved_address: "5511987654321@s.whatsapp.net" },
  audio_truncated: { played_ms: 1_500 },
  text_skipped: { text: "你好", characters: 2 },
  audio_ignored: { bytes: 417, reason: "broken_frames" },
  message_ready: { message_ms: 2_000 },
  message_delayed: { at_ms: 100, silence_ms: 400 },
  agent_started: { agent: "scripted" },
  tool_used: { tool: "book", ms: 90, fault: null },
  transferred: { to: "+12025550100", detail: null },
  transfer_failed: { to: "+12025550100", reason: "SIP 486" },
  result_ready: { error: null },
  dtmf: { digit: "5" },
  callee_speech: { start_ms: 100, end_ms: 1_400 },
  beep: { hz: 999.6, at_ms: 10 },
  line_tone: { tone: "busy", frequencies: [480, 620], at_ms: 10 },
  answered_by: { answered_by: "machine", reason: "beep", confidence: 0.9, at_ms: 10 },
  leaving_message: { after: "beep" },
  extension_dialled: { extension: ",,12", in_band: false },
  listening_started: listener,
  listening_ended: { ...listener, listened_ms: 61_000 },
  signalling: { direction: "sent", message: "INVITE" },
  "media.inbound_silent": { after_ms: 5_000 },
  "media.address_refused": { address: "10.0.0.1", detail: "private" },
  recording_incomplete: { reason: "disk_full", recorded_ms: 900 },
  timeline_incomplete: { dropped: 1 },
  completed: { ...finalData, reason: "message_played" },
  failed: finalData,
};

const eventOf = (type: string, data: object = {}) => ({ type, data }) as CallEvent;

/** Types of events in a call's timeline; the others are about instances and batches. */
const CALL_EVENTS = EVENT_TYPES.filter((type) => !/^(?:instance\.|batch_|target_)/.test(type));

describe.each([
  ["English", en],
  ["Portuguese", pt],
] as const)("in %s", (_, texts) => {
  test.each(CALL_EVENTS)("the event %s is a sentence", (type) => {
    const text = eventText(eventOf(type, DATA[type]), texts as typeof en);
    expect(text).toMatch(/^[\p{L}\d]/u);
    expect(text).not.toMatch(/undefined|null|NaN|\{|_/);
    expect(text).not.toBe(type);
  });
});

test("an event of a later server is shown by its name", () => {
  expect(eventText(eventOf("weather_changed"), en)).toBe("weather_changed");
});

test.each<[string, CallEvent, RegExp]>([
  ["the words of a refused trunk", eventOf("route", DATA.route), /Attempt 2 through north, because: SIP 503/],
  ["a tool that failed", eventOf("tool_used", { tool: "book", ms: 1, fault: "timeout" }), /which failed: timeout/],
  [
    "a missing result",
    eventOf("result_ready", { error: "the call was not picked up" }),
    /no result: the call was not picked up/,
  ],
  ["seconds", eventOf("callee_speech", DATA.callee_speech), /for 1\.3 s/],
  ["whole seconds from a minute on", eventOf("listening_ended", DATA.listening_ended), /after 61 s/],
])("a sentence has %s", (_, event, words) => {
  expect(eventText(event, en)).toMatch(words);
});
