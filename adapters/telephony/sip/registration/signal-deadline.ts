import type { System } from "../../../../src/ports/system.ts";

/** A signal that is aborted after a timeout, unless the deadline is cancelled first. */
export class Deadline {
  readonly #controller = new AbortController();
  readonly #cancelTimer: () => void;

  /** @param message message of the error that is the signal's reason after the timeout */
  constructor(system: System, ms: number, message: string) {
    this.#cancelTimer = system.after(ms, () => this.#controller.abort(new Error(message)));
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Stops the timer; with a reason the signal is aborted now. */
  cancel(reason?: Error): void {
    this.#cancelTimer();
    if (reason !== undefined) this.#controller.abort(reason);
  }
}
