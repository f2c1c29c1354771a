/** Samples in one buffer: 0.48 s at 16 kHz, 15 KiB; whole frames of 20 ms at every rate of telephony. */
export const BUFFER_SAMPLES = 7_680;
/** So many unused buffers are kept, about 1 MiB. */
const KEPT = 64;

/** Buffers that all recordings use over and over: between two writes to the disk a call needs only one of them. */
export class SampleBuffers {
  readonly #unused: Int16Array<ArrayBuffer>[] = [];

  take(): Int16Array<ArrayBuffer> {
    return this.#unused.pop() ?? new Int16Array(BUFFER_SAMPLES);
  }

  /** Its samples are on the disk, or lost; whoever gives a buffer back looks at it no more. */
  giveBack(buffer: Int16Array<ArrayBuffer>): void {
    if (this.#unused.length < KEPT) this.#unused.push(buffer);
  }
}
