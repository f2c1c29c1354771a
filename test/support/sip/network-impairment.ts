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
  readonly late?: number;
  readonly lateMs?: number;
  /** Delay of every datagram, ms, plus up to `jitterMs`. */
  readonly delayMs?: number;
  readonly jitterMs?: number;
  /** Chooses datagrams to lose. @param count number of earlier datagrams */
  readonly loses?: (datagram: Buffer, count: number) => boolean;
}

/** Counts of datagrams. */
export interface DatagramCounts {
  came: number;
  lost: number;
  duplicated: number;
  late: number;
}

/** A network with faults, the same ones for the same seed. */
export class ImpairedNetwork {
  readonly counts: DatagramCounts = { came: 0, lost: 0, duplicated: 0, late: 0 };
  readonly #conditions: NetworkConditions;
  readonly #draw: () => number;
  #losing = 0;
  #inBurst = false;

  constructor(conditions: NetworkConditions, seed: number) {
    this.#conditions = conditions;
    this.#draw = random(seed);
  }

  /** Delays, ms, with which the datagram is delivered: none, one or two. @param now time of a monotonic clock, ms */
  deliveries(datagram: Buffer, now: number = performance.now()): readonly number[] {
    const { duplicates = 0, late = 0, lateMs = 50, delayMs = 0, jitterMs = 0 } = this.#conditions;
    // Drawn for each datagram, used or not, so that the faults of one do not shift the others.
    const [lost, doubled, held, jitter, apart] = [this.#draw(), this.#draw(), this.#draw(), this.#draw(), this.#draw()];
    this.#loses(lost);
    const singledOut = this.#conditions.loses?.(datagram, this.counts.came) ?? false;
    this.counts.came++;
    if (this.#losing > 0 || singledOut) {
      this.#losing = Math.max(0, this.#losing - 1);
      this.counts.lost++;
      return [];
    }
    let ms = delayMs + jitter * jitterMs + this.#stalledMs(now);
    if (held < late) {
      this.counts.late++;
      ms += lateMs;
    }
    if (doubled >= duplicates) return [ms];
    this.counts.duplicated++;
    return [ms, ms + apart * 30];
  }

  /** Decides if a loss starts or continues. */
  #loses(draw: number): void {
    const { loss = 0, burst = 1, meanBurst } = this.#conditions;
    if (meanBurst === undefined) {
      if (this.#losing === 0 && draw < loss / burst) this.#losing = burst;
      return;
    }
    const begins = loss / (1 - loss) / meanBurst;
    const goesOn = 1 - 1 / meanBurst;
    this.#losing = draw < (this.#inBurst ? goesOn : begins) ? 1 : 0;
    this.#inBurst = this.#losing > 0;
  }

  /** Remaining time of the stall, ms. */
  #stalledMs(now: number): number {
    const { stallEveryMs = 0, stallMs = 0 } = this.#conditions;
    return stallEveryMs === 0 ? 0 : Math.max(0, stallMs - (now % stallEveryMs));
  }
}
