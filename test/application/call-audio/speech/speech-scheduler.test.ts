import { expect, test } from "vitest";
import type { Demand } from "../../../../src/application/call-audio/speech/fair-turns.ts";
import { SpeechScheduler } from "../../../../src/application/call-audio/speech/speech-scheduler.ts";
import { tone } from "../../../../src/audio/tones/tone.ts";
import type { PcmChunk } from "../../../../src/ports/media.ts";
import { NothingToSpeak, type Speech, SpeechFailed, type Voice } from "../../../../src/ports/speech.ts";
import { ManualSystem } from "../../../../src/testing/manual-system.ts";

const RATE = 8_000;
const neverAborted = new AbortController().signal;
const SENTENCE = "The museum is closed on Monday, and on Tuesday as well. ";
const demand = (userId: string): Demand => ({ userId, instanceId: "inst", isPlaying: false, aheadMs: 0 });

/** Speech through `speakText`; a voice's id is also its engine. */
function speechOf(speakText: Speech["speak"], options: Partial<Speech> = {}) {
  const requests: string[] = [];
  const speech: Speech = {
    voices: async () => [],
    voice: async (id): Promise<Voice> => ({ id, language: "en-US", engine: id, name: id, quality: "robotic" }),
    speak(text, voiceId, signal) {
      requests.push(text);
      return speakText(text, voiceId, signal);
    },
    close: async () => {},
    ...options,
  };
  const system = new ManualSystem();
  return { requests, system, scheduler: new SpeechScheduler(speech, system) };
}

async function* beep(text: string): AsyncGenerator<PcmChunk> {
  yield { sampleRate: RATE, samples: tone(440, text.length, RATE, RATE) };
}

/** Speaks only on command. */
function manualSpeech(options: Partial<Speech> = {}) {
  const finish: (() => void)[] = [];
  const scene = speechOf(async function* (text) {
    await new Promise<void>((resolve) => finish.push(resolve));
    yield* beep(text);
  }, options);
  return { ...scene, finish };
}

async function heardMs(pieces: AsyncIterable<PcmChunk>): Promise<number> {
  let ms = 0;
  for await (const { samples, sampleRate } of pieces) ms += (1000 * samples.length) / sampleRate;
  return ms;
}

test("an unspeakable slice is skipped, unless it is the only one", async () => {
  const { scheduler } = speechOf(async function* (text) {
    if (text.includes("今天")) throw new NothingToSpeak("not in this voice");
    if (!/\w/.test(text)) throw new SpeechFailed("no words");
    yield* beep(text);
  });
  const chineseText = "今天天气很好。".repeat(44);
  expect(await heardMs(scheduler.speak(`${SENTENCE}${chineseText}${SENTENCE}`, "v", demand("A"), neverAborted))).toBe(
    2 * SENTENCE.length,
  );
  expect(
    await heardMs(scheduler.speak(`${SENTENCE}${"— ".repeat(200)}`, "v", demand("A"), neverAborted)),
  ).toBeGreaterThan(0);
  await expect(heardMs(scheduler.speak(chineseText, "v", demand("A"), neverAborted))).rejects.toThrow(
    "not in this voice",
  );
});

test("an engine that fails midway fails the text, after the part already spoken", async () => {
  const { scheduler } = speechOf(async function* (text) {
    yield* beep(text);
    throw new SpeechFailed("the engine crashed");
  });
  const pieces = scheduler.speak(SENTENCE.repeat(20), "v", demand("A"), neverAborted);
  expect((await pieces.next()).value).toBeDefined();
  await expect(pieces.next()).rejects.toThrow("the engine crashed");
});

test("slices together speak for at most ten minutes", async () => {
  const { scheduler, requests } = speechOf(async function* () {
    yield { sampleRate: RATE, samples: new Int16Array(RATE * 100) };
  });
  await expect(heardMs(scheduler.speak(SENTENCE.repeat(70), "v", demand("A"), neverAborted))).rejects.toThrow(
    "10 minutes",
  );
  expect(requests).toHaveLength(7);
});

test("an engine with unlimited slices gets the entire text", async () => {
  const { scheduler, requests } = speechOf(beep, { sliceLength: Infinity });
  await heardMs(scheduler.speak(SENTENCE.repeat(20), "v", demand("A"), neverAborted));
  expect(requests).toEqual([SENTENCE.repeat(20)]);
});

test("each engine speaks as many texts at once as it declares, two by default", async () => {
  const { scheduler, requests, system, finish } = manualSpeech({ atOnce: { loud: 3 } });
  for (let n = 0; n < 5; n++)
    for (const voice of ["loud", "quiet"])
      void heardMs(scheduler.speak(`${voice} ${n}`, voice, demand("A"), neverAborted));
  await system.settle();
  expect(requests.filter((text) => text.startsWith("loud"))).toHaveLength(3);
  expect(requests.filter((text) => text.startsWith("quiet"))).toHaveLength(2);
  while (finish.length > 0) {
    for (const release of finish.splice(0)) release();
    await system.settle();
  }
  expect(requests).toHaveLength(10);
});

test.each(["constructor", "__proto__"])("an engine named %s speaks two at once", async (engine) => {
  const { scheduler, requests, system, finish } = manualSpeech({ atOnce: { loud: 3 } });
  for (let n = 0; n < 5; n++) void heardMs(scheduler.speak(`text ${n}`, engine, demand("A"), neverAborted));
  await system.settle();
  expect(requests).toHaveLength(2);
  while (finish.length > 0) {
    for (const release of finish.splice(0)) release();
    await system.settle();
  }
  expect(requests).toHaveLength(5);
});

test("a slice without a reader ends its turn, and no other starts", async () => {
  const { scheduler, requests, system } = speechOf(beep, { atOnce: { v: 1 } });
  const unreadSpeech = scheduler.speak(SENTENCE.repeat(20), "v", demand("A"), neverAborted);
  await unreadSpeech.next();
  await system.settle();
  expect(requests).toHaveLength(1);
  expect(await heardMs(scheduler.speak("Hello.", "v", demand("B"), neverAborted))).toBe(6);
  await unreadSpeech.return();
});

test("a stopped text ends its turn at once, whatever the engine does", async () => {
  const { scheduler, requests, system } = manualSpeech({ atOnce: { v: 1 } });
  const abort = new AbortController();
  const stoppedText = heardMs(scheduler.speak("first", "v", demand("A"), abort.signal));
  void heardMs(scheduler.speak("second", "v", demand("B"), neverAborted)).catch(() => {});
  await system.settle();
  expect(requests).toEqual(["first"]);
  abort.abort(new Error("hung up"));
  await expect(stoppedText).rejects.toThrow("hung up");
  await system.settle();
  expect(requests).toEqual(["first", "second"]);
});

test("a reader that leaves stops the engine", async () => {
  let isStopped = false;
  const { scheduler } = speechOf(async function* (text, _voice, signal) {
    signal.addEventListener("abort", () => {
      isStopped = true;
    });
    yield* beep(text);
    await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  });
  for await (const _ of scheduler.speak(SENTENCE, "v", demand("A"), neverAborted)) break;
  expect(isStopped).toBe(true);
});
