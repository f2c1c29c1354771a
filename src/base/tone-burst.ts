/** A steady tone that has ended, or two tones at once. */
export interface ToneBurst {
  /** Frequency, Hz; the lower frequency of a pair. */
  readonly hz: number;
  /** The higher frequency of a pair, Hz; 0 for a single tone. */
  readonly otherHz: number;
  /** Start in the stream, ms. */
  readonly atMs: number;
  /** Length, ms. */
  readonly ms: number;
  /** Received length of the tone, ms. */
  readonly receivedMs: number;
  /** Pause since the previous tone, ms; infinite for the first tone. */
  readonly pauseMs: number;
  /** True if that pause was silent. */
  readonly isPauseSilent: boolean;
}
