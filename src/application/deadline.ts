import type { System } from "../ports/system.ts";

/** A wait that ends automatically. */
interface Deadline {
  /** Aborted when the time has passed, or when the caller's signal is. */
  readonly signal: AbortSignal;
  /** Cancels the timer, and stops following the caller's signal. */
  cancel(): void;
}

/** A deadline `ms` from now; for 0 ms it has already passed. */
export function deadline(system: System, ms: number, signal?: AbortSignal): Deadline {
  const controller = new AbortController();
  const end = (): void => controller.abort();
  const cancelTimer = ms > 0 ? system.after(ms, end) : () => {};
  if (ms <= 0 || signal?.aborted) end();
  // Not AbortSignal.any: the signal of a connection outlives many waits, and must not collect their signals.
  signal?.addEventListener("abort", end);
  const cancel = (): void => {
    cancelTimer();
    signal?.removeEventListener("abort", end);
  };
  return { signal: controller.signal, cancel };
}
