/** Deviations are counted in steps of 5 ms up to half a second. */
const STEP_MS = 5;
const STEPS = 100;
/** Share of the packets that should arrive in time. */
const QUANTILE = 0.97;
/** Growth of the weight from one packet to the next: a packet counts half as much as one that is 350 packets newer. */
const GROWTH_FACTOR = 1.002;
const WEIGHT_LIMIT = 1e9;
/** Initial weight of the histogram. */
const PRIOR_PACKETS = 10;
const PRIOR_MS = 30;
const MARGIN_MS = 5;
const MIN_MS = 20;
const MAX_MS = 200;
/** Length of a window, ms: lateness is relative to the quickest packet of the last one or two, which follows a drifting clock. */
const WINDOW_MS = 5_000;
/** Deviation above which a packet starts a new timeline, because the sender's clock was reset, ms. */
const JUMP_MS = 2_000;

/** The delay with which nearly all packets are played in time, estimated from past packets. */
export class PlayoutDelay {
  /** The target delay after the earliest possible arrival, ms. */
  targetMs: number = PRIOR_MS + STEP_MS + MARGIN_MS;
  /** Arrival minus timestamp of the quickest packet, ms. */
  baseMs = 0;
  readonly #weights = new Float64Array(STEPS);
  #weight = 1;
  #total = PRIOR_PACKETS;
  #windowBase = 0;
  #lastBase = 0;
  #windowUntil = 0;
  #hasBase = false;

  constructor() {
    this.#weights[PRIOR_MS / STEP_MS] = PRIOR_PACKETS;
  }

  /**
   * Adds a packet; returns false if it starts a new timeline.
   *
   * @param timeMs its timestamp, without wraps
   * @param isTimely true if it arrived just now; otherwise it may have arrived earlier
   */
  addPacket(timeMs: number, arrivalMs: number, isTimely: boolean): boolean {
    const transit = arrivalMs - timeMs;
    if (!this.#hasBase || Math.abs(transit - this.baseMs) > JUMP_MS) {
      const isFirst = !this.#hasBase;
      this.#hasBase = true;
      this.#windowBase = this.#lastBase = this.baseMs = transit;
      this.#windowUntil = arrivalMs + WINDOW_MS;
      return isFirst;
    }
    if (!isTimely) return true;
    if (arrivalMs >= this.#windowUntil) {
      this.#lastBase = this.#windowBase;
      this.#windowBase = transit;
      this.#windowUntil = arrivalMs + WINDOW_MS;
    }
    if (transit < this.#windowBase) this.#windowBase = transit;
    this.baseMs = Math.min(this.#windowBase, this.#lastBase);
    this.#count(transit - this.baseMs);
    return true;
  }

  /** Prepares for another source: keeps the measured jitter, but not the clock. */
  restart(): void {
    this.#hasBase = false;
  }

  #count(lateMs: number): void {
    const step = Math.min(STEPS - 1, Math.floor(lateMs / STEP_MS));
    this.#weight *= GROWTH_FACTOR;
    this.#weights[step] = this.#weights[step]! + this.#weight;
    this.#total += this.#weight;
    if (this.#weight > WEIGHT_LIMIT) this.#normalize();
    let sum = 0;
    let index = 0;
    while (index < STEPS - 1 && sum + this.#weights[index]! < QUANTILE * this.#total) sum += this.#weights[index++]!;
    this.targetMs = Math.min(MAX_MS, Math.max(MIN_MS, (index + 1) * STEP_MS + MARGIN_MS));
  }

  #normalize(): void {
    this.#total = 0;
    for (let i = 0; i < STEPS; i++) {
      this.#weights[i] = this.#weights[i]! / this.#weight;
      this.#total += this.#weights[i]!;
    }
    this.#weight = 1;
  }
}
