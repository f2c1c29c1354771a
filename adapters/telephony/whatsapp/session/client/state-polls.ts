import type { System } from "../../../../../src/ports/system.ts";

/** Polls the state of a client: one period after the previous poll, regardless of other events. */
export class StatePolls {
  readonly #system: Pick<System, "after" | "monotonic">;
  readonly #poll: () => void;
  #periodMs: number | undefined;
  #polledAt = 0;
  #dueAt: number | undefined;
  #cancel: (() => void) | undefined;

  constructor(system: Pick<System, "after" | "monotonic">, poll: () => void) {
    this.#system = system;
    this.#poll = poll;
  }

  /** Records that the state has just been polled, for whatever reason. */
  recordPoll(): void {
    this.#polledAt = this.#system.monotonic();
    this.plan(this.#periodMs);
  }

  /** Sets the time of the next poll. @param periodMs undefined for no polling */
  plan(periodMs: number | undefined): void {
    if (this.#periodMs === undefined) this.#polledAt = this.#system.monotonic();
    this.#periodMs = periodMs;
    const due = periodMs === undefined ? undefined : this.#polledAt + periodMs;
    if (due === this.#dueAt) return;
    this.#dueAt = due;
    this.#cancel?.();
    this.#cancel =
      due === undefined ? undefined : this.#system.after(due - this.#system.monotonic(), () => this.#poll());
  }
}
