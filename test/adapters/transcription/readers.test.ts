import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { quoteOf } from "../../../adapters/provider-http/fault-text.ts";
import { DeepgramReader, FluxReader } from "../../../adapters/transcription/deepgram-readers.ts";
import type { ResponseListener, ResponseReader } from "../../../adapters/transcription/live-protocol.ts";
import { RealtimeReader } from "../../../adapters/transcription/openai-realtime.ts";
import { REALTIME_DIALECTS } from "../../../adapters/transcription/realtime-dialects.ts";
import { UnprocessedAudio } from "../../../adapters/transcription/unprocessed-audio.ts";
import type { TranscriptionEvent } from "../../../src/ports/transcription.ts";
import { fuzz } from "../../support/fuzz.ts";

class RecordedResponses implements ResponseListener {
  readonly startMs = 1_000;
  readonly events: TranscriptionEvent[] = [];
  readonly faults: [string, boolean][] = [];
  readonly processedSpans: { startMs: number; endMs: number }[] = [];
  emit(event: TranscriptionEvent): void {
    this.events.push(event);
  }
  processed(span: { startMs: number; endMs: number }): void {
    this.processedSpans.push(span);
  }
  fault(sentence: string, isPermanent: boolean): void {
    this.faults.push([sentence, isPermanent]);
  }
}

const READERS: [string, (listener: RecordedResponses) => ResponseReader][] = [
  ["OpenAI's", (listener) => new RealtimeReader(REALTIME_DIALECTS.openai, listener)],
  ["vLLM's", (listener) => new RealtimeReader(REALTIME_DIALECTS.vllm, listener)],
  ["Deepgram's", (listener) => new DeepgramReader(listener)],
  ["Flux's", (listener) => new FluxReader(listener)],
];

const TYPES = [
  ...REALTIME_DIALECTS.openai.meanings.keys(),
  ...REALTIME_DIALECTS.vllm.meanings.keys(),
  ...["Results", "UtteranceEnd", "Metadata", "Error", "TurnInfo", "FatalError", "constructor", "__proto__"],
];
const NAMES = ["item_id", "delta", "transcript", "text", "error", "channel", "start", "duration", "is_final"];
const MORE_NAMES = [
  "speech_final",
  "alternatives",
  "words",
  "confidence",
  "event",
  "audio_window_start",
  "audio_window_end",
];
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.jsonValue({ maxDepth: 1 }),
    fc.constantFrom("EndOfTurn", "EagerEndOfTurn", "Update", "StartOfTurn", true, 1e308, -1, Number.NaN, "item_1"),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...NAMES, ...MORE_NAMES), tie("value"), { maxKeys: 3 }),
  ),
}));
const message = fc
  .tuple(fc.constantFrom(...TYPES), fc.dictionary(fc.constantFrom(...NAMES, ...MORE_NAMES), value, { maxKeys: 5 }))
  .map(([type, members]): Record<string, unknown> => ({ ...members, type }));

describe.each(READERS)("the reader of %s messages", (_, reader) => {
  fuzz(
    "never throws, whatever the messages contain",
    fc.property(fc.array(message, { maxLength: 6 }), (messages) => {
      const listener = new RecordedResponses();
      const readerUnderTest = reader(listener);
      for (const receivedMessage of messages) {
        readerUnderTest.committed?.({ startMs: 0, endMs: 10 });
        readerUnderTest.read(receivedMessage);
      }
      for (const event of listener.events) if (event.type === "final") expect(typeof event.text).toBe("string");
    }),
  );
});

fuzz(
  "quoteOf shortens any error body to one line",
  fc.property(fc.oneof(fc.string({ maxLength: 2_000 }), fc.json(), fc.jsonValue()), (body) => {
    expect(quoteOf(body).length).toBeLessThanOrEqual(201);
    expect(quoteOf(body)).not.toContain("\n");
  }),
);

test("RealtimeReader assigns vLLM's texts in order", () => {
  const listener = new RecordedResponses();
  const reader = new RealtimeReader(REALTIME_DIALECTS.vllm, listener);
  reader.committed({ startMs: 1, endMs: 2 });
  reader.committed({ startMs: 3, endMs: 4 });
  for (const text of ["one", "two"]) {
    reader.read({ type: "transcription.delta", delta: text.slice(0, 1) });
    reader.read({ type: "transcription.done", text });
  }
  expect(listener.events).toEqual([
    { type: "partial", text: "o", startMs: 1 },
    { type: "final", text: "one", startMs: 1, endMs: 2 },
    { type: "partial", text: "t", startMs: 3 },
    { type: "final", text: "two", startMs: 3, endMs: 4 },
  ]);
});

test("DeepgramReader ends an utterance with speech_final or UtteranceEnd", () => {
  const listener = new RecordedResponses();
  const reader = new DeepgramReader(listener);
  const results = (transcript: string, start: number, extraFields: object) =>
    reader.read({ type: "Results", start, duration: 1, channel: { alternatives: [{ transcript }] }, ...extraFields });
  results("five", 0, { is_final: false });
  results("five two", 0, { is_final: true });
  results("nine", 1, { is_final: true, speech_final: true });
  results("good", 5, { is_final: true });
  expect(listener.processedSpans).toHaveLength(2); // for the first utterance, not the open one
  reader.read({ type: "UtteranceEnd", last_word_end: 6 });
  expect(listener.events.filter(({ type }) => type === "final")).toEqual([
    { type: "final", text: "five two nine", startMs: 1_000, endMs: 3_000, confidence: undefined },
    { type: "final", text: "good", startMs: 6_000, endMs: 7_000, confidence: undefined },
  ]);
  expect(listener.processedSpans.at(-1)).toEqual({ startMs: -Infinity, endMs: 7_000 });
});

describe("UnprocessedAudio", () => {
  const RATE = 8_000;
  const samples = (ms: number, value = 1) => new Int16Array((ms * RATE) / 1_000).fill(value);
  const takeAll = (audio: UnprocessedAudio) => {
    const items = [];
    for (let item = audio.take(); item; item = audio.take()) items.push(item);
    return items;
  };

  test("returns pieces of 80 ms, and the rest at the end of the turn", () => {
    const audio = new UnprocessedAudio(RATE, 10_000);
    audio.push(samples(200), 1_000);
    audio.commit();
    expect(takeAll(audio).map(({ kind, startMs, endMs }) => [kind, startMs, endMs])).toEqual([
      ["audio", 1_000, 1_080],
      ["audio", 1_080, 1_160],
      ["audio", 1_160, 1_200],
      ["commit", 1_000, 1_200],
    ]);
    audio.commit();
    expect(takeAll(audio)).toEqual([]);
  });

  test("returns unprocessed audio again after rewind", () => {
    const audio = new UnprocessedAudio(RATE, 10_000);
    for (const atMs of [0, 1_000]) {
      audio.push(samples(160), atMs);
      audio.commit();
    }
    expect(takeAll(audio)).toHaveLength(6);
    audio.markProcessed({ startMs: 1_000, endMs: 1_160 });
    expect(audio.turns).toBe(1);
    audio.rewind();
    expect(takeAll(audio).map(({ startMs }) => startMs)).toEqual([0, 80, 0]);
  });

  test("keeps the newest audio and counts only unsent audio as dropped", () => {
    const audio = new UnprocessedAudio(RATE, 400);
    audio.push(samples(400), 0);
    expect(takeAll(audio)).toHaveLength(5);
    audio.push(samples(160), 400);
    expect(audio.droppedMs).toBe(0);
    audio.rewind();
    audio.push(samples(160), 560);
    expect(audio.droppedMs).toBe(160);
    expect(takeAll(audio).map(({ startMs }) => startMs)).toEqual([320, 400, 480, 560, 640]);
  });
});

test("an EagerEndOfTurn from Flux is a partial text marked as ended", () => {
  const listener = new RecordedResponses();
  const reader = new FluxReader(listener);
  const turn = (event: string, transcript: string): void =>
    reader.read({ type: "TurnInfo", event, transcript, audio_window_start: 0, audio_window_end: 1 });
  turn("StartOfTurn", "Yes");
  turn("Update", "Yes please");
  turn("EagerEndOfTurn", "Yes please");
  turn("TurnResumed", "Yes please");
  turn("Update", "Yes please do");
  turn("EndOfTurn", "Yes please do");
  expect(listener.events.map((event) => (event.type === "error" ? event.error : [event.type, event.text]))).toEqual([
    ["partial", "Yes"],
    ["partial", "Yes please"],
    ["partial", "Yes please"],
    ["partial", "Yes please do"],
    ["final", "Yes please do"],
  ]);
  expect(listener.events.map((event) => event.type === "partial" && event.ended === true)).toEqual([
    false,
    false,
    true,
    false,
    false,
  ]);
});
