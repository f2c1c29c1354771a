import type { System } from "../../../../src/ports/system.ts";

/** The most attempts of one line in each window. */
const MAX_TRIES = 5;
const WINDOW_MS = 60_000;
/** The most concurrent attempts of all lines: each opens sockets. */
const MAX_CONCURRENT = 8;

/** Limits how often accounts are tried, so that nobody can guess passwords through this server. */
export class TryLimit {
  readonly #system: System;
  /** The times of each line's attempts in the window, on the monotonic clock, ms. */
  readonly #tries = new Map<string, number[]>();
  #running = 0;

  constructor(system: System) {
    this.#system = system;
  }

  /** Counts an attempt and returns 0; or returns the wait until the next one is allowed, ms. */
  begin(instanceId: string): number {
    const now = this.#system.monotonic();
    for (const [id, times] of this.#tries) if ((times.at(-1) ?? 0) <= now - WINDOW_MS) this.#tries.delete(id);
    const recent = (this.#tries.get(instanceId) ?? []).filter((at) => at > now - WINDOW_MS);
    if (recent.length >= MAX_TRIES) return (recent[0] ?? now) + WINDOW_MS - now;
    if (this.#running >= MAX_CONCURRENT) return 1_000;
    this.#tries.set(instanceId, [...recent, now]);
    this.#running++;
    return 0;
  }

  /** An attempt has ended. */
  end(): void {
    this.#running--;
  }
}
