import { createRingport } from "ringport";
import { describe, expect, test } from "vitest";
import { assertDistinctVoices, joinSpeech } from "../../../adapters/speech/joined-speech.ts";
import { NothingToSpeak, type Speech, SpeechFailed, type Voice, VoiceUnavailable } from "../../../src/ports/speech.ts";
import { realSystem } from "../../../src/ports/system.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const neverAborted = new AbortController().signal;

/** An engine whose samples all have the same value. */
class ScriptedSpeech implements Speech {
  readonly texts: string[] = [];
  readonly atOnce: Readonly<Record<string, number>>;
  readonly sliceLength: number | undefined;
  isClosed = false;
  readonly #voices: readonly Voice[];
  readonly #value: number;

  constructor(engine: string, value: number, ids: readonly string[], sliceLength?: number) {
    this.#voices = ids.map((id) => ({ id, language: id.slice(0, 5), engine, name: id, quality: "natural" }));
    this.#value = value;
    this.atOnce = { [engine]: value };
    this.sliceLength = sliceLength;
  }

  async voices() {
    return this.#voices;
  }

  async voice(voiceId: string) {
    const voice = this.#voices.find(({ id }) => id === voiceId);
    if (voice) return voice;
    throw new VoiceUnavailable(`voice ${voiceId} is missing`);
  }

  async *speak(text: string) {
    this.texts.push(text);
    if (text === "fail") throw new Error("out of memory");
    yield { sampleRate: 8_000, samples: new Int16Array(80).fill(text === "silence" ? 0 : this.#value) };
  }

  async close() {
    this.isClosed = true;
  }
}

const engines = () => ({
  low: new ScriptedSpeech("low", 1_000, ["en-US-1", "de-DE-1"], Infinity),
  high: new ScriptedSpeech("high", 2_000, ["en-US-10", "en-US-2"]),
});

async function firstSample(speech: Speech, text: string, voiceId: string): Promise<number | undefined> {
  let first: number | undefined;
  for await (const { samples } of speech.speak(text, voiceId, neverAborted)) first ??= samples[0];
  return first;
}

describe("joined speech", () => {
  test("warms up every engine, one at a time, and reports a failed one", async () => {
    const { low, high } = engines();
    const steps: string[] = [];
    const warmUp = (name: string, isBroken: boolean) => async (): Promise<void> => {
      steps.push(`${name} begins`);
      await Promise.resolve();
      steps.push(`${name} ends`);
      if (isBroken) throw new Error(`${name} is broken`);
    };
    const speech = joinSpeech([
      Object.assign(low, { warmUp: warmUp("low", true) }),
      Object.assign(high, { warmUp: warmUp("high", false) }),
    ]);
    await expect(speech.warmUp?.()).rejects.toThrow("low is broken");
    expect(steps).toEqual(["low begins", "low ends", "high begins", "high ends"]);
  });

  test("lists all engines' voices by id", async () => {
    const { low, high } = engines();
    const voices = await joinSpeech([low, high]).voices();
    expect(voices.map(({ id, engine }) => [id, engine])).toEqual([
      ["de-DE-1", "low"],
      ["en-US-1", "low"],
      ["en-US-2", "high"],
      ["en-US-10", "high"],
    ]);
  });

  test("speaks each voice with its own engine, and each text once", async () => {
    const { low, high } = engines();
    const speech = joinSpeech([low, high]);
    expect(await firstSample(speech, "Hello", "en-US-1")).toBe(1_000);
    expect(await firstSample(speech, "Hello", "en-US-2")).toBe(2_000);
    expect(await firstSample(speech, "Hello", "en-US-2")).toBe(2_000);
    expect([low.texts, high.texts]).toEqual([["Hello"], ["Hello"]]);
  });

  test("keeps each engine's limits and slice length", async () => {
    const { low, high } = engines();
    const { atOnce, sliceLength, ...speech } = joinSpeech([low, high]);
    expect(atOnce).toEqual({ low: 1_000, high: 2_000 });
    const lengthFor = async (id: string) => typeof sliceLength === "function" && sliceLength(await speech.voice(id));
    expect(await lengthFor("en-US-1")).toBe(Infinity);
    expect(await lengthFor("en-US-2")).toBeUndefined();
  });

  test("refuses a voice that no engine has, naming working ones", async () => {
    const { low, high } = engines();
    const speech = joinSpeech([low, high]);
    await expect(speech.voice("de-DE-2")).rejects.toThrow(
      "voice de-DE-2 is not available; to fix it, choose a voice for de-DE: de-DE-1",
    );
    await expect(firstSample(speech, "Olá", "pt-BR-1")).rejects.toThrow(VoiceUnavailable);
  });

  test("reports engines' errors and silence as SpeechFailed", async () => {
    const speech = joinSpeech([engines().low]);
    const failure = firstSample(speech, "fail", "en-US-1");
    await expect(failure).rejects.toThrow(SpeechFailed);
    await expect(failure).rejects.toThrow("out of memory");
    await expect(firstSample(speech, "silence", "en-US-1")).rejects.toThrow(NothingToSpeak);
  });

  test("closes every engine and speaks no more", async () => {
    const { low, high } = engines();
    const speech = joinSpeech([low, high]);
    await speech.close();
    expect([low.isClosed, high.isClosed]).toEqual([true, true]);
    await expect(firstSample(speech, "Hello", "en-US-1")).rejects.toThrow("the speech is closed");
  });
});

describe("assertDistinctVoices", () => {
  const duplicateMessage =
    'voice en-US-2 is listed twice, by the speech engines "high" and "low": give each voice its own id';

  test("refuses a voice id that two engines have", async () => {
    const engines = [new ScriptedSpeech("high", 1, ["en-US-2"]), new ScriptedSpeech("low", 2, ["en-US-1", "en-US-2"])];
    await expect(assertDistinctVoices(engines, realSystem)).rejects.toThrow(duplicateMessage);
  });

  test("refuses a voice id listed twice", async () => {
    const engine = new ScriptedSpeech("high", 1, ["en-US-2", "en-US-2"]);
    await expect(assertDistinctVoices([engine], realSystem)).rejects.toThrow("voice en-US-2 is listed twice");
  });

  test("ignores an engine without a voice list", async () => {
    const { low, high } = engines();
    low.voices = async () => Promise.reject(new Error("not reachable"));
    await expect(assertDistinctVoices([low, high], realSystem)).resolves.toBeUndefined();
  });
});

describe("the option speech", () => {
  const ringport = (speech: Speech | readonly Speech[]) =>
    createRingport({ data: temporaryFolder("joined-speech"), publicUrl: "http://ringport.test", speech });

  test("accepts several engines with all their voices", async () => {
    const { low, high } = engines();
    const server = ringport([low, high]);
    try {
      expect((await server.voices()).map(({ id }) => id)).toEqual(["de-DE-1", "en-US-1", "en-US-2", "en-US-10"]);
      for (const id of ["en-US-1", "en-US-2"]) await server.voiceSample(id);
      expect([low.texts.length, high.texts.length]).toEqual([1, 1]);
    } finally {
      await server.stop({ drainMs: 0 });
    }
    expect([low.isClosed, high.isClosed]).toEqual([true, true]);
  });

  test("caches the texts of a single engine", async () => {
    const { low } = engines();
    const server = ringport(low);
    try {
      const samples = await Promise.all(["de-DE-1", "de-DE-1"].map((id) => server.voiceSample(id)));
      expect(samples[0]).toEqual(samples[1]);
      expect(low.texts).toHaveLength(1);
    } finally {
      await server.stop({ drainMs: 0 });
    }
  });

  test("refuses to start with two engines that share a voice id", async () => {
    const { low } = engines();
    const server = ringport([low, new ScriptedSpeech("high", 1, ["en-US-1"])]);
    await expect(server.start()).rejects.toThrow("voice en-US-1 is listed twice");
    await server.stop();
  });
});
