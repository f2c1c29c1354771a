/** Cuts a stream of samples, in pieces of any length, into frames of one length. Allocates nothing once created. */
export class FrameCutter {
  readonly #frame: Int16Array;
  readonly #emit: (frame: Int16Array) => void;
  #filled: number;

  /**
   * @param length of a frame, samples
   * @param emit receives each frame; the array is reused afterwards
   * @param silence samples of silence at the start of the first frame
   */
  constructor(length: number, emit: (frame: Int16Array) => void, silence = 0) {
    this.#frame = new Int16Array(length);
    this.#emit = emit;
    this.#filled = silence;
  }

  /** Number of samples in the unfinished frame. */
  get filled(): number {
    return this.#filled;
  }

  /** Length of a frame, samples. */
  get length(): number {
    return this.#frame.length;
  }

  /** Adds `length` samples of `samples` from `from` on; without samples, that much silence. */
  push(samples: Int16Array | undefined, from: number, length: number): void {
    const frame = this.#frame;
    for (let done = 0; done < length; ) {
      const at = this.#filled;
      const take = Math.min(length - done, frame.length - at);
      if (samples === undefined) frame.fill(0, at, at + take);
      else for (let i = 0; i < take; i++) frame[at + i] = samples[from + done + i]!;
      done += take;
      this.#filled = at + take;
      if (this.#filled < frame.length) continue;
      this.#filled = 0;
      this.#emit(frame);
    }
  }
}
