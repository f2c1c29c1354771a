/** Lags that the tone is fitted to. */
const LAGS = 10;
const LOWEST_HZ = 400;
const HIGHEST_HZ = 2_300;
/** Mean square below which a frame is silence: an RMS of 200. */
const FLOOR = 200 * 200;
/** The share of a frame's energy that its tone must hold. */
const TONE_SHARE = 0.6;
/** The same before it is known: of cos(w) and cos(2w) one is at least a half, in size. */
const SHARE_AT_FIRST = TONE_SHARE / 2 - 0.1;
/** What the fit may leave of the autocorrelation, as a share of the tone's. */
const MOST_RESIDUAL = 0.008;
/** Two tones close to each other beat: then the eighths of a frame differ in energy by more than this, as a ratio. */
const MOST_BEAT = 4;
/** The same, and the floor, while other frequencies still interfere. */
const MOST_BEAT_AT_FIRST = 6;
const FLOOR_AT_FIRST = FLOOR / 2;
/** How far around the first guess is looked, as a share of it, and in how many steps on each side. */
const SEARCH = 0.1;
const STEPS = 6;

/**
 * Measures whether 20 ms of audio are one tone, by its autocorrelation: that of a tone of frequency w is A cos(kw) at lag
 * k, and that of white noise nothing at all beyond lag 0. Allocates nothing after it was made.
 */
export class SteadyTone {
  readonly #sampleRate: number;
  /** Lags 0 to 10, each divided by the number of its terms. */
  readonly #lags: Float64Array = new Float64Array(LAGS + 1);
  #amplitude = 0;

  /** Takes the rate in samples per second. */
  constructor(sampleRate: number) {
    this.#sampleRate = sampleRate;
  }

  /** The frequency of the tone that the frame is, Hz; 0 if it is none. */
  hzOf(frame: Float64Array): number {
    if (!isSteady(frame, 0, FLOOR, MOST_BEAT)) return 0;
    this.#correlate(frame, 0, 2);
    const r0 = this.#lags[0]!;
    const r1 = this.#lags[1]!;
    const r2 = this.#lags[2]!;
    if (r1 === 0) return 0;
    // Where r1 is A cos(w) and r2 is A cos(2w); without r0 white noise does not count.
    const cosine = (r2 + Math.sqrt(r2 * r2 + 8 * r1 * r1)) / (4 * r1);
    if (!(Math.abs(cosine) < 1)) return 0;
    // Most of what is no tone need not be looked at more closely.
    if (Math.max(Math.abs(r1), Math.abs(r2)) < SHARE_AT_FIRST * r0) return 0;
    this.#correlate(frame, 3, LAGS);
    const angle = this.#refined(Math.acos(cosine));
    const hz = (angle * this.#sampleRate) / (2 * Math.PI);
    if (hz <= LOWEST_HZ || hz >= HIGHEST_HZ) return 0;
    const residual = this.#residual(angle);
    const a = this.#amplitude;
    return a > TONE_SHARE * r0 && residual < MOST_RESIDUAL * LAGS * a * a ? hz : 0;
  }

  #correlate(frame: Float64Array, first: number, last: number): void {
    for (let lag = first; lag <= last; lag++) {
      const terms = frame.length - lag;
      let sum = 0;
      for (let i = 0; i < terms; i++) sum += frame[i]! * frame[i + lag]!;
      this.#lags[lag] = sum / terms;
    }
  }

  /** The angle per sample, near a guess, that leaves least: looked for coarsely, then finely. */
  #refined(guess: number): number {
    let best = guess;
    let least = Number.POSITIVE_INFINITY;
    for (let width = SEARCH * guess, round = 0; round < 3; round++, width /= STEPS) {
      const middle = best;
      for (let step = -STEPS; step <= STEPS; step++) {
        const angle = middle + (step * width) / STEPS;
        const left = this.#residual(angle);
        if (left >= least) continue;
        least = left;
        best = angle;
      }
    }
    return best;
  }

  /** What is left of lags 1 to 10 after the best A cos(kw) was taken off; leaves A in `#amplitude`. */
  #residual(angle: number): number {
    const twice = 2 * Math.cos(angle);
    let before = 1;
    let cosine = twice / 2;
    let [product, square, total] = [0, 0, 0];
    for (let lag = 1; lag <= LAGS; lag++) {
      const value = this.#lags[lag]!;
      product += value * cosine;
      square += cosine * cosine;
      total += value * value;
      const next = twice * cosine - before;
      before = cosine;
      cosine = next;
    }
    this.#amplitude = product / square;
    return total - this.#amplitude * product;
  }
}

/** Whether samples are too quiet to be a tone, whatever they are. */
export function isQuiet(samples: Int16Array): boolean {
  let energy = 0;
  for (let i = 0; i < samples.length; i++) energy += samples[i]! * samples[i]!;
  return energy < FLOOR_AT_FIRST * samples.length;
}

/** Whether 20 ms of audio at any rate, from `start` on, are worth a look: most are silence, or speech. */
export function mayBeTone(samples: Float64Array, start: number): boolean {
  return isSteady(samples, start, FLOOR_AT_FIRST, MOST_BEAT_AT_FIRST);
}

/** Whether a frame is loud enough, and as loud from its beginning to its end. */
function isSteady(samples: Float64Array, start: number, floor: number, mostBeat: number): boolean {
  const length = samples.length - start;
  const part = length >> 3;
  let least = Number.POSITIVE_INFINITY;
  let most = 0;
  let total = 0;
  for (let from = start; from + part <= samples.length; from += part) {
    let energy = 0;
    for (let i = from; i < from + part; i++) energy += samples[i]! * samples[i]!;
    if (energy < least) least = energy;
    if (energy > most) most = energy;
    total += energy;
  }
  return total >= floor * length && most <= mostBeat * least;
}
