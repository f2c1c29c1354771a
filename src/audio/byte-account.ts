import type { FileBytes, IgnoredReason } from "../ports/audio-decoder.ts";

/** Counts the bytes of an audio file by their use. */
export class ByteAccount {
  #headerBytes = 0;
  #playedBytes = 0;
  #ignoredTotal = 0;
  readonly #ignoredBytes = new Map<IgnoredReason, number>();

  get total(): FileBytes {
    const ignored = [...this.#ignoredBytes].map(([reason, bytes]) => ({ reason, bytes }));
    return { header: this.#headerBytes, played: this.#playedBytes, ignored };
  }

  /** Number of ignored bytes so far. */
  get ignoredSum(): number {
    return this.#ignoredTotal;
  }

  /** Number of bytes counted so far. */
  get sum(): number {
    return this.#headerBytes + this.#playedBytes + this.#ignoredTotal;
  }

  addHeader(bytes: number): void {
    this.#headerBytes += bytes;
  }

  addPlayed(bytes: number): void {
    this.#playedBytes += bytes;
  }

  addIgnored(reason: IgnoredReason, bytes: number): void {
    if (bytes === 0) return;
    this.#ignoredTotal += bytes;
    this.#ignoredBytes.set(reason, (this.#ignoredBytes.get(reason) ?? 0) + bytes);
  }
}
