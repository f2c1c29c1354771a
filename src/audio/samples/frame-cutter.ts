/** Cuts a stream of samples, in pieces of any length, into frames of one length. Allocates nothing once created. */
export class FrameCutter {
  readonly #frame: Int16Array;
  readonly #emit: (frame: Int16Array) => void;
  #filledSamples: number;

  /**
   * @param length length of a frame, samples
   * @param emit receives each frame; the array is reused afterwards
   * @param leadingSilence samples of silence at the start of the first frame
   */
  constructor(length: number, emit: (frame: Int16Array) => void, leadingSilence = 0) {
    this.#frame = new Int16Array(length);
    this.#emit = emit;
    this.#filledSamples = leadingSilence;
  }

  /** Number of samples in the unfinished frame. */
  get filledSamples(): number {
    return this.#filledSamples;
  }

  /** Length of a frame, samples. */
  get length(): number {
    return this.#frame.length;
  }

  /** Adds `length` samples of `samples` from `from` on; without samples, that much silence. */
  push(samples: Int16Array | undefined, from: number, length: number): void {
    const frame = this.#frame;
    for (let copiedSamples = 0; copiedSamples < length; ) {
      const at = this.#filledSamples;
      const copyCount = Math.min(length - copiedSamples, frame.length - at);
      if (samples === undefined) frame.fill(0, at, at + copyCount);
      else for (let i = 0; i < copyCount; i++) frame[at + i] = samples[from + copiedSamples + i]!;
      copiedSamples += copyCount;
      this.#filledSamples = at + copyCount;
      if (this.#filledSamples < frame.length) continue;
      this.#filledSamples = 0;
      this.#emit(frame);
    }
  }
}
