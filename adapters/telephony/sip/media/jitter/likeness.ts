/** Lags that are tried: periods of voices from 400 Hz down to 66 Hz. */
const LEAST_LAG_MS = 2.5;
const MOST_LAG_MS = 15;
/** So much of the signal is compared. */
const WINDOW_MS = 10;
/** Mean square below which nothing is heard: any two pieces are alike. */
const SILENCE = 30 * 30;

/** Finds by how much a signal must be shifted to look like itself: a multiple of the voice's period. Allocates nothing. */
export class Likeness {
  /** Samples of the longest lag, and of what is compared. */
  readonly mostLag: number;
  readonly window: number;
  /** Of the search that was made last: the lag in samples, and how well it fits: 1 alike, 0 or less not at all. */
  lag = 0;
  likeness = 0;
  readonly #leastLag: number;

  /** @param sampleRate Hz */
  constructor(sampleRate: number) {
    this.#leastLag = (LEAST_LAG_MS * sampleRate) / 1000;
    this.mostLag = (MOST_LAG_MS * sampleRate) / 1000;
    this.window = (WINDOW_MS * sampleRate) / 1000;
  }

  /** Compares the window at `at` with those up to `mostLag` after it (`direction` 1) or before it (-1). */
  search(samples: Int16Array, at: number, direction: 1 | -1): void {
    let own = 0;
    for (let i = 0; i < this.window; i++) own += samples[at + i]! * samples[at + i]!;
    this.lag = this.mostLag;
    this.likeness = 1;
    if (own < SILENCE * this.window) return;
    this.likeness = 0;
    let other = 0; // energy of the window at the lag; kept up to date sample by sample
    for (let i = 0; i < this.window; i++) other += samples[at + direction * this.#leastLag + i]! ** 2;
    for (let lag = this.#leastLag; lag <= this.mostLag; lag++) {
      const from = at + direction * lag;
      let product = 0;
      for (let i = 0; i < this.window; i++) product += samples[at + i]! * samples[from + i]!;
      const likeness = other > 0 ? product / Math.sqrt(own * other) : 0;
      if (likeness > this.likeness) {
        this.likeness = likeness;
        this.lag = lag;
      }
      if (direction > 0) other += samples[from + this.window]! ** 2 - samples[from]! ** 2;
      else other += samples[from - 1]! ** 2 - samples[from + this.window - 1]! ** 2;
    }
  }
}
