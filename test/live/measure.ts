import { enginePackages } from "../../adapters/neural/engine-package.ts";
import { neuralTranscription } from "../../adapters/neural/neural-transcription.ts";
import { SpeechProcesses } from "../../adapters/neural/speech-processes.ts";
import { errorText } from "../../src/base/error.ts";
import { transcribed } from "../support/neural.ts";
import type { Phone } from "./phone.ts";
import type { Trial } from "./trials.ts";
import { type WordErrors, wordErrors } from "./word-errors.ts";

/** Calls at once. They last as long as their sentences, and leave the machine idle in the meantime. */
export const LINES = 4;
/** Time for the last words of a sentence on a slow machine, ms. */
const TRANSCRIPT_MS = 60_000;

/** A sentence in a voice. */
export interface Measured {
  readonly trial: Trial;
  /** Undefined if there is a fault. */
  readonly errors?: WordErrors;
  /** Why it could not be spoken or transcribed. */
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
export async function measure(trials: readonly Trial[], tools: MeasureTools): Promise<readonly Measured[]> {
  const { phone, folder, report } = tools;
  const processes = new SpeechProcesses({ packages: () => enginePackages() });
  const work = trials.flatMap((trial) => trial.sentences.map((sentence) => ({ trial, sentence })));
  const measured: Measured[] = [];
  const failed = new Set<Trial>();

  async function measureOne({ trial, sentence }: (typeof work)[number]): Promise<void> {
    if (failed.has(trial)) return;
    const { voiceId, recogniser: model, language } = trial;
    try {
      const sound = await phone.hear(voiceId, sentence);
      const heard = await transcribed(
        neuralTranscription(processes, { folder, model, language, closeMs: TRANSCRIPT_MS }),
        sound,
      );
      const errors = wordErrors(sentence, heard);
      measured.push({ trial, errors });
      reportOne(
        voiceId,
        errors.errors === 0
          ? "every word was understood"
          : `${errors.errors} of ${errors.words} words wrong: "${sentence}" was heard as "${heard}"`,
      );
    } catch (error) {
      failed.add(trial);
      measured.push({ trial, fault: errorText(error) });
      reportOne(voiceId, `failed: ${errorText(error)}`);
    }
  }

  function reportOne(voiceId: string, result: string): void {
    report(`${measured.length}/${work.length}  ${voiceId}  ${result}`);
  }

  try {
    const next = work.values();
    await Promise.all(
      Array.from({ length: LINES }, async () => {
        for (const voice of next) await measureOne(voice);
      }),
    );
  } finally {
    processes.close();
  }
  return measured;
}
