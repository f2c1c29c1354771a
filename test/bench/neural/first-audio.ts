import { setTimeout as pause } from "node:timers/promises";
import { embeddedWorkers } from "../../../adapters/defaults/worker-pool.ts";
import { neuralSpeech } from "../../../adapters/local-models/neural-speech.ts";
import { embeddedSpeech } from "../../../adapters/speech/all-engines.ts";
import type { Speech } from "../../../src/index.ts";
import { inRounds, median, ms, row } from "../harness/benchmark.ts";
import type { Measure } from "../harness/programs.ts";
import { type Side, sentence, VOICE, withModels, withProcesses } from "./models.ts";

const MAX_EXTRA_MS = 60;
const LENGTH = 60;
/** A voice of eSpeak NG, which speaks all languages without models. */
const ESPEAK_VOICE = "pt-BR-9";
const FLITE_VOICE = "en-US-7";

/** Options of {@link measure}. */
export interface FirstAudioOptions extends Side {
  readonly rounds: number;
}

/** Time from a text that has never been spoken before to its first samples, with the engines loaded. */
export const measure: Measure<FirstAudioOptions> = (options) =>
  withModels(options.models, (folder) =>
    withProcesses(options, async (processes) => {
      const pool = embeddedWorkers();
      const embeddedEngine = embeddedSpeech({ pool });
      const neuralEngine = neuralSpeech({ folder, processes });
      let number = 0;
      const timeMs = async (speech: Speech, voiceId: string): Promise<number> => {
        await pause(20);
        const text = `${sentence(number++, LENGTH)} ${sentence(number++, LENGTH)}`;
        const startedAt = performance.now();
        for await (const _ of speech.speak(text, voiceId, new AbortController().signal)) break;
        return performance.now() - startedAt;
      };
      try {
        const sides = {
          neural: () => timeMs(neuralEngine, VOICE),
          flite: () => timeMs(embeddedEngine, FLITE_VOICE),
          espeak: () => timeMs(embeddedEngine, ESPEAK_VOICE),
        };
        const times = await inRounds(options.rounds, sides, { warmUp: 5 });
        const [neuralMs, flite, espeak] = [median(times.neural), median(times.flite), median(times.espeak)];
        const extraMs = neuralMs - Math.min(flite, espeak);
        const measured = `${ms(neuralMs)} (flite ${ms(flite)}, eSpeak NG ${ms(espeak)})`;
        const target = options.models === "tones" ? `≤ ${MAX_EXTRA_MS} ms more than the faster engine` : undefined;
        return [row("time to the first audio", measured, target, extraMs <= MAX_EXTRA_MS)];
      } finally {
        await pool.close();
      }
    }),
  );
