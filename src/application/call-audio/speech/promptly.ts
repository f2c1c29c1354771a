import type { Timers } from "../../../base/timers.ts";

/** Time limit of the next item. */
export interface Promptness {
  readonly system: Timers;
  readonly ms: number;
  /** Creates the error for a late item. */
  readonly late: () => Error;
  /** Ends everything, with its reason. */
  readonly signal: AbortSignal;
}

/**
 * The items of a source within a time limit: without a first item in time it is aborted and opened once more; then, and
 * after any later item that is late, this throws.
 * @param open starts the work, which runs until its signal is aborted
 */
export async function* promptly<T>(
  open: (signal: AbortSignal) => AsyncIterable<T>,
  { system, ms, late, signal }: Promptness,
): AsyncGenerator<T, void> {
  for (let attempts = 1; ; attempts++) {
    const attempt = new AbortController();
    let hasBegun = false;
    const abort = () => attempt.abort(late());
    let cancel = system.after(ms, abort);
    try {
      for await (const item of open(AbortSignal.any([signal, attempt.signal]))) {
        cancel();
        hasBegun = true;
        yield item;
        cancel = system.after(ms, abort);
      }
      return;
    } catch (error) {
      signal.throwIfAborted();
      if (!attempt.signal.aborted) throw error;
      if (hasBegun || attempts > 1) throw attempt.signal.reason;
    } finally {
      cancel();
      attempt.abort(late());
    }
  }
}
