import { Similarity } from "./similarity.ts";

/** Duration of full level, and end of the following fade to silence, ms. */
const HOLD_MS = 20;
const FADE_UNTIL_MS = 100;
/** Fade after the codec's own concealment, ms. */
const AFTER_CODEC_MS = 40;
/** Fade of audio that ends without loss (a key, a pause of the peer), ms. */
const QUICK_FADE_MS = 5;
/** Cross-fade between concealed and decoded audio, ms. */
const CROSS_FADE_MS = 5;
/** Similarity below which the signal has no period; a short loop would hum. */
const MIN_PERIODIC_SIMILARITY = 0.5;

/**
 * Conceals lost audio: repeats the last period of the voice, fading out within 100 ms, with cross-fades at both ends (after
 * ITU-T G.711 appendix I). Then silence.
 */
export class Concealment {
  /** Samples before the gap that are analysed. */
  readonly history: number;
  readonly #similarity: Similarity;
  readonly #sampleRate: number;
  /** One pitch period that loops seamlessly. */
  readonly #loop: Float32Array;
  #period = 0;
  /** Samples concealed since the gap began; -1 outside of gaps. */
  #concealed = -1;
  #offset = 0;
  #hold = 0;
  #end = 0;

  /** @param sampleRate Hz */
  constructor(sampleRate: number) {
    this.#sampleRate = sampleRate;
    this.#similarity = new Similarity(sampleRate);
    this.#loop = new Float32Array(this.#similarity.maxLag);
    this.history = 2 * this.#similarity.maxLag + this.#similarity.window;
  }

  /** True if the previous sample was concealed. */
  get isActive(): boolean {
    return this.#concealed >= 0;
  }

  /**
   * Fills `line` from `tail` on with `samples` concealed ones; at least `history` played samples must lie before
   * `tail`.
   *
   * @param afterCodec true if the codec has already concealed the start of the gap
   */
  fill(line: Int16Array, tail: number, samples: number, afterCodec: boolean): void {
    if (this.#concealed < 0) {
      if (afterCodec) this.#begin(line, tail, 0, AFTER_CODEC_MS);
      else this.#begin(line, tail, HOLD_MS, FADE_UNTIL_MS);
    }
    for (let i = 0; i < samples; i++) line[tail + i] = this.#next();
  }

  /** Fills a gap without loss in the same way, but the last audio fades at once. */
  hush(line: Int16Array, tail: number, samples: number): void {
    if (this.#concealed < 0) this.#begin(line, tail, 0, QUICK_FADE_MS);
    else this.#end = Math.min(this.#end, this.#concealed + this.#samples(QUICK_FADE_MS));
    for (let i = 0; i < samples; i++) line[tail + i] = this.#next();
  }

  /**
   * Ends the gap: blends the first of the `samples` decoded samples at `tail` with the concealment.
   * @returns the number of blended samples; 0 if the concealment was silent already
   */
  resume(line: Int16Array, tail: number, samples: number): number {
    if (this.#concealed < 0) return 0;
    const fade = Math.min(samples, this.#samples(CROSS_FADE_MS));
    const blendedCount = Math.max(0, Math.min(fade, this.#end - this.#concealed));
    for (let i = 0; i < fade; i++) {
      const share = (i + 1) / (fade + 1);
      line[tail + i] = Math.round(share * line[tail + i]! + (1 - share) * this.#next());
    }
    this.#concealed = -1;
    return blendedCount;
  }

  #begin(line: Int16Array, tail: number, holdMs: number, endMs: number): void {
    const similarity = this.#similarity;
    similarity.search(line, tail - similarity.window, -1);
    const period = similarity.correlation < MIN_PERIODIC_SIMILARITY ? similarity.maxLag : similarity.lag;
    const blend = period >> 2;
    for (let i = 0; i < period; i++) {
      const share = Math.max(0, (i - (period - blend) + 1) / (blend + 1));
      this.#loop[i] = (1 - share) * line[tail - period + i]! + share * line[tail - 2 * period + i]!;
    }
    this.#period = period;
    this.#concealed = 0;
    this.#hold = this.#samples(holdMs);
    this.#end = this.#samples(endMs);
    // The loop starts one period back: the offset between the two is faded out gradually.
    this.#offset = line[tail - 1]! - line[tail - period - 1]!;
  }

  #next(): number {
    const at = this.#concealed++;
    if (at >= this.#end) return 0;
    const gain = at < this.#hold ? 1 : (this.#end - at) / (this.#end - this.#hold);
    const offset = at < this.#period ? this.#offset * (1 - at / this.#period) : 0;
    return Math.max(-32768, Math.min(32767, Math.round(gain * (this.#loop[at % this.#period]! + offset))));
  }

  #samples(ms: number): number {
    return (ms * this.#sampleRate) / 1000;
  }
}
