import { WorkerPool, type WorkerPoolOptions } from "../workers/pool.ts";
import { type Jobs, UPLOAD_KINDS } from "./jobs.ts";

/**
 * The file that a worker runs. Source runs `worker.ts` beside this file; the build bundles this file into a chunk
 * directly under `dist/`, beside the entry `worker.js`, so the extension of this module decides.
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
