import { random } from "../random.ts";

/** What happens to datagrams on their way. Shares are 0 to 1; nothing happens unless it is named. */
export interface Weather {
  /** Share that never arrives. */
  readonly loss?: number;
  /** So many in a row are lost each time. Default: 1. */
  readonly burst?: number;
  /** In place of `burst`: bursts of any length, this long on average (E. N. Gilbert, 1960). */
  readonly meanBurst?: number;
  /** Every so many ms nothing gets through for `stallMs`; then all of it comes at once. */
  readonly stallEveryMs?: number;
  readonly stallMs?: number;
  /** Share that arrives twice. */
  readonly duplicates?: number;
  /** Share that is overtaken by others, and how late it comes. Default: 50 ms. */
  readonly late?: number;
  readonly lateMs?: number;
  /** Every datagram takes so long, ms, and up to `jitterMs` more. */
  readonly delayMs?: number;
  readonly jitterMs?: number;
  /** Singles out datagrams that are lost. @param count how many have come before */
  readonly loses?: (datagram: Buffer, count: number) => boolean;
}

/** What has become of the datagrams. */
export interface Toll {
  came: number;
  lost: number;
  duplicated: number;
  late: number;
}

/** The same weather each time for the same seed. */
export class Forecast {
  readonly toll: Toll = { came: 0, lost: 0, duplicated: 0, late: 0 };
  readonly #weather: Weather;
  readonly #draw: () => number;
  #losing = 0;
  #inBurst = false;

  constructor(weather: Weather, seed: number) {
    this.#weather = weather;
    this.#draw = random(seed);
  }

  /** After how many ms the datagram arrives, each time that it does: none, one or two. @param now of a steady clock, ms */
  fate(datagram: Buffer, now: number = performance.now()): readonly number[] {
    const { duplicates = 0, late = 0, lateMs = 50, delayMs = 0, jitterMs = 0 } = this.#weather;
    // Drawn for each datagram, used or not: what happens to one does not depend on what happened to those before.
    const [lost, doubled, held, jitter, apart] = [this.#draw(), this.#draw(), this.#draw(), this.#draw(), this.#draw()];
    this.#loses(lost);
    const singledOut = this.#weather.loses?.(datagram, this.toll.came) ?? false;
    this.toll.came++;
    if (this.#losing > 0 || singledOut) {
      this.#losing = Math.max(0, this.#losing - 1);
      this.toll.lost++;
      return [];
    }
    let ms = delayMs + jitter * jitterMs + this.#stalledMs(now);
    if (held < late) {
      this.toll.late++;
      ms += lateMs;
    }
    if (doubled >= duplicates) return [ms];
    this.toll.duplicated++;
    return [ms, ms + apart * 30];
  }
  /** Decides whether a burst of loss begins or goes on. */
  #loses(draw: number): void {
    const { loss = 0, burst = 1, meanBurst } = this.#weather;
    if (meanBurst === undefined) {
      if (this.#losing === 0 && draw < loss / burst) this.#losing = burst;
      return;
    }
    const begins = loss / (1 - loss) / meanBurst;
    const goesOn = 1 - 1 / meanBurst;
    this.#losing = draw < (this.#inBurst ? goesOn : begins) ? 1 : 0;
    this.#inBurst = this.#losing > 0;
  }

  /** For how long nothing gets through from now on, ms. */
  #stalledMs(now: number): number {
    const { stallEveryMs = 0, stallMs = 0 } = this.#weather;
    return stallEveryMs === 0 ? 0 : Math.max(0, stallMs - (now % stallEveryMs));
  }
}
