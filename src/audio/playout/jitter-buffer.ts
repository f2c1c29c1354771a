import { msToSamples } from "../samples/pcm.ts";

/** Options of a {@link JitterBuffer}. */
export interface JitterBufferOptions {
  readonly sampleRate: number;
  /** Length of the audio gathered before the first sample is played, ms. */
  readonly targetMs: number;
  /** Maximum length of buffered audio, ms. */
  readonly maxMs: number;
  /**
   * Minimum amount by which the target exceeds the largest piece so far, ms: the reserve left when the next piece is
   * due. Default: 0.
   */
  readonly spareMs?: number;
}

/**
 * Evens out audio that arrives in bursts, in a fixed amount of memory. Playback starts once `targetMs` of audio, or
 * more if the pieces are large, is buffered; buffering starts again after the buffer has run dry. If more than `maxMs`
 * would be buffered, the oldest audio is dropped, so that the delay returns to the target.
 */
export class JitterBuffer {
  readonly #ring: Int16Array;
  readonly #spareSamples: number;
  #target: number;
  /** Position of the oldest sample. */
  #readIndex = 0;
  #length = 0;
  #isPlaying = false;
  #droppedSamples = 0;

  constructor({ sampleRate, targetMs, maxMs, spareMs = 0 }: JitterBufferOptions) {
    this.#spareSamples = msToSamples(spareMs, sampleRate);
    this.#target = msToSamples(targetMs, sampleRate);
    this.#ring = new Int16Array(Math.max(this.#target, msToSamples(maxMs, sampleRate)));
  }

  /** Number of buffered samples. */
  get length(): number {
    return this.#length;
  }

  /** Number of samples that have been dropped so far. */
  get droppedSamples(): number {
    return this.#droppedSamples;
  }

  /** Adds audio. Only the first `count` samples are used. Default: all. */
  write(samples: Int16Array, count: number = samples.length): void {
    const ring = this.#ring;
    const first = Math.max(0, count - ring.length);
    const addedCount = count - first;
    this.#target = Math.max(this.#target, Math.min(addedCount + this.#spareSamples, ring.length));
    if (this.#length + addedCount > ring.length)
      this.#drop(this.#length + addedCount - Math.max(this.#target, addedCount));
    this.#droppedSamples += first;
    let to = (this.#readIndex + this.#length) % ring.length;
    for (let i = first; i < count; i++) {
      ring[to] = samples[i]!;
      if (++to === ring.length) to = 0;
    }
    this.#length += addedCount;
  }

  /** Fills the whole frame, with silence after the last sample; returns the number of audio samples. */
  read(frame: Int16Array): number {
    if (!this.#isPlaying && this.#length < this.#target) {
      frame.fill(0);
      return 0;
    }
    const ring = this.#ring;
    const count = Math.min(frame.length, this.#length);
    for (let i = 0; i < count; i++) {
      frame[i] = ring[this.#readIndex]!;
      if (++this.#readIndex === ring.length) this.#readIndex = 0;
    }
    frame.fill(0, count);
    this.#length -= count;
    this.#isPlaying = count === frame.length;
    return count;
  }

  /** Drops all buffered audio. */
  clear(): void {
    this.#drop(this.#length);
    this.#isPlaying = false;
  }

  #drop(count: number): void {
    this.#readIndex = (this.#readIndex + count) % this.#ring.length;
    this.#length -= count;
    this.#droppedSamples += count;
  }
}
