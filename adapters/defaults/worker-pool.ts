import type { AudioJobs } from "../audio/audio-jobs.ts";
import type { BodyJobs } from "../body-parsing/parse-job.ts";
import type { SpeechJobs } from "../speech/speech-jobs.ts";
import type { AudioFileJobs } from "../storage/sqlite/audio-files.ts";
import type { CheckpointJobs } from "../storage/sqlite/wal-checkpoints.ts";
import { WorkerPool, type WorkerPoolOptions } from "../workers/pool.ts";

/** The jobs that the embedded adapters run on worker threads. */
export type Jobs = SpeechJobs & AudioJobs & BodyJobs & AudioFileJobs & CheckpointJobs;

/** Kinds of jobs for uploads, which may take seconds: they leave one worker free for the speech of answered calls. */
export const UPLOAD_KINDS: ReadonlySet<string> = new Set<keyof Jobs>(["decode", "inspect", "parse-body"]);

/**
 * The file that a worker runs. In the source tree, `worker.ts` is next to this file; the build bundles this file into a
 * chunk directly under `dist/`, next to the entry `worker.js`, so this module's extension decides.
 */
export const workerEntry: URL = new URL(
  new URL(import.meta.url).pathname.endsWith(".ts") ? "./worker.ts" : "./worker.js",
  import.meta.url,
);

/** Worker threads for the jobs of the embedded adapters. */
export type EmbeddedWorkers = WorkerPool<Jobs>;

/** A pool of worker threads for the jobs of the embedded adapters. None starts before the first job. */
export function embeddedWorkers(options: Pick<WorkerPoolOptions, "size" | "maxWaiting"> = {}): EmbeddedWorkers {
  return new WorkerPool<Jobs>({ ...options, entry: workerEntry, leaveOneFree: UPLOAD_KINDS });
}
