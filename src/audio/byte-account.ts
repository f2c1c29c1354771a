import type { FileBytes, IgnoredReason } from "../ports/audio-decoder.ts";

/** Counts the bytes of an audio file by their use. */
export class ByteAccount {
  #header = 0;
  #played = 0;
  #ignoredSum = 0;
  readonly #ignored = new Map<IgnoredReason, number>();

  get total(): FileBytes {
    const ignored = [...this.#ignored].map(([reason, bytes]) => ({ reason, bytes }));
    return { header: this.#header, played: this.#played, ignored };
  }

  /** Number of ignored bytes so far. */
  get ignoredSum(): number {
    return this.#ignoredSum;
  }

  /** Number of bytes counted so far. */
  get sum(): number {
    return this.#header + this.#played + this.#ignoredSum;
  }

  addHeader(bytes: number): void {
    this.#header += bytes;
  }

  addPlayed(bytes: number): void {
    this.#played += bytes;
  }

  addIgnored(reason: IgnoredReason, bytes: number): void {
    if (bytes === 0) return;
    this.#ignoredSum += bytes;
    this.#ignored.set(reason, (this.#ignored.get(reason) ?? 0) + bytes);
  }
}
