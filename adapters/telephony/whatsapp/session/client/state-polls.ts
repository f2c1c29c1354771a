import type { System } from "../../../../../src/ports/system.ts";

/** Asks for the state of a client again and again: a period after the last question, however much else happens. */
export class StatePolls {
  readonly #system: Pick<System, "after" | "monotonic">;
  readonly #ask: () => void;
  #periodMs: number | undefined;
  #askedAt = 0;
  #due: number | undefined;
  #cancel: (() => void) | undefined;

  constructor(system: Pick<System, "after" | "monotonic">, ask: () => void) {
    this.#system = system;
    this.#ask = ask;
  }

  /** The state was asked just now, for whatever reason. */
  asked(): void {
    this.#askedAt = this.#system.monotonic();
    this.plan(this.#periodMs);
  }

  /** Sets the time of the next question. @param periodMs undefined: there is no question */
  plan(periodMs: number | undefined): void {
    if (this.#periodMs === undefined) this.#askedAt = this.#system.monotonic();
    this.#periodMs = periodMs;
    const due = periodMs === undefined ? undefined : this.#askedAt + periodMs;
    if (due === this.#due) return;
    this.#due = due;
    this.#cancel?.();
    this.#cancel =
      due === undefined ? undefined : this.#system.after(due - this.#system.monotonic(), () => this.#ask());
  }
}
