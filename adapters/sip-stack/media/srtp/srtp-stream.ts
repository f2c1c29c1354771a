/**
 * Guesses how many times a stream's 16-bit sequence number had wrapped when a packet was sent: the number that puts the
 * packet closest to the newest one (RFC 3711 section 3.3.1, appendix A); -1 before the first packet.
 * @param roc number of wraps when the newest packet was sent
 * @param newest the sequence number of the newest packet
 */
function guessRollover(roc: number, newest: number, sequence: number): number {
  if (newest < 0x8000) return sequence - newest > 0x8000 ? roc - 1 : roc;
  return newest - 0x8000 > sequence ? roc + 1 : roc;
}

/** Maximum distance of an accepted packet from the newest one, packets. A power of two. */
const WINDOW = 128;

/** The replay window (RFC 3711 section 3.3.2): marks received packets by their index modulo its size. */
class ReplayWindow {
  readonly #bits = new Int32Array(WINDOW / 32);

  /** True if the packet may be accepted; `ahead`: its number minus the newest one, positive if it is newer. */
  admits(number: number, ahead: number): boolean {
    if (ahead > 0) return true;
    if (ahead <= -WINDOW) return false;
    return ((this.#bits[(number & (WINDOW - 1)) >>> 5] ?? 0) & (1 << (number & 31))) === 0;
  }

  /** Marks a genuine packet as received. */
  record(number: number, ahead: number): void {
    if (ahead >= WINDOW) this.#bits.fill(0);
    else for (let skipped = number - ahead + 1; skipped < number; skipped++) this.#clear(skipped);
    const word = (number & (WINDOW - 1)) >>> 5;
    this.#bits[word] = (this.#bits[word] ?? 0) | (1 << (number & 31));
  }

  #clear(number: number): void {
    const word = (number & (WINDOW - 1)) >>> 5;
    this.#bits[word] = (this.#bits[word] ?? 0) & ~(1 << (number & 31));
  }
}

/**
 * The packet index of one source. A packet is identified by the number of wraps of the sequence number (`roc`) and the
 * number itself (16 bits); for RTCP these are the upper and the lower bits of its index.
 */
class Stream {
  readonly ssrc: number;
  readonly #window = new ReplayWindow();
  #roc = 0;
  /** The newest packet's number; -1 before the first. */
  #highestSequence = -1;

  constructor(ssrc: number) {
    this.ssrc = ssrc;
  }

  /** The `roc` of a packet, from its sequence number. */
  rollover(sequence: number): number {
    return this.#highestSequence < 0 ? 0 : guessRollover(this.#roc, this.#highestSequence, sequence);
  }

  /** True if the packet is new and not too old to check. */
  admits(roc: number, sequence: number): boolean {
    return roc >= 0 && (this.#highestSequence < 0 || this.#window.admits(sequence, this.#distanceAhead(roc, sequence)));
  }

  /** Records an accepted packet. */
  record(roc: number, sequence: number): void {
    const ahead = this.#highestSequence < 0 ? Number.POSITIVE_INFINITY : this.#distanceAhead(roc, sequence);
    this.#window.record(sequence, ahead);
    if (ahead <= 0) return;
    this.#roc = roc;
    this.#highestSequence = sequence;
  }

  #distanceAhead(roc: number, sequence: number): number {
    return (roc - this.#roc) * 0x10000 + sequence - this.#highestSequence;
  }
}

/** Maximum number of remembered sources; a call has one, or a few after transfers. */
const MAX_STREAMS = 32;

/** The sources that have been seen so far, by SSRC. Beyond the limit, the oldest one is forgotten. */
export class SrtpStreams {
  readonly #streams = new Map<number, Stream>();
  #last: Stream | undefined;

  find(ssrc: number): Stream | undefined {
    if (this.#last?.ssrc === ssrc) return this.#last;
    const stream = this.#streams.get(ssrc);
    if (stream !== undefined) this.#last = stream;
    return stream;
  }

  add(ssrc: number): Stream {
    const [oldest] = this.#streams.size < MAX_STREAMS ? [] : this.#streams.keys();
    if (oldest !== undefined) this.#streams.delete(oldest);
    const stream = new Stream(ssrc);
    this.#streams.set(ssrc, stream);
    this.#last = stream;
    return stream;
  }
}
