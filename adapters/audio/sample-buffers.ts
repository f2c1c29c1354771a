/** A pool of buffers of the same length. */
export class SampleBuffers {
  /** Number of samples in one buffer. */
  readonly length: number;
  readonly #maxSpares: number;
  readonly #freeBuffers: Int16Array<ArrayBuffer>[] = [];

  /**
   * @param length length of each buffer, samples
   * @param maxSpares maximum number of unused buffers kept
   */
  constructor(length: number, maxSpares: number) {
    this.length = length;
    this.#maxSpares = maxSpares;
  }

  /** Takes an unused buffer out of the pool, or creates one. */
  take(): Int16Array<ArrayBuffer> {
    return this.#freeBuffers.pop() ?? new Int16Array(this.length);
  }

  /** Puts a buffer back; the caller must not use it afterwards. */
  release(buffer: Int16Array<ArrayBuffer>): void {
    if (this.#freeBuffers.length < this.#maxSpares) this.#freeBuffers.push(buffer);
  }
}
