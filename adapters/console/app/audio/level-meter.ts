/** Level below which audio counts as silence, dB of full scale. */
const FLOOR_DB = -60;

/** The level of audio, over windows of a fixed length. Allocates nothing. */
export class LevelMeter {
  readonly #window: number;
  #energy = 0;
  #count = 0;
  #level = 0;

  /** @param window samples of one window */
  constructor(window: number) {
    this.#window = window;
  }

  /** The level of the last whole window: 0 for silence (-60 dB) to 100 for full scale. */
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

/** 0 to 100 for a mean square. A sine at full scale has 97: its mean square is half. */
function levelOf(meanSquare: number): number {
  if (!(meanSquare > 0)) return 0;
  const db = 10 * Math.log10(meanSquare);
  return Math.max(0, Math.min(100, Math.round(100 * (1 - db / FLOOR_DB))));
}
