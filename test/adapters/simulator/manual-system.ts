import type { System } from "../../../src/ports/system.ts";

/** A clock that stands still until it is told how far to go. */
export class ManualSystem implements System {
  #ms = 0;
  #draws = 0;
  readonly #timers = new Set<{ readonly at: number; readonly run: () => void }>();

  now(): number {
    return 1_700_000_000_000 + this.#ms;
  }

  monotonic(): number {
    return this.#ms;
  }

  random(bytes: Uint8Array): void {
    for (let i = 0; i < bytes.length; i++) bytes[i] = (++this.#draws * 2_654_435_761) >>> 24;
  }

  after(ms: number, run: () => void): () => void {
    const timer = { at: this.#ms + Math.max(0, ms), run };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** How many timers are set. */
  get pending(): number {
    return this.#timers.size;
  }

  /** The clock jumps, as if the process had been blocked; what is due runs afterwards, with `advance`. */
  block(ms: number): void {
    this.#ms += ms;
  }

  /** Lets `ms` pass; everything that becomes due runs at its time, and what it promised has happened after it. */
  async advance(ms: number): Promise<void> {
    const end = this.#ms + ms;
    await settle();
    for (;;) {
      let next: { readonly at: number; readonly run: () => void } | undefined;
      for (const timer of this.#timers) if (next === undefined || timer.at < next.at) next = timer;
      if (next === undefined || next.at > end) break;
      this.#timers.delete(next);
      this.#ms = Math.max(this.#ms, next.at);
      next.run();
      await settle();
    }
    this.#ms = Math.max(this.#ms, end);
  }
}

async function settle(): Promise<void> {
  for (let i = 0; i < 8; i++) await Promise.resolve();
}
