import { pcmFromBytes, pcmInBytes } from "./pcm.ts";

/** Turns a stream of 16-bit little-endian bytes into samples; a piece may end within a sample. */
export class PcmByteStream {
  #odd: number | undefined;

  /** True if the last byte is half a sample. */
  get isOdd(): boolean {
    return this.#odd !== undefined;
  }

  /**
   * Takes the next bytes and returns the samples that are complete, keeping an odd byte for the next call. They may lie in
   * the memory of the bytes.
   */
  push(bytes: Uint8Array): Int16Array {
    if (this.#odd === undefined && bytes.length % 2 === 0) return pcmInBytes(bytes);
    const carried = this.#odd === undefined ? 0 : 1;
    const joined = new Uint8Array(carried + bytes.length);
    joined[0] = this.#odd ?? 0;
    joined.set(bytes, carried);
    this.#odd = joined.length % 2 === 1 ? joined[joined.length - 1] : undefined;
    return pcmFromBytes(joined);
  }
}
