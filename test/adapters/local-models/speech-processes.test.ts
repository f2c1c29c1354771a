import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import process from "node:process";
import { describe, expect, it, vi } from "vitest";
import { DEFAULT_DATA } from "../../../adapters/defaults/data-folder.ts";
import { type EnginePackage, enginePackages } from "../../../adapters/local-models/engine-package.ts";
import { fixOf } from "../../../adapters/local-models/fixable-fault.ts";
import { naturalRemedy, neuralSpeech } from "../../../adapters/local-models/neural-speech.ts";
import { neuralTranscription } from "../../../adapters/local-models/neural-transcription.ts";
import type { SpeechProcesses, SpeechProcessesOptions } from "../../../adapters/local-models/speech-processes.ts";
import type { VoiceId } from "../../../adapters/speech/parse-voice-id.ts";
import { concatPcm } from "../../../src/audio/samples/pcm.ts";
import type { Speech } from "../../../src/ports/speech.ts";
import type { TranscriptionEvent } from "../../../src/ports/transcription.ts";
import { ENGINE_BUILDS, missingEngine, testProcesses } from "../../support/neural.ts";
import { spokenTones, toneModels } from "../../support/tone-models.ts";

const NEVER_ABORTED = new AbortController().signal;
const VOICE = "pt-BR-50";
const LETTER_S = 0.12;
const RATE = 22_050;

describe.skipIf(missingEngine !== undefined).each(ENGINE_BUILDS)("speech processes ($title)", ({ packages }) => {
  const freshSpeech = (options: Pick<SpeechProcessesOptions, "maxTexts" | "log"> = {}) => {
    const folder = toneModels();
    const processes = testProcesses({ packages: () => packages, ...options });
    return { folder, processes, speech: neuralSpeech({ folder, processes }) };
  };

  it("the first one starts with the first text", async () => {
    const { processes, speech } = freshSpeech();
    expect((await speech.voices()).map(({ id }) => id)).toEqual(["en-US-50", "en-US-51", VOICE]);
    expect(processes.count).toBe(0);
    expect(await secondsOf(speech, "ola")).toBeCloseTo(3 * LETTER_S, 2);
    expect(processes.count).toBe(1);
  });

  it("a text survives a kill -9 before its process is ready", async () => {
    const { processes, speech } = freshSpeech();
    const seconds = secondsOf(speech, "ola");
    await vi.waitFor(() => expect(processes.pids).toHaveLength(1));
    kill(processes);
    expect(await seconds).toBeCloseTo(3 * LETTER_S, 2);
  });

  it("texts survive a kill -9 while they are being spoken", async () => {
    const { processes, speech } = freshSpeech();
    await secondsOf(speech, "a");
    const texts = ["primeira frase", "segunda frase", "terceira frase"];
    const results = Promise.all(texts.map((text) => secondsOf(speech, text)));
    kill(processes);
    expect(await results).toEqual(texts.map((text) => expect.closeTo(text.length * LETTER_S, 2)));
  });

  it("the next text works after a kill -9 between two texts", async () => {
    const { processes, speech } = freshSpeech();
    await secondsOf(speech, "a");
    kill(processes);
    expect(await secondsOf(speech, "bc")).toBeCloseTo(2 * LETTER_S, 2);
  });

  it("the log has a warning for a kill -9, and none for a planned replacement", async () => {
    const lines: string[] = [];
    const log = {
      info: (_: object, message: string) => lines.push(`info: ${message}`),
      warn: (_: object, message: string) => lines.push(`warn: ${message}`),
    };
    const { processes, speech } = freshSpeech({ maxTexts: 4, log });
    await secondsOf(speech, "a");
    const texts = Promise.all(["um", "dois"].map((text) => secondsOf(speech, text)));
    kill(processes);
    await texts;
    kill(processes);
    await vi.waitFor(() => expect(processes.count).toBe(0));
    for (let i = 0; i < 4; i++) await secondsOf(speech, "abc");
    processes.close();
    expect(lines).toEqual([
      "warn: the speech process ended (SIGKILL); another one repeats what it had not finished",
      "warn: the speech process ended (SIGKILL); another one starts with the next text",
      "info: the speech process was replaced",
    ]);
  });

  it("a transcript survives a kill -9 in the middle of a turn", async () => {
    const { folder, processes } = freshSpeech();
    const session = await neuralTranscription(processes, { folder }).open(
      { callId: "call_1", speaker: "callee", sampleRate: 8_000 },
      NEVER_ABORTED,
    );
    const samples = spokenTones("uma frase inteira", 8_000);
    const half = samples.length >> 1;
    const events: TranscriptionEvent[] = [];
    const readEvents = (async () => {
      for await (const event of session.events) events.push(event);
    })();
    session.push(samples.subarray(0, half), 500);
    await vi.waitFor(() => expect(events).not.toEqual([]), 30_000);
    kill(processes);
    session.push(samples.subarray(half), 500 + (half / 8_000) * 1_000);
    session.commit();
    await vi.waitFor(() => expect(events.at(-1)).toMatchObject({ type: "final" }), 30_000);
    expect(events.at(-1)).toMatchObject({ text: "uma frase inteira", startMs: 500 });
    expect(events.filter(({ type }) => type === "error")).toEqual([]);
    await session.close();
    await readEvents;
  });

  it("a process is replaced after its last text, and no text is lost", async () => {
    const { processes, speech } = freshSpeech({ maxTexts: 3 });
    const pids = new Set<number>();
    for (let i = 0; i < 8; i++) {
      expect(await secondsOf(speech, "abc")).toBeCloseTo(3 * LETTER_S, 2);
      for (const pid of processes.pids) pids.add(pid);
    }
    expect(pids.size).toBeGreaterThanOrEqual(2);
    expect(processes.count).toBeLessThanOrEqual(1);
  });

  it("a cancelled text ends at once, and the next one works", async () => {
    const { speech } = freshSpeech();
    const abort = new AbortController();
    const cancelledSpeech = secondsOf(speech, "a ".repeat(50), abort.signal);
    abort.abort(new Error("hung up"));
    await expect(cancelledSpeech).rejects.toThrow("hung up");
    expect(await secondsOf(speech, "abc")).toBeCloseTo(3 * LETTER_S, 2);
  });

  it("a long text arrives in pieces of at most 120 characters", async () => {
    const { speech } = freshSpeech();
    const sentence = "esta frase tem umas quarenta letras ou mais.";
    const pieces: number[] = [];
    for await (const { samples, sampleRate } of speech.speak(`${sentence} `.repeat(68).trim(), VOICE, NEVER_ABORTED))
      pieces.push(samples.length / sampleRate);
    expect(Math.max(...pieces)).toBeLessThanOrEqual(120 * LETTER_S);
    expect(sum(pieces)).toBeGreaterThan(67 * sentence.length * LETTER_S);
  });

  it("an invalid model fails with the engine's error and spares other texts", async () => {
    const { folder, speech } = freshSpeech();
    await speech.voices();
    // The listed voice is now a recogniser, for which the native engine ends its process.
    copyFileSync(
      join(folder, "sherpa-onnx-streaming-t-one-tones/model.onnx"),
      join(folder, "vits-tone-en_US-duo-low/en_US-duo-low.onnx"),
    );
    const faultySpeech = secondsOf(speech, "abc", NEVER_ABORTED, "en-US-50");
    const healthySpeech = Promise.all(["um", "dois", "tres"].map((text) => secondsOf(speech, text)));
    await expect(faultySpeech).rejects.toThrow(
      /the speech process ended \(255\): '\w+' does not exist in the metadata/,
    );
    expect(await healthySpeech).toEqual([2, 4, 4].map((letters) => expect.closeTo(letters * LETTER_S, 2)));
  });

  it("a voice disappears with its model folder, and after a restart the refusal names the fix", async () => {
    const { folder, processes, speech: earlierSpeech } = freshSpeech();
    await earlierSpeech.voices();
    const speech = neuralSpeech({ folder, processes });
    rmSync(join(folder, "vits-tone-pt_BR-flauta-low"), { recursive: true });
    expect((await speech.voices()).map(({ id }) => id)).toEqual(["en-US-50", "en-US-51"]);
    await expect(secondsOf(speech, "abc")).rejects.toMatchObject({
      remedy: expect.stringMatching(
        /^put the folder vits-tone-pt_BR-flauta-low back into the model folder.* run: ringport models add --from FILE$/,
      ),
    });
  });

  it("a voice without its folder fails, spares others, and works again once it is back", async () => {
    const { folder, speech } = freshSpeech();
    const [model, movedModel] = [join(folder, "vits-tone-pt_BR-flauta-low"), join(folder, ".elsewhere")];
    await speech.voices();
    renameSync(model, movedModel);
    const missingFolder = `the model of voice ${VOICE} cannot be used: vits-tone-pt_BR-flauta-low is missing or damaged in the folder ${basename(folder)}`;
    await expect(secondsOf(speech, "abc")).rejects.toThrow(missingFolder);
    await expect(secondsOf(speech, "abc")).rejects.toThrow(missingFolder);
    expect(await secondsOf(speech, "abc", NEVER_ABORTED, "en-US-50")).toBeCloseTo(3 * LETTER_S, 2);
    renameSync(movedModel, model);
    await vi.waitFor(async () => expect(await secondsOf(speech, "abc")).toBeCloseTo(3 * LETTER_S, 2), 20_000);
  });

  it("a model that ended its process is loaded again once its file is complete", async () => {
    const { folder, speech } = freshSpeech();
    const file = join(folder, "vits-tone-en_US-duo-low/en_US-duo-low.onnx");
    const originalFile = readFileSync(file);
    await speech.voices();
    // Replaces the file of the listed voice.
    writeFileSync(file, readFileSync(join(folder, "sherpa-onnx-streaming-t-one-tones/model.onnx")));
    await expect(secondsOf(speech, "abc", NEVER_ABORTED, "en-US-50")).rejects.toThrow();
    await expect(secondsOf(speech, "abc", NEVER_ABORTED, "en-US-50")).rejects.toThrow();
    writeFileSync(file, originalFile);
    await vi.waitFor(
      async () => expect(await secondsOf(speech, "abc", NEVER_ABORTED, "en-US-50")).toBeCloseTo(3 * LETTER_S, 2),
      20_000,
    );
    expect(await secondsOf(speech, "abc")).toBeCloseTo(3 * LETTER_S, 2);
  });
});

it.each([
  [["sherpa-onnx-node"], "pt-BR", 21, "ringport models add vits-piper-pt_BR-cadu-medium", true],
  [["sherpa-onnx-node"], "pt-BR", 1, "ringport models add pt-BR", false],
  [
    [],
    "es-MX",
    20,
    /^npm install --prefix \.\/data sherpa-onnx-node .*, then ringport models add vits-piper-es_MX-claude-high$/,
    true,
  ],
  [["sherpa-onnx-node"], "fr-FR", 1, undefined, undefined],
])("with %j a missing voice %s-%i is added by %s", (names, tag, number, commands, isExact) => {
  const packages = () => names.map((name) => ({ name, path: "" })) as EnginePackage[];
  const remedy = naturalRemedy(testProcesses({ packages }), { tag, number } as VoiceId);
  if (commands === undefined) expect(remedy).toBeUndefined();
  else if (typeof commands === "string") expect(remedy).toEqual({ commands, isExact });
  else expect(remedy).toEqual({ commands: expect.stringMatching(commands), isExact });
});

it("without the engine no voice is listed, and transcription names the fix", async () => {
  const folder = toneModels();
  const processes = testProcesses({ packages: () => [] });
  expect(await neuralSpeech({ folder, processes }).voices()).toEqual([]);
  const options = { callId: "call_1", speaker: "callee", sampleRate: 8_000 } as const;
  await expect(neuralTranscription(processes, { folder }).open(options, NEVER_ABORTED)).rejects.toThrow(
    "npm install --prefix ./data sherpa-onnx-node",
  );
  expect(processes.count).toBe(0);
});

it("a text fails with the fix if the engine cannot be loaded", async () => {
  const processes = testProcesses({ packages: () => [{ name: "sherpa-onnx", path: "/nowhere/sherpa-onnx.js" }] });
  const speech = neuralSpeech({ folder: toneModels(), processes });
  const [voice] = await speech.voices();
  const spoken = Array.fromAsync(speech.speak("One.", voice!.id, new AbortController().signal));
  const fault = await spoken.catch((error: unknown) => error);
  expect(fault).toMatchObject({ message: expect.stringMatching(/^the speech process cannot load its engine: /) });
  expect(fixOf(fault)).toMatch(/^run: npm install/);
  processes.close();
}, 60_000);

it.each(["node_modules", join(DEFAULT_DATA, "node_modules")])("the engine is found in %s of a folder", (place) => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "engine-")));
  try {
    const packageFolder = join(folder, place, "sherpa-onnx-node");
    mkdirSync(packageFolder, { recursive: true });
    writeFileSync(join(packageFolder, "index.js"), "");
    expect(enginePackages(folder)[0]).toEqual({ name: "sherpa-onnx-node", path: join(packageFolder, "index.js") });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

function kill({ pids }: SpeechProcesses): void {
  for (const pid of pids) process.kill(pid, "SIGKILL");
}

/** Length of a spoken text, s. */
async function secondsOf(speech: Speech, text: string, signal = NEVER_ABORTED, voiceId = VOICE): Promise<number> {
  const pieces: Int16Array[] = [];
  let rate = RATE;
  for await (const { samples, sampleRate } of speech.speak(text, voiceId, signal)) {
    pieces.push(samples);
    rate = sampleRate;
  }
  return concatPcm(pieces).length / rate;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
