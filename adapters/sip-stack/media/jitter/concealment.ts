import { Similarity } from "./similarity.ts";

/** Duration of full level, and end of the following fade to silence, ms. */
const HOLD_MS = 20;
const FADE_END_MS = 100;
/** Fade after the codec's own concealment, ms. */
const CODEC_FADE_MS = 40;
/** Fade of audio that ends without loss (a key, a pause by the peer), ms. */
const QUICK_FADE_MS = 5;
/** Cross-fade between concealed and decoded audio, ms. */
const CROSS_FADE_MS = 5;
/** Similarity below which the signal is treated as aperiodic, because a short loop of it would hum. */
const MIN_PERIODIC_SIMILARITY = 0.5;

/**
 * Conceals lost audio: repeats the last period of the voice, fading to silence within 100 ms, with cross-fades at both
 * ends (after ITU-T G.711 appendix I).
 */
export class Concealment {
  /** Number of samples before the gap that are analysed. */
  readonly history: number;
  readonly #similarity: Similarity;
  readonly #sampleRate: number;
  /** One pitch period that loops seamlessly. */
  readonly #loop: Float32Array;
  #period = 0;
  /** Number of samples concealed since the gap began; -1 outside of gaps. */
  #concealedSamples = -1;
  #offset = 0;
  #fadeStart = 0;
  #fadeEnd = 0;

  /** @param sampleRate Hz */
  constructor(sampleRate: number) {
    this.#sampleRate = sampleRate;
    this.#similarity = new Similarity(sampleRate);
    this.#loop = new Float32Array(this.#similarity.maxLag);
    this.history = 2 * this.#similarity.maxLag + this.#similarity.window;
  }

  /** True if the previous sample was concealed. */
  get isActive(): boolean {
    return this.#concealedSamples >= 0;
  }

  /**
   * Writes `samples` concealed samples to `buffer` from `tail` on; at least `history` played samples must lie before
   * `tail`.
   *
   * @param isAfterCodec true if the codec has already concealed the start of the gap
   */
  fill(buffer: Int16Array, tail: number, samples: number, isAfterCodec: boolean): void {
    if (this.#concealedSamples < 0) {
      if (isAfterCodec) this.#begin(buffer, tail, 0, CODEC_FADE_MS);
      else this.#begin(buffer, tail, HOLD_MS, FADE_END_MS);
    }
    for (let i = 0; i < samples; i++) buffer[tail + i] = this.#next();
  }

  /** Fills a gap without loss in the same way, but the last audio fades immediately. */
  fadeOut(buffer: Int16Array, tail: number, samples: number): void {
    if (this.#concealedSamples < 0) this.#begin(buffer, tail, 0, QUICK_FADE_MS);
    else this.#fadeEnd = Math.min(this.#fadeEnd, this.#concealedSamples + this.#samples(QUICK_FADE_MS));
    for (let i = 0; i < samples; i++) buffer[tail + i] = this.#next();
  }

  /**
   * Ends the gap: blends the first of the `samples` decoded samples at `tail` with the concealment.
   * @returns the number of blended samples; 0 if the concealment was already silent
   */
  resume(buffer: Int16Array, tail: number, samples: number): number {
    if (this.#concealedSamples < 0) return 0;
    const fade = Math.min(samples, this.#samples(CROSS_FADE_MS));
    const blendedCount = Math.max(0, Math.min(fade, this.#fadeEnd - this.#concealedSamples));
    for (let i = 0; i < fade; i++) {
      const share = (i + 1) / (fade + 1);
      buffer[tail + i] = Math.round(share * buffer[tail + i]! + (1 - share) * this.#next());
    }
    this.#concealedSamples = -1;
    return blendedCount;
  }

  #begin(buffer: Int16Array, tail: number, holdMs: number, endMs: number): void {
    const similarity = this.#similarity;
    similarity.search(buffer, tail - similarity.window, -1);
    const period = similarity.correlation < MIN_PERIODIC_SIMILARITY ? similarity.maxLag : similarity.lag;
    const blend = period >> 2;
    for (let i = 0; i < period; i++) {
      const share = Math.max(0, (i - (period - blend) + 1) / (blend + 1));
      this.#loop[i] = (1 - share) * buffer[tail - period + i]! + share * buffer[tail - 2 * period + i]!;
    }
    this.#period = period;
    this.#concealedSamples = 0;
    this.#fadeStart = this.#samples(holdMs);
    this.#fadeEnd = this.#samples(endMs);
    // The loop starts one period back: the offset between the two is faded out gradually.
    this.#offset = buffer[tail - 1]! - buffer[tail - period - 1]!;
  }

  #next(): number {
    const at = this.#concealedSamples++;
    if (at >= this.#fadeEnd) return 0;
    const gain = at < this.#fadeStart ? 1 : (this.#fadeEnd - at) / (this.#fadeEnd - this.#fadeStart);
    const offset = at < this.#period ? this.#offset * (1 - at / this.#period) : 0;
    return Math.max(-32768, Math.min(32767, Math.round(gain * (this.#loop[at % this.#period]! + offset))));
  }

  #samples(ms: number): number {
    return (ms * this.#sampleRate) / 1000;
  }
}
