/** Level below which audio counts as silence, dB of full scale. */
const FLOOR_DB = -60;

/** Measures the audio level over windows of a fixed length. Allocates nothing. */
export class LevelMeter {
  readonly #window: number;
  #energy = 0;
  #count = 0;
  #level = 0;

  /** @param window number of samples in one window */
  constructor(window: number) {
    this.#window = window;
  }

  /** The level of the last complete window: 0 for silence (-60 dB) to 100 for full scale. */
  get level(): number {
    return this.#level;
  }

  /** Measures samples, from -1 to 1. */
  push(samples: Float32Array): void {
    for (let i = 0; i < samples.length; i++) {
      const sample = samples[i]!;
      this.#energy += sample * sample;
      if (++this.#count < this.#window) continue;
      this.#level = levelOf(this.#energy / this.#count);
      this.#energy = 0;
      this.#count = 0;
    }
  }
}

/** The level for a mean square, 0 to 100. A full-scale sine is at 97, since its mean square is one half. */
function levelOf(meanSquare: number): number {
  if (!(meanSquare > 0)) return 0;
  const db = 10 * Math.log10(meanSquare);
  return Math.max(0, Math.min(100, Math.round(100 * (1 - db / FLOOR_DB))));
}
