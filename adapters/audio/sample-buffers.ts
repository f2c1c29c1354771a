/** Buffers of one length that are used over and over. */
export class SampleBuffers {
  /** Samples in one buffer. */
  readonly length: number;
  readonly #spares: number;
  readonly #unused: Int16Array<ArrayBuffer>[] = [];

  /**
   * @param length of a buffer, samples
   * @param spares number of unused buffers that are kept
   */
  constructor(length: number, spares: number) {
    this.length = length;
    this.#spares = spares;
  }

  take(): Int16Array<ArrayBuffer> {
    return this.#unused.pop() ?? new Int16Array(this.length);
  }

  /** Returns a buffer; the caller must not use it any more. */
  release(buffer: Int16Array<ArrayBuffer>): void {
    if (this.#unused.length < this.#spares) this.#unused.push(buffer);
  }
}
