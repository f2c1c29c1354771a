import type { System } from "../../../../src/ports/system.ts";

/** Knows whether the far side holds us, and since when for too long. */
export class HoldWatch {
  readonly #system: System;
  readonly #limitMs: number;
  readonly #changed: (held: boolean) => void;
  readonly #tooLong: () => void;
  #held = false;
  #cancel: () => void = () => {};

  constructor(system: System, limitMs: number, changed: (held: boolean) => void, tooLong: () => void) {
    this.#system = system;
    this.#limitMs = limitMs;
    this.#changed = changed;
    this.#tooLong = tooLong;
  }

  /** What the far side's latest SDP says. */
  set(held: boolean): void {
    if (held === this.#held) return;
    this.#held = held;
    this.#cancel();
    this.#changed(held);
    // Who is told may have ended the call: then `stop` has been called, and `held` is over.
    if (held && this.#held) this.#cancel = this.#system.after(this.#limitMs, this.#tooLong);
  }

  stop(): void {
    this.#held = false;
    this.#cancel();
  }
}
