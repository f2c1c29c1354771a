import { random } from "../random.ts";

/** What happens to datagrams on their way. Shares are 0 to 1; nothing happens unless it is named. */
export interface Weather {
  /** Share that never arrives. */
  readonly loss?: number;
  /** So many in a row are lost each time. Default: 1. */
  readonly burst?: number;
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

  constructor(weather: Weather, seed: number) {
    this.#weather = weather;
    this.#draw = random(seed);
  }

  /** After how many ms the datagram arrives, each time that it does: none, one or two. */
  fate(datagram: Buffer): readonly number[] {
    const { loss = 0, burst = 1, duplicates = 0, late = 0, lateMs = 50, delayMs = 0, jitterMs = 0 } = this.#weather;
    // Drawn for each datagram, used or not: what happens to one does not depend on what happened to those before.
    const [lost, doubled, held, jitter, apart] = [this.#draw(), this.#draw(), this.#draw(), this.#draw(), this.#draw()];
    if (this.#losing === 0 && lost < loss / burst) this.#losing = burst;
    const singledOut = this.#weather.loses?.(datagram, this.toll.came) ?? false;
    this.toll.came++;
    if (this.#losing > 0 || singledOut) {
      this.#losing = Math.max(0, this.#losing - 1);
      this.toll.lost++;
      return [];
    }
    let ms = delayMs + jitter * jitterMs;
    if (held < late) {
      this.toll.late++;
      ms += lateMs;
    }
    if (doubled >= duplicates) return [ms];
    this.toll.duplicated++;
    return [ms, ms + apart * 30];
  }
}
