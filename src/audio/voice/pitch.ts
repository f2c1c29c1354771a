/** The range of pitches, Hz: from a deep voice to a child's. */
const [LOWEST_HZ, HIGHEST_HZ] = [70, 400];
/** A little more than two periods of the lowest pitch, ms. */
const WINDOW_MS = 40;
/** Approximate rate at which the sound is compared with itself, Hz. */
const RATE = 8_000;
/** Cut-off frequency, Hz: rumble has most of its energy below it, and voice little that matters. */
const CUT_HZ = 300;
/** Likeness of two periods of a vowel: 1 is the same. Noise reaches 0.4. */
const MIN_LIKENESS = 0.55;

/**
 * Recognises the vowels of a voice, in noise too: they repeat themselves 70 to 400 times a second, and the noise of engines,
 * wind and rooms does not, however low it is. Hums and tones do. Allocates nothing.
 */
export class Pitch {
  /** Number of samples averaged into one. */
  readonly #every: number;
  readonly #decay: number;
  readonly #shortest: number;
  readonly #longest: number;
  /** The latest sound without its low frequencies. */
  readonly #window: Float64Array;
  #sum = 0;
  #summed = 0;
  #before = 0;
  #high = 0;

  /** Takes the rate in samples per second. */
  constructor(sampleRate: number) {
    this.#every = Math.max(1, Math.round(sampleRate / RATE));
    const rate = sampleRate / this.#every;
    this.#decay = Math.exp((-2 * Math.PI * CUT_HZ) / rate);
    this.#shortest = Math.round(rate / HIGHEST_HZ);
    this.#longest = Math.round(rate / LOWEST_HZ);
    this.#window = new Float64Array(Math.round((rate * WINDOW_MS) / 1_000));
  }

  /** Takes the next samples, of any number. */
  push(frame: Int16Array): void {
    const window = this.#window;
    const added = Math.floor((this.#summed + frame.length) / this.#every);
    let place = window.length - added;
    window.copyWithin(0, Math.min(added, window.length));
    for (const sample of frame) {
      this.#sum += sample;
      if (++this.#summed < this.#every) continue;
      const value = this.#sum / this.#every;
      this.#high = this.#decay * (this.#high + value - this.#before);
      this.#before = value;
      this.#sum = this.#summed = 0;
      if (place >= 0) window[place] = this.#high;
      place++;
    }
  }

  /** True if the latest 40 ms are periodic like a vowel. Computed on demand. */
  get isVoice(): boolean {
    const window = this.#window;
    const { length } = window;
    let total = 0;
    for (const value of window) total += value * value;
    // The energies of the two parts that are compared: all but the first, and all but the last samples.
    let [later, earlier] = [total, total];
    for (let lag = 1; lag <= this.#longest; lag++) {
      later -= window[lag - 1]! ** 2;
      earlier -= window[length - lag]! ** 2;
      if (lag < this.#shortest) continue;
      let product = 0;
      for (let at = lag; at < length; at++) product += window[at]! * window[at - lag]!;
      if (product > 0 && product * product >= MIN_LIKENESS ** 2 * later * earlier) return true;
    }
    return false;
  }
}
