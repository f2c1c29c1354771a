import { type InstallFault, unreadableFault } from "./install-fault.ts";

/** An error for bzip2 data that cannot be decompressed. */
export function bzip2Fault(reason = "it is damaged"): InstallFault {
  return unreadableFault("the bzip2 data", reason);
}

/** Reads bits, the most significant bit of each byte first. */
export class BitReader {
  /** Position of the next bit. */
  position: number;
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array, position: number) {
    this.#bytes = bytes;
    this.position = position;
  }

  /** The next bits, at most 24. @throws {InstallFault} too few bytes are left */
  read(count: number): number {
    const value = this.peek(count);
    this.skip(count);
    return value;
  }

  /** The next bits, at least 1 and at most 24; zeros past the end. */
  peek(count: number): number {
    const bytes = this.#bytes;
    const at = this.position >>> 3;
    const word = (bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!;
    return (word << (this.position & 7)) >>> (32 - count);
  }

  /** @throws {InstallFault} too few bytes are left */
  skip(count: number): void {
    this.position += count;
    if (this.position > this.#bytes.length * 8) throw bzip2Fault("it is cut short");
  }

  /** Moves to the start of the next byte. */
  align(): void {
    this.position = (this.position + 7) & ~7;
  }
}
