import type { SpeechWorkers } from "../../adapters/speech/speech-jobs.ts";

/** A speech request to workers. */
export interface SpeechJob {
  readonly text: string;
  readonly voice: string;
}

/** Workers that record their speech requests. */
export function countedWorkers(inner: SpeechWorkers): { readonly workers: SpeechWorkers; readonly jobs: SpeechJob[] } {
  const jobs: SpeechJob[] = [];
  const workers: SpeechWorkers = {
    run(job, options) {
      if ("text" in job) jobs.push({ text: job.text, voice: job.voice });
      return inner.run(job, options);
    },
  };
  return { workers, jobs };
}
