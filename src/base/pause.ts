import type { Timers } from "./timers.ts";

/** Resolves after `ms`, or as soon as the signal is aborted. */
export function pause(system: Timers, ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      cancel();
      signal.removeEventListener("abort", done);
      resolve();
    };
    const cancel = system.after(ms, done);
    signal.addEventListener("abort", done);
  });
}
