import { neuralSpeech } from "../../../adapters/local-models/neural-speech.ts";
import { samplesToMs } from "../../../src/audio/samples/pcm.ts";
import type { Speech } from "../../../src/index.ts";
import { allOf, progress, row } from "../harness/benchmark.ts";
import type { Measure } from "../harness/programs.ts";
import { residentMiB } from "../harness/resources.ts";
import { type Side, sentence, VOICE, withModels, withProcesses } from "./models.ts";

/** Number of callers that wait for their sentence. */
const AT_ONCE = 4;
const MIN_LENGTH = 15;
const MAX_LENGTH = 110;
const SAMPLE_MS = 20;
/** Length of each character, ms. */
const CHARACTER_MS = { tones: 120, "full-size": (6 * 256 * 1_000) / 22_050 } as const;

/** Options of {@link measure}. */
export interface RecyclingOptions extends Side {
  readonly sentences: number;
  /** Memory that a process may take beyond its models; missing: the default. */
  readonly memoryMb?: number;
}

/** Memory of the speech processes during many sentences of all lengths, and how many of these arrive complete. */
export const measure: Measure<RecyclingOptions> = (options) => {
  const { models, sentences, memoryMb } = options;
  const limit = memoryMb ?? 1_024;
  const run = (folder: string) =>
    withProcesses(
      options,
      async (processes) => {
        const speech = neuralSpeech({ folder, processes });
        await spokenMs(speech, sentence(0, MIN_LENGTH));
        const startMiB = Math.max(...processes.pids.map(residentMiB));
        let highestMiB = 0;
        const pids = new Set<number>();
        const timer = setInterval(() => {
          for (const pid of processes.pids) {
            pids.add(pid);
            highestMiB = Math.max(highestMiB, residentMiB(pid));
          }
        }, SAMPLE_MS);
        let [next, wholeCount] = [0, 0];
        const speakInTurn = async (): Promise<void> => {
          while (next < sentences) {
            const number = next++;
            if (number % 500 === 0) progress(`${models}: sentence ${number} of ${sentences}`);
            const text = sentence(number, MIN_LENGTH + ((number * 37) % (MAX_LENGTH - MIN_LENGTH)));
            // A text is lost if the machine is too busy to speak it in time.
            const lengthMs = await spokenMs(speech, text).catch(() => 0);
            if (Math.abs(lengthMs - text.length * CHARACTER_MS[models]) < 1) wholeCount++;
          }
        };
        try {
          await Promise.all(Array.from({ length: AT_ONCE }, speakInTurn));
        } finally {
          clearInterval(timer);
        }
        const growth = Math.round(highestMiB - startMiB);
        const measured = `${growth} MiB (from ${Math.round(startMiB)} MiB to ${Math.round(highestMiB)} MiB)`;
        const target = memoryMb === undefined ? `≤ ${limit} MiB` : undefined;
        return [
          allOf(`sentences spoken whole, with a limit of ${limit} MiB`, wholeCount, sentences),
          row("growth of the largest speech process", measured, target, growth <= limit),
          row("speech processes, one after the other", String(pids.size)),
        ];
      },
      { memoryMb },
    );
  return withModels(models, run);
};

async function spokenMs(speech: Speech, text: string): Promise<number> {
  let lengthMs = 0;
  for await (const { samples, sampleRate } of speech.speak(text, VOICE, new AbortController().signal))
    lengthMs += samplesToMs(samples.length, sampleRate);
  return lengthMs;
}
