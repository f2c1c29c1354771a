import type { System } from "../ports/system.ts";

/** A wait that ends by itself. */
export interface Deadline {
  /** Aborted after the time, or with the signal that was given. */
  readonly signal: AbortSignal;
  /** Cancels the timer. */
  cancel(): void;
}

/** A deadline `ms` from now; no time at all has passed already. */
export function deadline(system: System, ms: number, signal?: AbortSignal): Deadline {
  const expired = new AbortController();
  const cancel = ms > 0 ? system.after(ms, () => expired.abort()) : () => {};
  if (ms <= 0) expired.abort();
  return { signal: signal ? AbortSignal.any([signal, expired.signal]) : expired.signal, cancel };
}
