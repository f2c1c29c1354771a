import type { AudioJobs } from "../audio/audio-jobs.ts";
import type { BodyJobs } from "../bodies/parse-job.ts";
import type { SpeechJobs } from "../speech/speech-jobs.ts";
import type { AudioFileJobs } from "../storage/audio-file-job.ts";

/**
 * Every job that a worker knows, by kind: what it is given (`input`) and what it hands back, piece by piece. Large ones
 * are `ArrayBuffer`s: Deno looks at each element of a typed array in a message, 250 MB of work for 10 MB.
 */
export type Jobs = SpeechJobs & AudioJobs & BodyJobs & AudioFileJobs;

export type JobKind = keyof Jobs;

/** A job as it is asked of the pool: its kind, and its input beside it. */
export type Job<K extends JobKind> = { readonly kind: K } & Jobs[K]["input"];

/** What a job may use while it runs. */
export interface JobContext<Piece> {
  /** Hands a piece to whoever waits; buffers named in `transfer` move instead of being copied. */
  emit(piece: Piece, transfer?: readonly ArrayBuffer[]): void;
  /** True once nobody waits any more: stop at the next chance. Cheap, so ask often. */
  cancelled(): boolean;
}

/** The code behind a kind. What it throws reaches whoever waits, by name and message. */
export type JobCode<K extends JobKind> = (
  input: Jobs[K]["input"],
  context: JobContext<Jobs[K]["piece"]>,
) => void | Promise<void>;

/** From the pool to a worker. */
export interface ToWorker {
  readonly id: number;
  readonly job: { readonly kind: string };
}

/** From a worker to the pool. `ready` comes once, when the worker's code has been loaded. */
export type FromWorker =
  | { readonly type: "ready" }
  | { readonly type: "piece"; readonly id: number; readonly piece: unknown }
  | { readonly type: "end"; readonly id: number }
  | { readonly type: "failed"; readonly id: number; readonly name: string; readonly message: string };

/** What a worker is started with: the cell where the pool writes the id of a job that nobody waits for any more. */
export interface WorkerStart {
  readonly cancelled: Int32Array<SharedArrayBuffer>;
}
