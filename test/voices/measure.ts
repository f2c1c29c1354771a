import { enginePackages } from "../../adapters/local-models/engine-package.ts";
import { neuralTranscription } from "../../adapters/local-models/neural-transcription.ts";
import { SpeechProcesses } from "../../adapters/local-models/speech-processes.ts";
import { errorText } from "../../src/base/error.ts";
import { transcribe } from "../support/neural.ts";
import type { Phone } from "./phone.ts";
import type { Trial } from "./trials.ts";
import { type WordErrors, wordErrors } from "./word-errors.ts";

/** Number of calls at once. They last as long as their sentences, and leave the machine idle in the meantime. */
export const LINES = 4;
/** Time for the last words of a sentence on a slow machine, ms. */
const TRANSCRIPT_MS = 60_000;

/** Result of a sentence in a voice. */
export interface Measurement {
  readonly trial: Trial;
  /** Undefined if there is a fault. */
  readonly errors?: WordErrors;
  /** Reason why the trial could not be spoken or transcribed. */
  readonly fault?: string;
}

/** Tools of {@link measure}. */
export interface MeasureTools {
  readonly phone: Pick<Phone, "hear">;
  /** The model folder. */
  readonly folder: string;
  readonly report: (line: string) => void;
}

/** Speaks every sentence of the trials, several at once, and reports each. A voice that fails is not tried again. */
export async function measure(trials: readonly Trial[], tools: MeasureTools): Promise<readonly Measurement[]> {
  const { phone, folder, report } = tools;
  const processes = new SpeechProcesses({ packages: () => enginePackages() });
  const work = trials.flatMap((trial) => trial.sentences.map((sentence) => ({ trial, sentence })));
  const measurements: Measurement[] = [];
  const failedTrials = new Set<Trial>();

  async function measureOne({ trial, sentence }: (typeof work)[number]): Promise<void> {
    if (failedTrials.has(trial)) return;
    const { voiceId, recogniser: model, language } = trial;
    try {
      const sound = await phone.hear(voiceId, sentence);
      const heard = await transcribe(
        neuralTranscription(processes, { folder, model, language, closeMs: TRANSCRIPT_MS }),
        sound,
      );
      const errors = wordErrors(sentence, heard);
      measurements.push({ trial, errors });
      reportOne(
        voiceId,
        errors.errors === 0
          ? "every word was understood"
          : `${errors.errors} of ${errors.words} words wrong: "${sentence}" was heard as "${heard}"`,
      );
    } catch (error) {
      failedTrials.add(trial);
      measurements.push({ trial, fault: errorText(error) });
      reportOne(voiceId, `failed: ${errorText(error)}`);
    }
  }

  function reportOne(voiceId: string, result: string): void {
    report(`${measurements.length}/${work.length}  ${voiceId}  ${result}`);
  }

  try {
    const queue = work.values();
    await Promise.all(
      Array.from({ length: LINES }, async () => {
        for (const item of queue) await measureOne(item);
      }),
    );
  } finally {
    processes.close();
  }
  return measurements;
}
