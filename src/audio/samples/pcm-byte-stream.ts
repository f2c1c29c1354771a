import { pcmFromBytes, pcmInBytes } from "./pcm.ts";

/** Turns a stream of 16-bit little-endian bytes into samples; a piece may end within a sample. */
export class PcmByteStream {
  #oddByte: number | undefined;

  /** True if the last byte is half a sample. */
  get isOdd(): boolean {
    return this.#oddByte !== undefined;
  }

  /**
   * Takes the next bytes and returns the samples that are complete, keeping an odd byte for the next call. They may lie in
   * the memory of the bytes.
   */
  push(bytes: Uint8Array): Int16Array {
    if (this.#oddByte === undefined && bytes.length % 2 === 0) return pcmInBytes(bytes);
    const carriedBytes = this.#oddByte === undefined ? 0 : 1;
    const joined = new Uint8Array(carriedBytes + bytes.length);
    joined[0] = this.#oddByte ?? 0;
    joined.set(bytes, carriedBytes);
    this.#oddByte = joined.length % 2 === 1 ? joined[joined.length - 1] : undefined;
    return pcmFromBytes(joined);
  }
}
