import { random } from "../random.ts";

/** Faults of a network. Shares are 0 to 1; missing ones are 0. */
export interface NetworkConditions {
  /** Share that is lost. */
  readonly loss?: number;
  /** Length of each loss, datagrams. Default: 1. */
  readonly burst?: number;
  /** Instead of `burst`: mean length of losses of random length, datagrams (E. N. Gilbert, 1960). */
  readonly meanBurst?: number;
  /** At this interval, ms, the network stalls for `stallMs`; then it delivers everything at once. */
  readonly stallEveryMs?: number;
  readonly stallMs?: number;
  /** Share that arrives twice. */
  readonly duplicates?: number;
  /** Share that is reordered, and its delay. Default: 50 ms. */
  readonly reordered?: number;
  readonly reorderDelayMs?: number;
  /** Delay of every datagram, ms, plus up to `jitterMs`. */
  readonly delayMs?: number;
  readonly jitterMs?: number;
  /** Chooses datagrams to lose. @param count number of earlier datagrams */
  readonly loses?: (datagram: Buffer, count: number) => boolean;
}

/** Counts of datagrams. */
export interface DatagramCounts {
  received: number;
  lost: number;
  duplicated: number;
  reordered: number;
}

/** A network with faults that depend only on the seed. */
export class ImpairedNetwork {
  readonly counts: DatagramCounts = { received: 0, lost: 0, duplicated: 0, reordered: 0 };
  readonly #conditions: NetworkConditions;
  readonly #draw: () => number;
  #remainingLosses = 0;
  #inBurst = false;

  constructor(conditions: NetworkConditions, seed: number) {
    this.#conditions = conditions;
    this.#draw = random(seed);
  }

  /** Delays, ms, with which the datagram is delivered: none, one or two. @param now time of a monotonic clock, ms */
  deliveries(datagram: Buffer, now: number = performance.now()): readonly number[] {
    const { duplicates = 0, reordered = 0, reorderDelayMs = 50, delayMs = 0, jitterMs = 0 } = this.#conditions;
    // Drawn for each datagram, used or not, so that the faults of one do not shift the others.
    const [lossDraw, duplicateDraw, lateDraw, jitterDraw, gapDraw] = [
      this.#draw(),
      this.#draw(),
      this.#draw(),
      this.#draw(),
      this.#draw(),
    ];
    this.#updateLoss(lossDraw);
    const isSelected = this.#conditions.loses?.(datagram, this.counts.received) ?? false;
    this.counts.received++;
    if (this.#remainingLosses > 0 || isSelected) {
      this.#remainingLosses = Math.max(0, this.#remainingLosses - 1);
      this.counts.lost++;
      return [];
    }
    let ms = delayMs + jitterDraw * jitterMs + this.#stalledMs(now);
    if (lateDraw < reordered) {
      this.counts.reordered++;
      ms += reorderDelayMs;
    }
    if (duplicateDraw >= duplicates) return [ms];
    this.counts.duplicated++;
    return [ms, ms + gapDraw * 30];
  }

  /** Decides if a loss starts or continues. */
  #updateLoss(draw: number): void {
    const { loss = 0, burst = 1, meanBurst } = this.#conditions;
    if (meanBurst === undefined) {
      if (this.#remainingLosses === 0 && draw < loss / burst) this.#remainingLosses = burst;
      return;
    }
    const startProbability = loss / (1 - loss) / meanBurst;
    const continueProbability = 1 - 1 / meanBurst;
    this.#remainingLosses = draw < (this.#inBurst ? continueProbability : startProbability) ? 1 : 0;
    this.#inBurst = this.#remainingLosses > 0;
  }

  /** Remaining time of the stall, ms. */
  #stalledMs(now: number): number {
    const { stallEveryMs = 0, stallMs = 0 } = this.#conditions;
    return stallEveryMs === 0 ? 0 : Math.max(0, stallMs - (now % stallEveryMs));
  }
}
