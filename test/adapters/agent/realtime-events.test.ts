import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { realtimeEvent } from "../../../adapters/agent/realtime/realtime-events.ts";
import { fuzz } from "../../support/fuzz.ts";

const TYPES = [
  ...["session.updated", "input_audio_buffer.speech_started", "input_audio_buffer.speech_stopped", "response.created"],
  ...["conversation.item.input_audio_transcription.completed", "response.output_audio.delta", "response.done", "error"],
  ...["response.output_audio_transcript.delta", "response.output_audio_transcript.done", "response.output_item.added"],
  ...["response.output_item.done", "response.function_call_arguments.done", "response.audio.delta", "constructor"],
];
const MEMBERS = [
  ...["delta", "item", "item_id", "response", "response_id", "transcript", "call_id", "name", "arguments", "error"],
  ...["audio_start_ms", "audio_end_ms", "usage", "status", "status_details", "__proto__", "event_id"],
];

describe("the reader of a realtime server's messages", () => {
  test("returns audio, words, tool calls and reply ends", () => {
    const ids = { response_id: "r", item_id: "i" };
    expect(realtimeEvent(JSON.stringify({ type: "response.output_audio.delta", ...ids, delta: "AQID" }))).toMatchObject(
      {
        type: "audio",
        bytes: Buffer.from([1, 2, 3]),
      },
    );
    const item = { type: "function_call", call_id: "c", name: "hang_up", arguments: "{}", status: "completed" };
    expect(realtimeEvent(JSON.stringify({ type: "response.output_item.done", response_id: "r", item }))).toEqual({
      type: "call",
      response: "r",
      call: "c",
      name: "hang_up",
      input: "{}",
    });
    const usage = { total_tokens: 7 };
    const details = { type: "failed", error: { message: "It is overloaded." } };
    const response = { id: "r", status: "failed", status_details: details, usage };
    expect(realtimeEvent(JSON.stringify({ type: "response.done", response }))).toEqual({
      type: "response_done",
      response: "r",
      status: "failed",
      tokens: 7,
      fault: "It is overloaded.",
    });
  });

  test("reports untyped messages as broken, and ignores unknown types", () => {
    for (const text of ["", "{", "null", "[]", "1", '{"type":5}'])
      expect(realtimeEvent(text)).toEqual({ type: "broken" });
    expect(realtimeEvent('{"type":"rate_limits.updated"}')).toBe(undefined);
    expect(realtimeEvent('{"type":"constructor"}')).toBe(undefined);
  });

  const hostileMessage = fc.record(
    {
      type: fc.constantFrom(...TYPES),
      ...Object.fromEntries(MEMBERS.map((name) => [name, fc.oneof(fc.jsonValue(), fc.string({ maxLength: 30_000 }))])),
    },
    { requiredKeys: ["type"] },
  );
  const texts = fc.oneof(
    fc.string(),
    fc.jsonValue().map((value) => JSON.stringify(value)),
    hostileMessage.map((message) => JSON.stringify(message)),
  );
  fuzz(
    "never throws, and bounds every text, whatever arrives",
    fc.property(texts, (text) => {
      for (const value of Object.values(realtimeEvent(text) ?? {})) {
        if (typeof value === "number") expect(Number.isFinite(value)).toBe(true);
        else if (typeof value === "string") expect(value.length).toBeLessThanOrEqual(30_000);
        else expect(value === undefined || value instanceof Uint8Array).toBe(true);
      }
    }),
  );
});
