import { pcmFromBytes, pcmInBytes } from "./pcm.ts";

/** Turns a stream of 16-bit little-endian bytes into samples; a piece may end within a sample. */
export class PcmByteStream {
  #oddByte: number | undefined;

  /** True if the last byte is half a sample. */
  get isOdd(): boolean {
    return this.#oddByte !== undefined;
  }

  /**
   * Adds the next bytes and returns the samples that are complete, keeping an odd byte for the next call. They may
   * share the memory of the bytes.
   */
  push(bytes: Uint8Array): Int16Array {
    if (this.#oddByte === undefined && bytes.length % 2 === 0) return pcmInBytes(bytes);
    const carriedBytes = this.#oddByte === undefined ? 0 : 1;
    const allBytes = new Uint8Array(carriedBytes + bytes.length);
    allBytes[0] = this.#oddByte ?? 0;
    allBytes.set(bytes, carriedBytes);
    this.#oddByte = allBytes.length % 2 === 1 ? allBytes[allBytes.length - 1] : undefined;
    return pcmFromBytes(allBytes);
  }
}
