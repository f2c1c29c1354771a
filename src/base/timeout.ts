import type { Timers } from "./timers.ts";

/** Time limit of a wait, and a signal that ends it. */
export interface Bound {
  readonly system: Timers;
  readonly ms: number;
  /** Creates the error to reject with after the time limit. */
  readonly late: () => Error;
  /** Ends the wait as well, with its reason. */
  readonly signal?: AbortSignal | undefined;
}

/** Resolves as the work does, if that takes no longer than the bound. The work itself continues. */
export function within<T>(work: Promise<T>, { system, ms, late, signal }: Bound): Promise<T> {
  let end = () => {};
  const over = new Promise<never>((_, reject) => {
    const aborted = () => reject(signal?.reason);
    if (signal?.aborted) aborted();
    signal?.addEventListener("abort", aborted);
    const cancel = system.after(ms, () => reject(late()));
    end = () => {
      cancel();
      signal?.removeEventListener("abort", aborted);
    };
  });
  return Promise.race([work, over]).finally(() => end());
}
