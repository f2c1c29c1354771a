/** The range of pitches, Hz: from a deep voice to a child's. */
const [MIN_PITCH_HZ, MAX_PITCH_HZ] = [70, 400];
/** A little more than two periods of the lowest pitch, ms. */
const WINDOW_MS = 40;
/** Approximate rate at which the sound is compared with itself, Hz. */
const RATE = 8_000;
/** Cut-off frequency, Hz: most of the energy of rumble is below it, and little of the voice. */
const CUTOFF_HZ = 300;
/** Minimum similarity of two periods of a vowel: 1 means identical. Noise reaches 0.4. */
const MIN_SIMILARITY = 0.55;

/**
 * Recognises the vowels of a voice, even in noise: they repeat themselves 70 to 400 times a second, as hums and tones
 * do. The noise of engines, wind and rooms does not, however low-pitched. Allocates nothing.
 */
export class Pitch {
  /** Number of samples averaged into one. */
  readonly #factor: number;
  readonly #decay: number;
  readonly #minLag: number;
  readonly #maxLag: number;
  /** The latest sound without its low frequencies. */
  readonly #window: Float64Array;
  #sum = 0;
  #summandCount = 0;
  #lastValue = 0;
  #highPassed = 0;

  /** @param sampleRate samples per second */
  constructor(sampleRate: number) {
    this.#factor = Math.max(1, Math.round(sampleRate / RATE));
    const rate = sampleRate / this.#factor;
    this.#decay = Math.exp((-2 * Math.PI * CUTOFF_HZ) / rate);
    this.#minLag = Math.round(rate / MAX_PITCH_HZ);
    this.#maxLag = Math.round(rate / MIN_PITCH_HZ);
    this.#window = new Float64Array(Math.round((rate * WINDOW_MS) / 1_000));
  }

  /** Adds the next samples, any number of them. */
  push(frame: Int16Array): void {
    const window = this.#window;
    const addedCount = Math.floor((this.#summandCount + frame.length) / this.#factor);
    let index = window.length - addedCount;
    window.copyWithin(0, Math.min(addedCount, window.length));
    for (const sample of frame) {
      this.#sum += sample;
      if (++this.#summandCount < this.#factor) continue;
      const value = this.#sum / this.#factor;
      this.#highPassed = this.#decay * (this.#highPassed + value - this.#lastValue);
      this.#lastValue = value;
      this.#sum = this.#summandCount = 0;
      if (index >= 0) window[index] = this.#highPassed;
      index++;
    }
  }

  /** True if the latest 40 ms of sound is periodic like a vowel. Computed on demand. */
  get isVoice(): boolean {
    const window = this.#window;
    const { length } = window;
    let total = 0;
    for (const value of window) total += value * value;
    // The energies of the two parts that are compared: all but the first, and all but the last samples.
    let [laterEnergy, earlierEnergy] = [total, total];
    for (let lag = 1; lag <= this.#maxLag; lag++) {
      laterEnergy -= window[lag - 1]! ** 2;
      earlierEnergy -= window[length - lag]! ** 2;
      if (lag < this.#minLag) continue;
      let product = 0;
      for (let at = lag; at < length; at++) product += window[at]! * window[at - lag]!;
      if (product > 0 && product * product >= MIN_SIMILARITY ** 2 * laterEnergy * earlierEnergy) return true;
    }
    return false;
  }
}
