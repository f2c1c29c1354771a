import process from "node:process";
import { setTimeout as pause } from "node:timers/promises";
import { embeddedWorkers } from "../../../adapters/defaults/worker-pool.ts";
import { neuralSpeech } from "../../../adapters/local-models/neural-speech.ts";
import { neuralTranscription } from "../../../adapters/local-models/neural-transcription.ts";
import type { SpeechProcesses } from "../../../adapters/local-models/speech-processes.ts";
import { embeddedSpeech } from "../../../adapters/speech/all-engines.ts";
import { samplesToMs } from "../../../src/audio/samples/pcm.ts";
import { tone } from "../../../src/audio/tones/tone.ts";
import type { Speech, TranscriptionSession } from "../../../src/index.ts";
import { atMost, inRounds, median, ms, type Row, row } from "../harness/benchmark.ts";
import type { Measure } from "../harness/programs.ts";
import { processorSeconds } from "../harness/resources.ts";
import { type Side, sentence, VOICE, withModels, withProcesses } from "./models.ts";

const MAX_MS = 2;
const SENTENCE_LENGTH = 60;
/** Telephone audio, Hz. */
const RATE = 8_000;
const FRAME_MS = 20;
/** Speech between two pauses, ms. */
const TURN_MS = 4_000;

/** Options of {@link measure}. */
export interface OverheadOptions extends Side {
  readonly rounds: number;
  /** Duration of a round's speech, s. */
  readonly seconds: number;
  /** Numbers of streams that are transcribed at once. */
  readonly streams: readonly number[];
}

/** Processor time of this process, which is the server, for a second of speech; that of the speech process does not count. */
export const measure: Measure<OverheadOptions> = (options) =>
  withModels(options.models, (folder) =>
    withProcesses(options, async (processes) => {
      const rows = await measureSpeaking(neuralSpeech({ folder, processes }), options);
      for (const streams of options.streams) rows.push(await measureTranscribing(folder, processes, streams, options));
      return rows;
    }),
  );

async function measureSpeaking(neural: Speech, { rounds, seconds }: OverheadOptions): Promise<Row[]> {
  const pool = embeddedWorkers();
  const flite = embeddedSpeech({ pool });
  let number = 0;
  const cost = async (speech: Speech): Promise<number> => {
    const before = processorSeconds(process.pid)!;
    let spokenMs = 0;
    while (spokenMs < seconds * 1_000)
      for await (const { samples, sampleRate } of speech.speak(
        sentence(number++, SENTENCE_LENGTH),
        VOICE,
        new AbortController().signal,
      ))
        spokenMs += samplesToMs(samples.length, sampleRate);
    return (processorSeconds(process.pid)! - before) / (spokenMs / 1e6);
  };
  try {
    const costs = await inRounds(rounds, { neural: () => cost(neural), flite: () => cost(flite) });
    const [neuralMs, fliteMs] = [median(costs.neural), median(costs.flite)];
    return [
      atMost("speaking, for a second of speech", neuralMs, MAX_MS, "ms", ms(neuralMs, 2)),
      row("flite in the server's own workers, for a second of speech", ms(fliteMs, 2)),
    ];
  } finally {
    await pool.close();
  }
}

async function measureTranscribing(
  folder: string,
  processes: SpeechProcesses,
  streams: number,
  { rounds, seconds }: OverheadOptions,
): Promise<Row> {
  const transcription = neuralTranscription(processes, { folder });
  const open = () =>
    transcription.open({ callId: "call_1", speaker: "callee", sampleRate: RATE }, new AbortController().signal);
  let texts = 0;
  const cost = async (sessions: readonly TranscriptionSession[]): Promise<number> => {
    const eventReads = sessions.map(async ({ events }) => {
      for await (const event of events) if (event.type === "final") texts++;
    });
    const before = processorSeconds(process.pid)!;
    await speakInto(sessions, seconds * 1_000);
    await Promise.all(sessions.map((session) => session.close()));
    await Promise.all(eventReads);
    return (processorSeconds(process.pid)! - before) / (streams * seconds * 1e-3);
  };
  const costs = await inRounds(rounds, {
    with: async () => cost(await Promise.all(Array.from({ length: streams }, open))),
    without: () => cost(Array.from({ length: streams }, idleSession)),
  });
  if (texts === 0) throw new Error("no speech was transcribed");
  const addedCosts = costs.with.map((value, round) => value - costs.without[round]!);
  const value = median(addedCosts);
  const title = streams === 1 ? "one stream" : `${streams} streams at once`;
  const measured = `${ms(value, 2)} (${ms(median(costs.with), 2)} less ${ms(median(costs.without), 2)} without)`;
  return atMost(`transcribing ${title}, for a second of speech`, value, MAX_MS, "ms", measured);
}

/** Speaks into sessions at the pace of calls that began at different moments, with a pause after each turn. */
async function speakInto(sessions: readonly TranscriptionSession[], lengthMs: number): Promise<void> {
  const voice = tone(700, TURN_MS, RATE, 8_000);
  const frame = (FRAME_MS * RATE) / 1_000;
  const timers: ReturnType<typeof setInterval>[] = [];
  for (const session of sessions) {
    const startedAt = performance.now();
    let atMs = 0;
    const pushDue = (): void => {
      for (; atMs <= performance.now() - startedAt; atMs += FRAME_MS) {
        const at = ((atMs % TURN_MS) * RATE) / 1_000;
        session.push(voice.subarray(at, at + frame), atMs);
        if ((atMs + FRAME_MS) % TURN_MS === 0) session.commit();
      }
    };
    timers.push(setInterval(pushDue, FRAME_MS));
    await pause(1);
  }
  await pause(lengthMs);
  for (const timer of timers) clearInterval(timer);
}

/** A session that drops everything. */
function idleSession(): TranscriptionSession {
  return { push() {}, commit() {}, events: (async function* () {})(), close: async () => {} };
}
