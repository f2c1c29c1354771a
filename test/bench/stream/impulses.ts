/** An impulse in silence can be found on any path of the audio, resampled or not. */
const PEAK = 24_000;
/** Half of its level after resampling to twice or half the rate; its ringing is below this. */
const LEAST = { up: 11_000, down: 4_500 } as const;
/** Samples within which ringing belongs to an impulse; successive impulses are further apart. */
const APART_MS = 2.5;
/** Audio at the end of a message that a resampler holds back, ms. */
export const HELD_MS = 2.5;

/** Finds impulses in the frames of one stream. */
export class ImpulseFinder {
  readonly #least: number;
  readonly #apart: number;
  /** Number of samples since the last impulse. */
  #quiet = Infinity;

  /** @param way whether the rate becomes higher (or stays the same), or lower */
  constructor(sampleRate: number, way: keyof typeof LEAST) {
    this.#least = LEAST[way];
    this.#apart = (APART_MS * sampleRate) / 1000;
  }

  /** Number of impulses that start in the next frame. */
  count(frame: Int16Array): number {
    let count = 0;
    for (let i = 0; i < frame.length; i++) {
      this.#quiet++;
      if (frame[i]! <= this.#least) continue;
      if (this.#quiet > this.#apart) count++;
      this.#quiet = 0;
    }
    return count;
  }
}

/** Puts an impulse into a silent frame. @param share of the frame before it, 0 to 1 */
export function addImpulse(frame: Int16Array, share: number): void {
  frame[Math.floor(share * frame.length)] = PEAK;
}
