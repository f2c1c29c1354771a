/** Number of lags that the tone is fitted to. */
const LAG_COUNT = 10;
/** Minimum frequency, Hz: network tones start at 400 Hz. */
const MIN_HZ = 390;
const MAX_HZ = 2_300;
/** Mean square below which a frame is silence: an RMS of 200. */
const NOISE_FLOOR = 200 * 200;
/** Minimum share of the tone in a frame's energy. */
const MIN_TONE_SHARE = 0.6;
/** The share before the tone is known: at least one of |cos(w)| and |cos(2w)| is ≥ 0.5. */
const INITIAL_TONE_SHARE = MIN_TONE_SHARE / 2 - 0.1;
/** Maximum residual of the fit, as a share of the tone's autocorrelation. */
const MAX_RESIDUAL = 0.008;
/** Maximum energy ratio between eighths of a frame: two tones close to each other beat, and exceed it. */
const MAX_BEAT = 4;
/** The same ratio, and the floor, while other frequencies still interfere. */
const INITIAL_MAX_BEAT = 6;
const INITIAL_NOISE_FLOOR = NOISE_FLOOR / 2;
/** Minimum correlation of neighbouring samples at the working rate: 0.88 for 620 Hz, and 0 for noise. */
const LOW_SHARE = 0.65;
/** The rise and the fall of the weights, as a share of a frame. */
const EDGE = 0.2;
/** Range of the search around the first guess, as a share of it, and the number of steps on each side. */
const SEARCH = 0.1;
const STEPS = 6;

/**
 * Detects whether 20 ms of audio is a single tone, from its autocorrelation: for a tone of frequency w it is A cos(kw)
 * at lag k, and for white noise 0 beyond lag 0. Does not allocate after creation.
 */
export class SteadyTone {
  readonly #sampleRate: number;
  /** Weights of the terms, which rise and fall: otherwise the phase of a low tone shifts its frequency by 1 %. */
  readonly #weights: Float64Array;
  readonly #weightedFrame: Float64Array;
  /** Lags 0 to 10: the weighted mean of their terms. */
  readonly #lags: Float64Array = new Float64Array(LAG_COUNT + 1);
  #amplitude = 0;

  /**
   * @param sampleRate samples per second
   * @param frameLength samples in 20 ms
   */
  constructor(sampleRate: number, frameLength: number) {
    this.#sampleRate = sampleRate;
    const terms = frameLength - LAG_COUNT;
    const edge = EDGE * terms;
    const weights = Float64Array.from({ length: terms }, (_, i) => {
      const position = Math.min(1, (i + 0.5) / edge, (terms - i - 0.5) / edge);
      return 0.5 - 0.5 * Math.cos(Math.PI * position);
    });
    const sum = weights.reduce((total, weight) => total + weight, 0);
    this.#weights = weights.map((weight) => weight / sum);
    this.#weightedFrame = new Float64Array(terms);
  }

  /** The frequency of the frame's tone, Hz; 0 if the frame is not a tone. */
  hzOf(frame: Float64Array): number {
    if (!isSteady(frame, 0, NOISE_FLOOR, MAX_BEAT)) return 0;
    const weightedFrame = this.#weightedFrame;
    for (let i = 0; i < weightedFrame.length; i++) weightedFrame[i] = frame[i]! * this.#weights[i]!;
    this.#correlate(frame, 0, 2);
    const r0 = this.#lags[0]!;
    const r1 = this.#lags[1]!;
    const r2 = this.#lags[2]!;
    // r1 is A cos(w), r2 is A cos(2w); white noise affects only r0, which is not used.
    const cosine = r1 === 0 ? 0 : (r2 + Math.sqrt(r2 * r2 + 8 * r1 * r1)) / (4 * r1);
    if (!(Math.abs(cosine) < 1)) return 0;
    // Rules out most other sounds early.
    if (Math.max(Math.abs(r1), Math.abs(r2)) < INITIAL_TONE_SHARE * r0) return 0;
    this.#correlate(frame, 3, LAG_COUNT);
    const angle = this.#refine(Math.acos(cosine));
    const hz = (angle * this.#sampleRate) / (2 * Math.PI);
    if (hz <= MIN_HZ || hz >= MAX_HZ) return 0;
    const residual = this.#residual(angle);
    const a = this.#amplitude;
    return a > MIN_TONE_SHARE * r0 && residual < MAX_RESIDUAL * LAG_COUNT * a * a ? hz : 0;
  }

  #correlate(frame: Float64Array, first: number, last: number): void {
    for (let lag = first; lag <= last; lag++) {
      const weightedFrame = this.#weightedFrame;
      let sum = 0;
      for (let i = 0; i < weightedFrame.length; i++) sum += weightedFrame[i]! * frame[i + lag]!;
      this.#lags[lag] = sum;
    }
  }

  /** The angle per sample near a guess with the least residual: a coarse search, then a fine search. */
  #refine(guess: number): number {
    let best = guess;
    let minResidual = Number.POSITIVE_INFINITY;
    for (let width = SEARCH * guess, round = 0; round < 3; round++, width /= STEPS) {
      const middle = best;
      for (let step = -STEPS; step <= STEPS; step++) {
        const angle = middle + (step * width) / STEPS;
        const residual = this.#residual(angle);
        if (residual >= minResidual) continue;
        minResidual = residual;
        best = angle;
      }
    }
    return best;
  }

  /** The residual of lags 1 to 10 without the best A cos(kw); stores A in `#amplitude`. */
  #residual(angle: number): number {
    const twoCosines = 2 * Math.cos(angle);
    let before = 1;
    let cosine = twoCosines / 2;
    let product = 0;
    let square = 0;
    let total = 0;
    for (let lag = 1; lag <= LAG_COUNT; lag++) {
      const value = this.#lags[lag]!;
      product += value * cosine;
      square += cosine * cosine;
      total += value * value;
      const next = twoCosines * cosine - before;
      before = cosine;
      cosine = next;
    }
    this.#amplitude = product / square;
    return total - this.#amplitude * product;
  }
}

/**
 * True if most of the energy of 20 ms of audio, from `start` on, may be below 700 Hz, like that of two network tones.
 */
export function mayBePair(samples: Float64Array, start: number, factor: number): boolean {
  let energy = 0;
  let product = 0;
  for (let i = start + factor; i < samples.length; i++) {
    const sample = samples[i]!;
    energy += sample * sample;
    product += sample * samples[i - factor]!;
  }
  return energy >= INITIAL_NOISE_FLOOR * (samples.length - start) && product >= LOW_SHARE * energy;
}

/** True if samples are too quiet for a tone. */
export function isQuiet(samples: Int16Array): boolean {
  let energy = 0;
  for (let i = 0; i < samples.length; i++) energy += samples[i]! * samples[i]!;
  return energy < INITIAL_NOISE_FLOOR * samples.length;
}

/** True if 20 ms of audio at any rate, from `start` on, may be a tone: most frames are silence or speech. */
export function mayBeTone(samples: Float64Array, start: number): boolean {
  return isSteady(samples, start, INITIAL_NOISE_FLOOR, INITIAL_MAX_BEAT);
}

/** True if a frame is loud enough, with a constant level. */
function isSteady(samples: Float64Array, start: number, floor: number, maxBeat: number): boolean {
  const length = samples.length - start;
  const partLength = length >> 3;
  let minEnergy = Number.POSITIVE_INFINITY;
  let maxEnergy = 0;
  let total = 0;
  for (let from = start; from + partLength <= samples.length; from += partLength) {
    let energy = 0;
    for (let i = from; i < from + partLength; i++) energy += samples[i]! * samples[i]!;
    if (energy < minEnergy) minEnergy = energy;
    if (energy > maxEnergy) maxEnergy = energy;
    total += energy;
  }
  return total >= floor * length && maxEnergy <= maxBeat * minEnergy;
}
