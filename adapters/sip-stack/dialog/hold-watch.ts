import type { System } from "../ports.ts";

/** Watches whether the peer holds us (RFC 3264 section 8.4), and reports a hold that exceeds the limit. */
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

  /** Takes the state of the peer's latest SDP. */
  set(held: boolean): void {
    if (held === this.#held) return;
    this.#held = held;
    this.#cancel();
    this.#changed(held);
    // The callback may have ended the call: then `stop` has been called, and the hold is over.
    if (held && this.#held) this.#cancel = this.#system.after(this.#limitMs, this.#tooLong);
  }

  stop(): void {
    this.#held = false;
    this.#cancel();
  }
}
