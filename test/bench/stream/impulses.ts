/** Peak of an impulse, which can be found in silence on any path of the audio, resampled or not. */
const PEAK = 24_000;
/** Half of an impulse's level after resampling to twice or half the rate; the ringing stays below it. */
const MIN_LEVEL = { up: 11_000, down: 4_500 } as const;
/** Samples within which ringing belongs to an impulse; successive impulses are further apart. */
const MIN_DISTANCE_MS = 2.5;
/** Audio that a resampler holds back at the end of a message, ms. */
export const RESAMPLER_DELAY_MS = 2.5;

/** Finds impulses in the frames of one stream. */
export class ImpulseFinder {
  readonly #minLevel: number;
  readonly #minDistance: number;
  /** Number of samples since the last impulse. */
  #samplesSince = Infinity;

  /** @param direction `up` if the resampler raises or keeps the rate, `down` if it lowers it */
  constructor(sampleRate: number, direction: keyof typeof MIN_LEVEL) {
    this.#minLevel = MIN_LEVEL[direction];
    this.#minDistance = (MIN_DISTANCE_MS * sampleRate) / 1000;
  }

  /** Number of impulses that start in the next frame. */
  count(frame: Int16Array): number {
    let count = 0;
    for (let i = 0; i < frame.length; i++) {
      this.#samplesSince++;
      if (frame[i]! <= this.#minLevel) continue;
      if (this.#samplesSince > this.#minDistance) count++;
      this.#samplesSince = 0;
    }
    return count;
  }
}

/** Puts an impulse into a silent frame. @param share share of the frame that precedes the impulse, 0 to 1 */
export function addImpulse(frame: Int16Array, share: number): void {
  frame[Math.floor(share * frame.length)] = PEAK;
}
