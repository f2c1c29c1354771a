import { CodedError } from "../../src/base/error.ts";

/**
 * The kinds of jobs of a pool: for each kind its input, and the pieces that it returns. Large pieces are
 * `ArrayBuffer`s: Deno visits each element of a typed array in a message, 250 MB of work for 10 MB.
 */
export type JobTable<Jobs> = { readonly [K in keyof Jobs]: { readonly input: object; readonly piece: unknown } };

/** A job for the pool: its kind and its input. */
export type Job<Jobs extends JobTable<Jobs>, K extends keyof Jobs = keyof Jobs> = {
  readonly kind: K;
} & Jobs[K]["input"];

/** Environment of a running job. */
interface JobContext<Piece> {
  /** Returns a piece to the caller; buffers named in `transfer` move instead of being copied. */
  emit(piece: Piece, transfer?: readonly ArrayBuffer[]): void;
  /** True once the caller has stopped waiting: the job should stop soon. Cheap, so call it often. */
  isCancelled(): boolean;
}

/** The code for one kind of job. An error that it throws reaches the caller with its name and message. */
export type JobCode<Jobs extends JobTable<Jobs>, K extends keyof Jobs = keyof Jobs> = (
  input: Jobs[K]["input"],
  context: JobContext<Jobs[K]["piece"]>,
) => void | Promise<void>;

/** The code for every kind of job. */
export type JobCodes<Jobs extends JobTable<Jobs>> = { readonly [K in keyof Jobs]: JobCode<Jobs, K> };

/** A message from the pool to a worker. */
export interface ToWorker {
  readonly id: number;
  readonly job: { readonly kind: string };
}

/** A message from a worker to the pool. `ready` is sent once, when the worker's code has loaded. */
export type FromWorker =
  | { readonly type: "ready" }
  | { readonly type: "piece"; readonly id: number; readonly piece: unknown }
  | { readonly type: "end"; readonly id: number }
  | { readonly type: "failed"; readonly id: number; readonly name: string; readonly message: string };

/** A worker's start data: the cell that the pool writes the id of a cancelled job to. */
export interface WorkerStart {
  readonly cancelledId: Int32Array<SharedArrayBuffer>;
}

/**
 * Reason why a job has no (further) result: its code threw (`failed`), it returned no piece in time (`timeout`), its
 * worker died (`crashed`), too many jobs were waiting (`overloaded`), or the pool is closed (`closed`).
 */
type PoolErrorKind = "failed" | "timeout" | "crashed" | "overloaded" | "closed";

/** A job of a worker pool has no result. */
export class PoolError extends CodedError {
  override readonly name = "PoolError";
  readonly code = "worker_job_failed";
  readonly kind: PoolErrorKind;
  /** Name of the error that the job's code threw, for `failed`. */
  readonly thrownName: string | undefined;

  constructor(kind: PoolErrorKind, message: string, thrownName?: string) {
    super(message);
    this.kind = kind;
    this.thrownName = thrownName;
  }
}
