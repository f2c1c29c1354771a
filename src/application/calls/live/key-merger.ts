/** Maximum delay before the network also reports a key that was heard as a tone, ms. */
const REPEAT_WINDOW_MS = 3_000;

interface HeardKey {
  readonly digit: string;
  readonly at: number;
}

/**
 * Counts each key of a callee once, although it may arrive both as a tone in the audio and as a report of the network.
 * Reports are certain, so tones are ignored after the first report. Times are monotonic, ms.
 */
export class KeyMerger {
  readonly #isInBand: () => boolean;
  #hasReports = false;
  #heardKeys: HeardKey[] = [];

  /** @param inBand returns true while keys arrive as tones: a call may move to a phone that plays them */
  constructor(inBand: () => boolean) {
    this.#isInBand = inBand;
  }

  /** True if a key that was heard in the audio is new. */
  acceptHeard(digit: string, at: number): boolean {
    if (this.#hasReports) return false;
    this.#dropOldKeys(at);
    this.#heardKeys.push({ digit, at });
    return true;
  }

  /** True if a key that the network reports is new. */
  acceptReported(digit: string, at: number): boolean {
    if (!this.#isInBand()) return true;
    this.#hasReports = true;
    this.#dropOldKeys(at);
    const index = this.#heardKeys.findIndex((key) => key.digit === digit);
    if (index < 0) return true;
    this.#heardKeys.splice(0, index + 1);
    return false;
  }

  #dropOldKeys(at: number): void {
    this.#heardKeys = this.#heardKeys.filter((key) => at - key.at < REPEAT_WINDOW_MS);
  }
}
