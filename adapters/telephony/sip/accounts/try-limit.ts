import type { System } from "../../../../src/ports/system.ts";

/** Tries of one line in each window. */
const TRIES = 5;
const WINDOW_MS = 60_000;
/** Tries of all lines at the same time: each opens sockets. */
const AT_ONCE = 8;

/** Bounds how often accounts are tried, so that nobody guesses passwords through this server. */
export class TryLimit {
  readonly #system: System;
  /** When each line's tries of the window were, on the monotonic clock, ms. */
  readonly #tries = new Map<string, number[]>();
  #running = 0;

  constructor(system: System) {
    this.#system = system;
  }

  /** Counts a try and answers 0; or answers how long to wait for one, ms. */
  begin(instanceId: string): number {
    const now = this.#system.monotonic();
    for (const [id, times] of this.#tries) if ((times.at(-1) ?? 0) <= now - WINDOW_MS) this.#tries.delete(id);
    const recent = (this.#tries.get(instanceId) ?? []).filter((at) => at > now - WINDOW_MS);
    if (recent.length >= TRIES) return (recent[0] ?? now) + WINDOW_MS - now;
    if (this.#running >= AT_ONCE) return 1_000;
    this.#tries.set(instanceId, [...recent, now]);
    this.#running++;
    return 0;
  }

  /** A try is over. */
  end(): void {
    this.#running--;
  }
}
