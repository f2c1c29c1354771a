/** Size of a window, samples. */
const WINDOW = 1024;
/** Mean level above which a window may be noise: 65 % of that of random bytes, and far above speech. */
const MIN_LEVEL = 0.35 * 32_768;
/** Maximum correlation of neighbouring noise samples; samples of a sound are more similar. */
const MAX_CORRELATION = 0.25;
/** Number of consecutive noise windows that prove that the bytes are not samples. */
const NOISY_WINDOWS = 3;

/**
 * Recognises bytes that are not samples: compressed or encrypted data, and samples in another byte order, are noise at
 * full level. Speech, music and the noise of a room are not, because their samples are quieter and resemble their
 * neighbours.
 */
export class NoiseWatch {
  #count = 0;
  #level = 0;
  #energy = 0;
  #product = 0;
  #lastSample = 0;
  #noisyWindowCount = 0;

  /** True if the latest windows are noise. */
  push(samples: Int16Array): boolean {
    for (const sample of samples) {
      this.#level += Math.abs(sample);
      this.#energy += sample * sample;
      this.#product += sample * this.#lastSample;
      this.#lastSample = sample;
      if (++this.#count === WINDOW) this.#endWindow();
      if (this.#noisyWindowCount >= NOISY_WINDOWS) return true;
    }
    return false;
  }

  #endWindow(): void {
    const isNoise =
      this.#level / WINDOW > MIN_LEVEL && Math.abs(this.#product) < MAX_CORRELATION * Math.max(1, this.#energy);
    this.#noisyWindowCount = isNoise ? this.#noisyWindowCount + 1 : 0;
    this.#count = this.#level = this.#energy = this.#product = 0;
  }
}
