import type { System } from "../../../../src/ports/system.ts";

/** A clock that a property advances synchronously, and constant random numbers. */
export class SteppedSystem implements System {
  readonly #timers = new Set<{ readonly dueAt: number; readonly run: () => void }>();
  #now = 0;
  #drawCount = 0;

  now(): number {
    return this.#now;
  }

  monotonic(): number {
    return this.#now;
  }

  random(bytes: Uint8Array): void {
    for (let index = 0; index < bytes.length; index++) bytes[index] = (index * 37 + this.#drawCount) & 0xff;
    this.#drawCount++;
  }

  after(ms: number, run: () => void): () => void {
    const timer = { dueAt: this.#now + Math.max(0, ms), run };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  }

  get waiting(): number {
    return this.#timers.size;
  }

  /** Runs due timers within N ms, in order; at most a thousand, so that an endless loop is noticed. */
  elapse(ms: number): void {
    const until = this.#now + ms;
    for (let run = 0; run < 1000; run++) {
      const next = [...this.#timers].filter(({ dueAt }) => dueAt <= until).sort((a, b) => a.dueAt - b.dueAt)[0];
      if (next === undefined) break;
      this.#timers.delete(next);
      this.#now = next.dueAt;
      next.run();
    }
    this.#now = until;
  }
}
