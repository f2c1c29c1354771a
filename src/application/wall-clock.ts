import type { System } from "../ports/system.ts";

/** Minimum difference for a changed wall clock, ms; smaller differences are adjustments. */
const DRIFT_MS = 1_000;

/** Detects changes of the wall clock, by comparing it with the monotonic clock. */
export class WallClock {
  readonly #system: System;
  #offset: number;

  constructor(system: System) {
    this.#system = system;
    this.#offset = system.now() - system.monotonic();
  }

  /** Change of the wall clock since the last call, ms; 0 if it was not changed. */
  takeJumpMs(): number {
    const offset = this.#system.now() - this.#system.monotonic();
    const jump = offset - this.#offset;
    this.#offset = offset;
    return Math.abs(jump) < DRIFT_MS ? 0 : jump;
  }
}
