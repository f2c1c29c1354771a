import { CodedError } from "../../src/base/error.ts";

/**
 * Why a job has no (further) result: its code threw (`failed`), it returned no piece in time (`timeout`), its worker
 * died (`crashed`), too many jobs were waiting (`overloaded`), or the pool is closed (`closed`).
 */
export type PoolErrorKind = "failed" | "timeout" | "crashed" | "overloaded" | "closed";

/** A job of a worker pool has no result. */
export class PoolError extends CodedError {
  override readonly name = "PoolError";
  readonly code = "worker_job_failed";
  readonly kind: PoolErrorKind;
  /** For `failed`: the name of the error that the job's code threw. */
  readonly thrown: string | undefined;

  constructor(kind: PoolErrorKind, message: string, thrown?: string) {
    super(message);
    this.kind = kind;
    this.thrown = thrown;
  }
}
