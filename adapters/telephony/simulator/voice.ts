import { toSample } from "../../../src/audio/samples/pcm.ts";

const SYLLABLE_MS = 220;
const MS_PER_CHARACTER = 65;
/** Centres of two formants (Hz) per syllable: a, i, o, e. */
const FORMANTS: readonly (readonly [number, number])[] = [
  [750, 1200],
  [300, 2200],
  [500, 900],
  [450, 1800],
];

/**
 * A signal with the rhythm and the spectrum of speech, without words: buzzing syllables, with a pause after every
 * fourth one. It lasts as long as the text would take to speak.
 */
export function babble(text: string, sampleRate: number): Int16Array {
  const samples = new Int16Array(Math.round((Math.max(10, text.length) * MS_PER_CHARACTER * sampleRate) / 1000));
  const syllables = FORMANTS.map((formants, index) => syllable(formants, 110 + 8 * index, sampleRate));
  const length = Math.round((SYLLABLE_MS * sampleRate) / 1000);
  for (let index = 0; index * length < samples.length; index++) {
    const samplesOfSyllable = syllables[index % (syllables.length + 1)];
    if (samplesOfSyllable !== undefined)
      samples.set(samplesOfSyllable.subarray(0, samples.length - index * length), index * length);
  }
  return samples;
}

function syllable([first, second]: readonly [number, number], pitch: number, sampleRate: number): Int16Array {
  const sum = new Float64Array(Math.round((SYLLABLE_MS * sampleRate) / 1000));
  for (let hz = pitch; hz < 3_400; hz += pitch) {
    const gain =
      (0.1 * pitch) / hz + Math.exp(-(((hz - first) / 200) ** 2)) + 0.5 * Math.exp(-(((hz - second) / 250) ** 2));
    const step = (2 * Math.PI * hz) / sampleRate;
    for (let i = 0; i < sum.length; i++) sum[i] = sum[i]! + gain * Math.sin(step * i);
  }
  return Int16Array.from(sum, (value, i) => toSample(3_000 * value * Math.sin((Math.PI * i) / sum.length) ** 2));
}

/** Synthesises a sentence as samples at `sampleRate`. */
export type Say = (text: string, sampleRate: number) => Promise<Int16Array>;

/**
 * The callees' voices: call `say` once for each sentence and cache the samples. Without `say`, or if it fails, they
 * {@link babble}.
 */
export class Voices {
  readonly #say: Say | undefined;
  readonly #onError: (fault: unknown) => void;
  readonly #speech = new Map<string, Promise<Int16Array>>();

  /** @param onError called with each error from `say` */
  constructor(say: Say | undefined, onError: (fault: unknown) => void) {
    this.#say = say;
    this.#onError = onError;
  }

  /** The sentence as samples. Never rejects. */
  speak(text: string, sampleRate: number): Promise<Int16Array> {
    const key = `${sampleRate} ${text}`;
    const existing = this.#speech.get(key);
    if (existing !== undefined) return existing;
    const speech = this.#synthesize(text, sampleRate);
    this.#speech.set(key, speech);
    return speech;
  }

  async #synthesize(text: string, sampleRate: number): Promise<Int16Array> {
    if (this.#say === undefined) return babble(text, sampleRate);
    try {
      return await this.#say(text, sampleRate);
    } catch (error) {
      this.#onError(error);
      this.#speech.delete(`${sampleRate} ${text}`); // the engine may have recovered by the next call
      return babble(text, sampleRate);
    }
  }
}
