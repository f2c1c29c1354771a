import { Lateness } from "../../../src/audio/playout/lateness.ts";

const PERIOD_MS = 20;

/** Calls each member every 20 ms; members are spread over the milliseconds of an absolute schedule. */
export class Beat {
  /** Delays of the members' calls. */
  readonly lateness: Lateness = new Lateness();
  readonly #slots: Set<() => void>[] = Array.from({ length: PERIOD_MS }, () => new Set());
  #start = 0;
  #next = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Starts the calls. */
  start(): void {
    this.#start = performance.now();
    this.#next = 0;
    this.#wake();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  add(member: () => void): void {
    this.#slots.reduce((smallest, slot) => (slot.size < smallest.size ? slot : smallest)).add(member);
  }

  remove(member: () => void): void {
    for (const slot of this.#slots) slot.delete(member);
  }

  readonly #wake = (): void => {
    while (this.#start + this.#next <= performance.now()) {
      const slot = this.#slots[this.#next % PERIOD_MS]!;
      for (const member of slot) member();
      if (slot.size > 0) this.lateness.add(performance.now() - this.#start - this.#next, slot.size);
      this.#next++;
    }
    this.#timer = setTimeout(this.#wake, Math.max(0, this.#start + this.#next - performance.now()));
  };
}
