import { msToSamples } from "../samples/pcm.ts";

const STEP_MS = 20;
/** The weight of the newest 20 ms: the average covers about the last second. */
const NEWEST_WEIGHT = 0.03;
/** Minimum average change of speech level from one step to the next, as a share of the level. */
const MIN_CHANGE = 0.125;
/** Minimum change of a sound of less than 0.8 s, which may be a word with one long vowel. */
const MIN_WORD_CHANGE = 0.075;
const WORD_STEPS = 40;
/** Number of steps before the first verdict. */
const FIRST_STEPS = 15;

/**
 * Distinguishes the steady sounds of a line, such as music and ringing, from speech: the level of syllables changes by
 * a quarter or more from one 20 ms step to the next, that of notes hardly changes. Pass it only loud frames. Does not
 * allocate.
 */
export class Steadiness {
  readonly #stepSamples: number;
  #energy = 0;
  #samples = 0;
  #level = 0;
  #lastLevel = 0;
  #change = 0;
  #stepCount = 0;

  /** @param sampleRate samples per second */
  constructor(sampleRate: number) {
    this.#stepSamples = msToSamples(STEP_MS, sampleRate);
  }

  /** True if the sound is too steady for speech; false until enough audio has arrived. */
  get isSteady(): boolean {
    const minChange = this.#stepCount < WORD_STEPS ? MIN_WORD_CHANGE : MIN_CHANGE;
    return this.#stepCount >= FIRST_STEPS && this.#change < minChange * this.#level;
  }

  /** The average change of the level as a share of it. */
  get change(): number {
    return this.#level === 0 ? 0 : this.#change / this.#level;
  }

  /** Adds the next samples, any number of them. */
  push(frame: Int16Array): void {
    for (let at = 0; at < frame.length; ) {
      const end = Math.min(frame.length, at + this.#stepSamples - this.#samples);
      this.#samples += end - at;
      for (; at < end; at++) this.#energy += frame[at]! * frame[at]!;
      if (this.#samples < this.#stepSamples) return;
      this.#step(Math.sqrt(this.#energy / this.#stepSamples));
      this.#energy = 0;
      this.#samples = 0;
    }
  }

  #step(rms: number): void {
    // The first steps have equal weights, so that the first one does not dominate.
    const weight = Math.max(NEWEST_WEIGHT, 1 / ++this.#stepCount);
    this.#level += weight * (rms - this.#level);
    if (this.#stepCount > 1)
      this.#change +=
        Math.max(NEWEST_WEIGHT, 1 / (this.#stepCount - 1)) * (Math.abs(rms - this.#lastLevel) - this.#change);
    this.#lastLevel = rms;
  }
}
