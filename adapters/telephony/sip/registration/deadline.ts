import type { System } from "../../../../src/ports/system.ts";

/** A signal that is aborted after a while, unless it is cancelled before. */
export class Deadline {
  readonly #controller = new AbortController();
  readonly #cancelTimer: () => void;

  /** @param reason what the signal's reason says when the time is over */
  constructor(system: System, ms: number, reason: string) {
    this.#cancelTimer = system.after(ms, () => this.#controller.abort(new Error(reason)));
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The time does not matter any more; with a reason the signal is aborted now. */
  cancel(reason?: Error): void {
    this.#cancelTimer();
    if (reason !== undefined) this.#controller.abort(reason);
  }
}
