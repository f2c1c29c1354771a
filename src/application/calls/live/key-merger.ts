/** A key that was heard as a tone may be reported by the network as well, up to this much later, ms. */
const REPEATED_MS = 3_000;

interface HeardKey {
  readonly digit: string;
  readonly at: number;
}

/**
 * Counts each key of a callee once, although it may arrive both as a tone in the audio and as a report of the network. Reports are
 * certain, so tones no longer count after the first report. Times are monotonic, ms.
 */
export class KeyMerger {
  readonly #inBand: () => boolean;
  #reported = false;
  #heard: HeardKey[] = [];

  /** @param inBand returns true while keys arrive as tones: a call may move to a phone that plays them */
  constructor(inBand: () => boolean) {
    this.#inBand = inBand;
  }

  /** True if a key that was heard in the audio is a new one. */
  heard(digit: string, at: number): boolean {
    if (this.#reported) return false;
    this.#forget(at);
    this.#heard.push({ digit, at });
    return true;
  }

  /** True if a key that the network reports is a new one. */
  reported(digit: string, at: number): boolean {
    if (!this.#inBand()) return true;
    this.#reported = true;
    this.#forget(at);
    const same = this.#heard.findIndex((key) => key.digit === digit);
    if (same < 0) return true;
    this.#heard.splice(0, same + 1);
    return false;
  }

  #forget(at: number): void {
    this.#heard = this.#heard.filter((key) => at - key.at < REPEATED_MS);
  }
}
