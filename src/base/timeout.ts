import type { Timers } from "./timers.ts";

/** How long a wait may take, and what ends it. */
export interface Bound {
  readonly system: Timers;
  readonly ms: number;
  /** What to reject with when the time is over. */
  readonly late: () => Error;
  /** Ends the wait as well, with its reason. */
  readonly signal?: AbortSignal | undefined;
}

/** What the work resolves with, if that takes no longer than the bound. The work itself goes on. */
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
