/**
 * Why a job gave no (further) result: its own code threw (`failed`), it was silent for too long (`timeout`), its worker
 * died (`crashed`), too many jobs were waiting already (`overloaded`), or the pool has been closed (`closed`).
 */
export type PoolErrorKind = "failed" | "timeout" | "crashed" | "overloaded" | "closed";

/** Thrown to whoever waits for a job of a worker pool. */
export class PoolError extends Error {
  override readonly name = "PoolError";
  readonly kind: PoolErrorKind;
  /** For `failed`: the name of the error that the job's code threw. */
  readonly thrown: string | undefined;

  constructor(kind: PoolErrorKind, message: string, thrown?: string) {
    super(message);
    this.kind = kind;
    this.thrown = thrown;
  }
}
