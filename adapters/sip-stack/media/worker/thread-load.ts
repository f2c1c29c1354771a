import type { ClockMember, MediaClock } from "../../ports.ts";

/** Lateness of a tenth of a second's frames above which a thread takes no new calls, ms: one frame. */
export const MAX_LATENESS_MS = 20;
/** Lateness at which it takes calls again, ms. */
const RECOVERED_MS = 15;
/** Number of ticks between two checks: a second of audio. */
const TICKS = 50;
/** Number of checks in a row that decide: a pause of the garbage collector is no overload. */
const CHECKS = 2;

/** The load of a thread with calls, by the lateness of their frames. A thread without calls has none. */
export class ThreadLoad implements ClockMember {
  readonly #clock: MediaClock;
  #tickCount = 0;
  #latenessMs = 0;
  #isOverloaded = false;
  /** Number of checks in a row that contradict the state. */
  #contraryChecks = 0;

  constructor(clock: MediaClock) {
    this.#clock = clock;
  }

  /** Lateness that nine of ten frames of the last second did not exceed, ms. */
  get latenessMs(): number {
    return this.#latenessMs;
  }

  /** True if new calls would make the audio of all calls later. */
  get isOverloaded(): boolean {
    return this.#isOverloaded;
  }

  /** Starts measuring with the first call, and stops with the last. */
  setCalls(count: number): void {
    if (count > 0) {
      this.#clock.add(this);
      return;
    }
    this.#clock.remove(this);
    this.#clock.recentLateness.reset();
    this.#tickCount = this.#latenessMs = this.#contraryChecks = 0;
    this.#isOverloaded = false;
  }

  /** @internal called by the clock */
  tick(): void {
    if (++this.#tickCount % TICKS !== 0) return;
    const { recentLateness } = this.#clock;
    this.#latenessMs = recentLateness.quantile(0.9);
    recentLateness.reset();
    const isContrary = this.#isOverloaded ? this.#latenessMs <= RECOVERED_MS : this.#latenessMs > MAX_LATENESS_MS;
    this.#contraryChecks = isContrary ? this.#contraryChecks + 1 : 0;
    if (this.#contraryChecks < CHECKS) return;
    this.#isOverloaded = !this.#isOverloaded;
    this.#contraryChecks = 0;
  }

  /** @internal */
  tickFailed(): void {}
}
