import type { Timers } from "../../../base/timers.ts";

/** Time limit for the next item. */
export interface ItemTimeout {
  readonly system: Timers;
  readonly ms: number;
  /** Creates the error for a late item. */
  readonly lateError: () => Error;
  /** Ends everything, with its reason. */
  readonly signal: AbortSignal;
}

/**
 * Yields the items of a source, each within a time limit. If the first item is late, the source is aborted and opened
 * once more; if it is late again, or any later item is, this throws.
 * @param open starts the work, which runs until its signal is aborted
 */
export async function* promptly<T>(
  open: (signal: AbortSignal) => AsyncIterable<T>,
  { system, ms, lateError, signal }: ItemTimeout,
): AsyncGenerator<T, void> {
  for (let attempts = 1; ; attempts++) {
    const attemptScope = new AbortController();
    let hasBegun = false;
    const abort = () => attemptScope.abort(lateError());
    let cancel = system.after(ms, abort);
    try {
      for await (const item of open(AbortSignal.any([signal, attemptScope.signal]))) {
        cancel();
        hasBegun = true;
        yield item;
        cancel = system.after(ms, abort);
      }
      return;
    } catch (error) {
      signal.throwIfAborted();
      if (!attemptScope.signal.aborted) throw error;
      if (hasBegun || attempts > 1) throw attemptScope.signal.reason;
    } finally {
      cancel();
      attemptScope.abort(lateError());
    }
  }
}
