import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { describe, expect, it, vi } from "vitest";
import type { EnginePackage } from "../../../adapters/local-models/engine-package.ts";
import { neuralSpeech } from "../../../adapters/local-models/neural-speech.ts";
import { neuralTranscription } from "../../../adapters/local-models/neural-transcription.ts";
import type { SpeechProcesses, SpeechProcessesOptions } from "../../../adapters/local-models/speech-processes.ts";
import type { Speech } from "../../../src/ports/speech.ts";
import type { TranscriptionEvent, TranscriptionSession } from "../../../src/ports/transcription.ts";
import { ENGINE_BUILDS, missingEngine, testProcesses } from "../../support/neural.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { spokenTones, toneModels } from "../../support/tone-models.ts";

const NEVER_ABORTED = new AbortController().signal;
const VOICE = "pt-BR-50";
const LETTER_S = 0.12;
const RATE = 8_000;
const TIMEOUT_MS = 120_000;
/** Times between a death and the work that follows it, ms. */
const DELAYS_MS = [0, 1, 2, 4, 8, 16, 25];
/** Time for the last texts on a busy machine, ms. */
const CLOSE_MS = 60_000;

const [{ packages }] = ENGINE_BUILDS as [(typeof ENGINE_BUILDS)[number]];

describe.skipIf(missingEngine !== undefined)("the death of a speech process", { timeout: TIMEOUT_MS }, () => {
  const freshSpeech = (log?: SpeechProcessesOptions["log"]) => {
    const folder = toneModels();
    const processes = testProcesses({ packages: () => packages, log });
    return { folder, processes, speech: neuralSpeech({ folder, processes }) };
  };

  it("spares a text that is sent before the death is noticed", async () => {
    const { processes, speech } = freshSpeech();
    for (let round = 0; round < 5; round++) {
      await secondsOf(speech, "abc");
      killUnnoticed(processes);
      expect(await secondsOf(speech, "bcd")).toBeCloseTo(3 * LETTER_S, 2);
    }
  });

  it("spares a text that is sent up to 25 ms after it", async () => {
    const { processes, speech } = freshSpeech();
    for (const ms of DELAYS_MS) {
      await secondsOf(speech, "abc");
      kill(processes);
      await sleep(ms);
      expect(await secondsOf(speech, "bcd"), `${ms} ms`).toBeCloseTo(3 * LETTER_S, 2);
    }
  });

  it("spares a text that was sent up to 25 ms before it", async () => {
    const { processes, speech } = freshSpeech();
    for (const ms of DELAYS_MS) {
      await secondsOf(speech, "abc");
      const seconds = secondsOf(speech, "bcd");
      await sleep(ms);
      kill(processes);
      expect(await seconds, `${ms} ms`).toBeCloseTo(3 * LETTER_S, 2);
    }
  });

  it("spares a transcript whose audio is sent before the death is noticed", async () => {
    const { folder, processes } = freshSpeech();
    for (let round = 0; round < 5; round++)
      await expectWholeTranscript(processes, folder, () => killUnnoticed(processes));
  });

  it("spares a transcript whose audio is sent up to 25 ms after it", async () => {
    const { folder, processes } = freshSpeech();
    for (const ms of DELAYS_MS)
      await expectWholeTranscript(processes, folder, async () => {
        kill(processes);
        await sleep(ms);
      });
  });

  it("ends a text that has lost two processes, and the log reports it", async () => {
    const { lines, log } = recordLog();
    const { processes, speech } = freshSpeech(log);
    const seconds = secondsOf(speech, "a ".repeat(50));
    await vi.waitFor(() => expect(processes.pids).toHaveLength(1));
    const [first] = processes.pids;
    kill(processes);
    const successors = () => processes.pids.filter((pid) => pid !== first);
    await vi.waitFor(() => expect(successors()).toHaveLength(1), { timeout: 30_000, interval: 5 });
    kill(processes);
    await expect(seconds).rejects.toThrow("the speech process ended (SIGKILL)");
    expect(lines).toEqual([
      "the speech process ended (SIGKILL); another one repeats what it had not finished",
      "the speech process ended (SIGKILL); what it had not finished fails",
    ]);
    expect(await secondsOf(speech, "bcd")).toBeCloseTo(3 * LETTER_S, 2);
  });

  it("ends a text whose model has caused it, and the log reports it", async () => {
    const { lines, log } = recordLog();
    const { folder, speech } = freshSpeech(log);
    await speech.voices();
    copyFileSync(
      join(folder, "sherpa-onnx-streaming-t-one-tones/model.onnx"),
      join(folder, "vits-tone-pt_BR-flauta-low/pt_BR-flauta-low.onnx"),
    );
    await expect(secondsOf(speech, "abc")).rejects.toThrow("the speech process ended (255)");
    expect(lines).toEqual([expect.stringMatching(/ended \(255\): .*; what it had not finished fails$/)]);
  });
});

describe("a speech process without its channel", { timeout: TIMEOUT_MS }, () => {
  it.each([
    ["exits", "", "ended (0)"],
    ["keeps running", 'process.removeAllListeners("disconnect");', "closed its channel"],
  ])("is replaced if it %s, and its text is spoken again", async (_, preparation, reason) => {
    const { lines, log } = recordLog();
    const engine = disconnectingEngine(preparation);
    const processes = testProcesses({ packages: () => [engine], log });
    const model = { kind: "vits", folder: "/models/tone", paths: {} } as const;
    const text = await processes.speak({ model, speaker: 0, speed: 1, text: "a" }, NEVER_ABORTED);
    expect(text.samples).toHaveLength(10);
    expect(lines).toEqual([`the speech process ${reason}; another one repeats what it had not finished`]);
  });
});

/** An engine that closes the channel of its first process and works in the next one. */
function disconnectingEngine(preparation: string): EnginePackage {
  const folder = temporaryFolder("engine");
  const [path, marker] = [join(folder, "engine.cjs"), join(folder, "disconnected")];
  const program = `
    const { existsSync, writeFileSync } = require("node:fs");
    const generate = () => {
      if (existsSync(MARKER)) return { samples: new Float32Array(10), sampleRate: 8_000 };
      writeFileSync(MARKER, "");
      ${preparation}
      process.disconnect();
      setInterval(() => {}, 1_000);
      return new Promise(() => {});
    };
    exports.createOfflineTts = () => ({ handle: 1, numSpeakers: 1, generate });`;
  writeFileSync(path, program.replaceAll("MARKER", JSON.stringify(marker)));
  return { name: "sherpa-onnx", path };
}

function recordLog() {
  const lines: string[] = [];
  const add = (_: object, message: string) => lines.push(message);
  return { lines, log: { info: add, warn: add } };
}

/** Transcribes a sentence in two halves, and expects all of its words, although a process dies in between. */
async function expectWholeTranscript(
  processes: SpeechProcesses,
  folder: string,
  killProcess: () => void | Promise<void>,
): Promise<void> {
  const options = { callId: "call_1", speaker: "callee", sampleRate: RATE } as const;
  const session = await neuralTranscription(processes, { folder, closeMs: CLOSE_MS }).open(options, NEVER_ABORTED);
  const { events, readEvents } = eventsOf(session);
  const samples = spokenTones("uma frase inteira", RATE);
  const half = samples.length >> 1;
  session.push(samples.subarray(0, half), 500);
  await vi.waitFor(() => expect(events).not.toEqual([]), 30_000);
  await killProcess();
  // In frames, as a call sends it.
  for (let at = half; at < samples.length; at += RATE / 50)
    session.push(samples.subarray(at, at + RATE / 50), 500 + (at * 1_000) / RATE);
  session.commit();
  await session.close();
  await readEvents;
  expect(events.filter(({ type }) => type === "error")).toEqual([]);
  expect(events.at(-1)).toMatchObject({ type: "final", text: "uma frase inteira", startMs: 500 });
}

function eventsOf(session: TranscriptionSession) {
  const events: TranscriptionEvent[] = [];
  const readEvents = (async () => {
    for await (const event of session.events) events.push(event);
  })();
  return { events, readEvents };
}

function kill({ pids }: SpeechProcesses): void {
  for (const pid of pids) process.kill(pid, "SIGKILL");
}

/** Kills the processes and blocks until they are dead, so that the event loop has not yet reported their ends. */
function killUnnoticed(processes: SpeechProcesses): void {
  const { pids } = processes;
  kill(processes);
  const end = Date.now() + 5_000;
  while (pids.some(isAlive) && Date.now() < end) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
}

/** False for a process that is a zombie until the event loop reports its end. */
function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

async function secondsOf(speech: Speech, text: string): Promise<number> {
  let seconds = 0;
  for await (const { samples, sampleRate } of speech.speak(text, VOICE, NEVER_ABORTED))
    seconds += samples.length / sampleRate;
  return seconds;
}
