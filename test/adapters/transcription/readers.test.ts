import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { quoteOf } from "../../../adapters/engine-http/fault-text.ts";
import { FluxReader } from "../../../adapters/transcription/deepgram-flux.ts";
import { DeepgramReader } from "../../../adapters/transcription/deepgram-results.ts";
import type { ConversationListener, ConversationReader } from "../../../adapters/transcription/live-protocol.ts";
import { RealtimeReader } from "../../../adapters/transcription/openai-realtime.ts";
import { REALTIME_DIALECTS } from "../../../adapters/transcription/realtime-dialects.ts";
import { UnansweredAudio } from "../../../adapters/transcription/unanswered-audio.ts";
import type { TranscriptionEvent } from "../../../src/ports/transcription.ts";
import { fuzz } from "../../support/fuzz.ts";

class Heard implements ConversationListener {
  readonly startMs = 1_000;
  readonly events: TranscriptionEvent[] = [];
  readonly faults: [string, boolean][] = [];
  readonly settled: { startMs: number; endMs: number }[] = [];
  say(event: TranscriptionEvent): void {
    this.events.push(event);
  }
  answered(stretch: { startMs: number; endMs: number }): void {
    this.settled.push(stretch);
  }
  fault(sentence: string, lasting: boolean): void {
    this.faults.push([sentence, lasting]);
  }
}

const READERS: [string, (heard: Heard) => ConversationReader][] = [
  ["OpenAI's", (heard) => new RealtimeReader(REALTIME_DIALECTS.openai, heard)],
  ["vLLM's", (heard) => new RealtimeReader(REALTIME_DIALECTS.vllm, heard)],
  ["Deepgram's", (heard) => new DeepgramReader(heard)],
  ["Flux's", (heard) => new FluxReader(heard)],
];

const TYPES = [
  ...Object.keys(REALTIME_DIALECTS.openai.meanings),
  ...Object.keys(REALTIME_DIALECTS.vllm.meanings),
  ...["Results", "UtteranceEnd", "Metadata", "Error", "TurnInfo", "FatalError", "constructor", "__proto__"],
];
const NAMES = ["item_id", "delta", "transcript", "text", "error", "channel", "start", "duration", "is_final"];
const MORE = ["speech_final", "alternatives", "words", "confidence", "event", "audio_window_start", "audio_window_end"];
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.jsonValue({ maxDepth: 1 }),
    fc.constantFrom("EndOfTurn", "Update", "StartOfTurn", true, 1e308, -1, Number.NaN, "item_1"),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...NAMES, ...MORE), tie("value"), { maxKeys: 3 }),
  ),
}));
const message = fc
  .tuple(fc.constantFrom(...TYPES), fc.dictionary(fc.constantFrom(...NAMES, ...MORE), value, { maxKeys: 5 }))
  .map(([type, members]): Record<string, unknown> => ({ ...members, type }));

describe.each(READERS)("%s messages", (_, reader) => {
  fuzz(
    "never make a reader throw, whatever they hold",
    fc.property(fc.array(message, { maxLength: 6 }), (messages) => {
      const heard = new Heard();
      const one = reader(heard);
      for (const each of messages) {
        one.committed?.({ startMs: 0, endMs: 10 });
        one.read(each);
      }
      for (const event of heard.events) if (event.type === "final") expect(typeof event.text).toBe("string");
    }),
  );
});

fuzz(
  "an error body of any form is quoted in a short line",
  fc.property(fc.oneof(fc.string({ maxLength: 2_000 }), fc.json(), fc.jsonValue()), (body) => {
    expect(quoteOf(body).length).toBeLessThanOrEqual(201);
    expect(quoteOf(body)).not.toContain("\n");
  }),
);

test("vLLM's turns are told apart by their order", () => {
  const heard = new Heard();
  const reader = new RealtimeReader(REALTIME_DIALECTS.vllm, heard);
  reader.committed({ startMs: 1, endMs: 2 });
  reader.committed({ startMs: 3, endMs: 4 });
  for (const text of ["one", "two"]) {
    reader.read({ type: "transcription.delta", delta: text.slice(0, 1) });
    reader.read({ type: "transcription.done", text });
  }
  expect(heard.events).toEqual([
    { type: "partial", text: "o", startMs: 1 },
    { type: "final", text: "one", startMs: 1, endMs: 2 },
    { type: "partial", text: "t", startMs: 3 },
    { type: "final", text: "two", startMs: 3, endMs: 4 },
  ]);
});

test("an utterance of Deepgram's v1 is whole only with its end, or in a noise with the gap after its words", () => {
  const heard = new Heard();
  const reader = new DeepgramReader(heard);
  const results = (transcript: string, start: number, more: object) =>
    reader.read({ type: "Results", start, duration: 1, channel: { alternatives: [{ transcript }] }, ...more });
  results("five", 0, { is_final: false });
  results("five two", 0, { is_final: true });
  results("nine", 1, { is_final: true, speech_final: true });
  results("good", 5, { is_final: true });
  expect(heard.settled).toHaveLength(2); // of the first utterance, not of the one that goes on
  reader.read({ type: "UtteranceEnd", last_word_end: 6 });
  expect(heard.events.filter(({ type }) => type === "final")).toEqual([
    { type: "final", text: "five two nine", startMs: 1_000, endMs: 3_000, confidence: undefined },
    { type: "final", text: "good", startMs: 6_000, endMs: 7_000, confidence: undefined },
  ]);
  expect(heard.settled.at(-1)).toEqual({ startMs: -Infinity, endMs: 7_000 });
});

describe("audio that is not answered", () => {
  const RATE = 8_000;
  const samples = (ms: number, value = 1) => new Int16Array((ms * RATE) / 1_000).fill(value);
  const taken = (held: UnansweredAudio) => {
    const all = [];
    for (let item = held.take(); item; item = held.take()) all.push(item);
    return all;
  };

  test("is sent in pieces of 80 ms, the rest with the end of the turn", () => {
    const held = new UnansweredAudio(RATE, 10_000);
    held.push(samples(200), 1_000);
    held.commit();
    expect(taken(held).map(({ kind, startMs, endMs }) => [kind, startMs, endMs])).toEqual([
      ["audio", 1_000, 1_080],
      ["audio", 1_080, 1_160],
      ["audio", 1_160, 1_200],
      ["commit", 1_000, 1_200],
    ]);
    held.commit();
    expect(taken(held)).toEqual([]);
  });

  test("is sent again on another connection, except what was answered", () => {
    const held = new UnansweredAudio(RATE, 10_000);
    for (const atMs of [0, 1_000]) {
      held.push(samples(160), atMs);
      held.commit();
    }
    expect(taken(held)).toHaveLength(6);
    held.answered({ startMs: 1_000, endMs: 1_160 });
    expect(held.turns).toBe(1);
    held.rewind();
    expect(taken(held).map(({ startMs }) => startMs)).toEqual([0, 80, 0]);
  });

  test("is the newest of it where there is too much, and only what was never sent counts as lost", () => {
    const held = new UnansweredAudio(RATE, 400);
    held.push(samples(400), 0);
    expect(taken(held)).toHaveLength(5);
    held.push(samples(160), 400);
    expect(held.droppedMs).toBe(0);
    held.rewind();
    held.push(samples(160), 560);
    expect(held.droppedMs).toBe(160);
    expect(taken(held).map(({ startMs }) => startMs)).toEqual([320, 400, 480, 560, 640]);
  });
});
