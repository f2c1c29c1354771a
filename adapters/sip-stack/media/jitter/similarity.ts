/** Bounds of the lags to try, ms: the periods of voices from 400 Hz down to 66 Hz. */
const MIN_LAG_MS = 2.5;
const MAX_LAG_MS = 15;
/** Length of the compared signal, ms. */
const WINDOW_MS = 10;
/** Mean square of silence, in which any two windows are alike. */
const SILENCE = 30 * 30;
/** Rate of the coarse search, Hz: pitch is well below half of this rate. */
const COARSE_RATE = 4_000;
const COARSE_WINDOW = (WINDOW_MS * COARSE_RATE) / 1000;
const COARSE_MIN_LAG = (MIN_LAG_MS * COARSE_RATE) / 1000;
const COARSE_MAX_LAG = (MAX_LAG_MS * COARSE_RATE) / 1000;

/** The signal at the coarse rate; scratch memory of one search. */
const coarse = new Float64Array(COARSE_WINDOW + COARSE_MAX_LAG);

/** Finds the lag with which a signal resembles itself: a multiple of the voice's period. Allocates nothing. */
export class Similarity {
  /** Number of samples in the longest lag, and in the compared signal. */
  readonly maxLag: number;
  readonly window: number;
  /** Result of the last search: the lag in samples, and the correlation: 1 if alike, 0 or less if not. */
  lag = 0;
  correlation = 0;
  readonly #minLag: number;
  /** Number of samples per sample at the coarse rate. */
  readonly #step: number;

  /** @param sampleRate Hz, a multiple of 4000 */
  constructor(sampleRate: number) {
    this.#minLag = (MIN_LAG_MS * sampleRate) / 1000;
    this.maxLag = (MAX_LAG_MS * sampleRate) / 1000;
    this.window = (WINDOW_MS * sampleRate) / 1000;
    this.#step = sampleRate / COARSE_RATE;
  }

  /** Compares the window at `at` with those up to `maxLag` after it (`direction` 1) or before it (-1). */
  search(samples: Int16Array, at: number, direction: 1 | -1): void {
    let windowEnergy = 0;
    for (let i = 0; i < this.window; i++) windowEnergy += samples[at + i]! * samples[at + i]!;
    this.lag = this.maxLag;
    this.correlation = 1;
    if (windowEnergy < SILENCE * this.window) return;
    this.correlation = 0;
    const centreLag = this.#coarseLag(samples, at, direction) * this.#step;
    const last = Math.min(this.maxLag, centreLag + this.#step);
    for (let lag = Math.max(this.#minLag, centreLag - this.#step); lag <= last; lag++)
      this.#compare(samples, at, direction * lag, windowEnergy);
  }

  /** The lag that fits best at the coarse rate. */
  #coarseLag(samples: Int16Array, at: number, direction: 1 | -1): number {
    const step = this.#step;
    const first = direction > 0 ? at : at - COARSE_MAX_LAG * step;
    for (let i = 0; i < coarse.length; i++) {
      let sum = 0;
      for (let k = first + i * step; k < first + (i + 1) * step; k++) sum += samples[k]!;
      coarse[i] = sum;
    }
    const windowStart = direction > 0 ? 0 : COARSE_MAX_LAG;
    let energy = 0; // energy of the window at the lag, updated sample by sample
    for (let i = 0; i < COARSE_WINDOW; i++) energy += coarse[windowStart + direction * COARSE_MIN_LAG + i]! ** 2;
    let best = COARSE_MAX_LAG;
    let bestFit = 0;
    for (let lag = COARSE_MIN_LAG; lag <= COARSE_MAX_LAG; lag++) {
      const from = windowStart + direction * lag;
      let product = 0;
      for (let i = 0; i < COARSE_WINDOW; i++) product += coarse[windowStart + i]! * coarse[from + i]!;
      // Only the order counts, so the root and the window's energy can be omitted.
      const fit = energy > 0 && product > 0 ? (product * product) / energy : 0;
      if (fit > bestFit) {
        bestFit = fit;
        best = lag;
      }
      if (lag === COARSE_MAX_LAG) break;
      if (direction > 0) energy += coarse[from + COARSE_WINDOW]! ** 2 - coarse[from]! ** 2;
      else energy += coarse[from - 1]! ** 2 - coarse[from + COARSE_WINDOW - 1]! ** 2;
    }
    return best;
  }

  /** Compares the window at `at`, with this energy, with the window `shift` samples later. */
  #compare(samples: Int16Array, at: number, shift: number, windowEnergy: number): void {
    let shiftedEnergy = 0;
    let product = 0;
    for (let i = at; i < at + this.window; i++) {
      const shifted = samples[i + shift]!;
      shiftedEnergy += shifted * shifted;
      product += samples[i]! * shifted;
    }
    const correlation = shiftedEnergy > 0 ? product / Math.sqrt(windowEnergy * shiftedEnergy) : 0;
    if (correlation <= this.correlation) return;
    this.correlation = correlation;
    this.lag = Math.abs(shift);
  }
}
