/** The pairs of tones that networks play, Hz (ITU-T E.180, supplement 2). */
export const TONE_PAIRS: readonly (readonly [number, number])[] = [
  [350, 440],
  [400, 450],
  [440, 480],
  [480, 620],
];
const FREQUENCIES = [350, 400, 440, 450, 480, 620];
const PAIRS = TONE_PAIRS.map(([low, high]) => [FREQUENCIES.indexOf(low), FREQUENCIES.indexOf(high)] as const);
/** Minimum share of the two tones in the energy. */
const MIN_SHARE = 0.65;
/** Maximum power ratio of two tones. */
const MAX_TWIST = 6;

/**
 * Finds the two tones that networks play together. Six Goertzel filters over 40 ms: long enough to separate 440 from
 * 480 Hz, short enough for a tone that is 1 % off. Allocates nothing once created.
 */
export class TonePair {
  readonly #coefficients: Float64Array;
  readonly #powers: Float64Array = new Float64Array(FREQUENCIES.length);
  /** The latest two frames. */
  readonly #window: Float64Array;
  #frameCount = 0;

  /**
   * @param sampleRate Hz
   * @param frameLength samples in 20 ms
   */
  constructor(sampleRate: number, frameLength: number) {
    this.#coefficients = Float64Array.from(FREQUENCIES, (hz) => 2 * Math.cos((2 * Math.PI * hz) / sampleRate));
    this.#window = new Float64Array(2 * frameLength);
  }

  /** Skips a frame that is not part of a pair. */
  skip(): void {
    this.#frameCount = 0;
  }

  /** Adds the next frame; returns the index of its pair in {@link TONE_PAIRS}, or -1. */
  push(frame: Float64Array): number {
    const window = this.#window;
    window.copyWithin(0, frame.length);
    window.set(frame, frame.length);
    if (++this.#frameCount < 2) return -1;
    const energy = this.#measure();
    let best = -1;
    let bestPower = (MIN_SHARE * window.length * energy) / 2;
    for (let pair = 0; pair < PAIRS.length; pair++) {
      const [low, high] = PAIRS[pair]!;
      const a = this.#powers[low]!;
      const b = this.#powers[high]!;
      if (a + b <= bestPower || a > MAX_TWIST * b || b > MAX_TWIST * a) continue;
      best = pair;
      bestPower = a + b;
    }
    return best;
  }

  /** Returns the energy of the window; the powers are left in `#powers`. */
  #measure(): number {
    const window = this.#window;
    let energy = 0;
    for (let i = 0; i < window.length; i++) energy += window[i]! * window[i]!;
    for (let tone = 0; tone < FREQUENCIES.length; tone++) {
      const coefficient = this.#coefficients[tone]!;
      let previous = 0;
      let before = 0;
      for (let i = 0; i < window.length; i++) {
        const next = window[i]! + coefficient * previous - before;
        before = previous;
        previous = next;
      }
      this.#powers[tone] = previous * previous + before * before - coefficient * previous * before;
    }
    return energy;
  }
}
