/**
 * Largest forward jump of the sequence number that counts as loss, and backward jump that counts as reordering (RFC
 * 3550 appendix A.1).
 */
const MAX_DROPOUT = 3000;
const MAX_MISORDER = 100;

/** Result of `take` for a packet too far from the others, and for the second such packet in a row, which starts a new sequence. */
export const STRAY_PACKET = -1;
export const RESTARTED = -2;

/** Reception statistics of one source: order, loss and jitter (RFC 3550 appendices A.1, A.3 and A.8). */
export class Reception {
  /** Number of packets received, duplicates included. */
  received = 0;
  /** The highest sequence number, with its cycles above the lower 16 bits; -1 before the first packet. */
  highestSequence = -1;
  readonly #clockRate: number;
  #firstSequence = 0;
  /** The sequence number that would confirm a jump; without it the packet was a stray. */
  #sequenceAfterJump = -1;
  /** Gaps: packets that arrived with others missing before them. */
  #gapCount = 0;
  #jitter = 0;
  #transit = 0;
  #hasTransit = false;
  #reportedExpected = 0;
  #reportedReceived = 0;

  /** @param clockRate clock rate of the timestamps, Hz */
  constructor(clockRate: number) {
    this.#clockRate = clockRate;
  }

  /**
   * Counts a packet and returns its extended sequence number, which does not wrap; `STRAY_PACKET` for a packet that is
   * too far from the others; `RESTARTED` if a second one follows it, which needs a new reception.
   */
  take(sequence: number): number {
    if (this.highestSequence < 0) return this.#begin(sequence);
    const ahead = (sequence - this.highestSequence) & 0xffff;
    if (ahead < MAX_DROPOUT) {
      if (ahead > 1) this.#gapCount++;
      this.highestSequence += ahead;
    } else if (ahead <= 0x10000 - MAX_MISORDER) {
      const isConfirmed = sequence === this.#sequenceAfterJump;
      this.#sequenceAfterJump = (sequence + 1) & 0xffff;
      return isConfirmed ? RESTARTED : STRAY_PACKET;
    }
    this.received++;
    return ahead < MAX_DROPOUT ? this.highestSequence : this.highestSequence - (0x10000 - ahead);
  }

  /** Includes an audio packet in the jitter. @param arrivalMs arrival by any monotonic clock */
  measureJitter(timestamp: number, arrivalMs: number): void {
    const transit = Math.round((arrivalMs * this.#clockRate) / 1000) - timestamp;
    const change = Math.abs((transit - this.#transit) | 0); // both wrap with the timestamp
    this.#transit = transit;
    if (this.#hasTransit) this.#jitter += (change - this.#jitter) / 16; // RFC 3550 section 6.4.1
    this.#hasTransit = true;
  }

  /** Excludes the next packet from the jitter, since the timestamps do not continue. */
  skipJitter(): void {
    this.#hasTransit = false;
  }

  /** Interarrival jitter in units of the timestamp, whole. */
  get jitter(): number {
    return Math.floor(this.#jitter);
  }

  get jitterMs(): number {
    return (this.#jitter * 1000) / this.#clockRate;
  }

  /** Number of packets expected. */
  get expected(): number {
    return this.highestSequence < 0 ? 0 : this.highestSequence - this.#firstSequence + 1;
  }

  /** Cumulative number of packets lost; negative with duplicates. */
  get lost(): number {
    return this.expected - this.received;
  }

  /**
   * Length of bursts of loss compared to random loss (BurstR of ITU-T G.107 section 7.4), at least 1: reordered packets
   * look like losses.
   */
  get burstRatio(): number {
    if (this.#gapCount === 0 || this.lost <= 0) return 1;
    return Math.max(1, (this.lost / this.#gapCount) * (1 - this.lost / this.expected));
  }

  /** The fraction lost since the last call, in 1/256 (RFC 3550 appendix A.3). */
  fractionLost(): number {
    const expected = this.expected - this.#reportedExpected;
    const lost = expected - (this.received - this.#reportedReceived);
    this.#reportedExpected = this.expected;
    this.#reportedReceived = this.received;
    return expected <= 0 || lost <= 0 ? 0 : Math.min(255, Math.floor((lost * 256) / expected));
  }

  #begin(sequence: number): number {
    this.highestSequence = 0x10000 + sequence; // leaves room below for packets that were sent earlier but arrive later
    this.#firstSequence = this.highestSequence;
    this.received = 1;
    return this.highestSequence;
  }
}
