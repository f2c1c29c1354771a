/** Packets that can wait. A power of two: a packet's place is its number modulo this. */
const PLACES = 64;
/** Bytes for their payloads: 1 s of G.711. */
const ARENA_BYTES = 8_192;

/** What became of a packet. */
export type Stored = "stored" | "twice" | "late";

/**
 * Payloads that wait for their time, by extended sequence number. The payloads lie one behind the other in one array,
 * the newest over the oldest, so that a packet costs a copy and nothing else.
 */
export class PacketStore {
  readonly bytes: Uint8Array = new Uint8Array(ARENA_BYTES);
  /** The packet that is to be taken out next: what comes with a lower number is late. -1 before the first. */
  next = -1;
  readonly #sequences = new Int32Array(PLACES).fill(-1);
  /** Extended timestamps. */
  readonly #times = new Float64Array(PLACES);
  /** Where each payload begins, counted over all bytes ever written. */
  readonly #starts = new Float64Array(PLACES);
  readonly #lengths = new Int32Array(PLACES);
  #written = 0;
  #highest = -1;

  /** Keeps a copy of a payload; one of no bytes says that its number is used up and no audio is missing. */
  put(sequence: number, time: number, bytes: Uint8Array, at: number, length: number): Stored {
    const place = sequence & (PLACES - 1);
    if (this.#sequences[place] === sequence) return "twice";
    if (sequence < this.next) return "late";
    if (this.next < 0 || sequence >= this.next + PLACES) this.next = Math.max(this.next, sequence - PLACES + 1);
    if (length > ARENA_BYTES) return "late";
    if ((this.#written % ARENA_BYTES) + length > ARENA_BYTES)
      this.#written += ARENA_BYTES - (this.#written % ARENA_BYTES); // a payload lies in one piece
    const start = this.#written % ARENA_BYTES;
    for (let i = 0; i < length; i++) this.bytes[start + i] = bytes[at + i]!;
    this.#sequences[place] = sequence;
    this.#times[place] = time;
    this.#starts[place] = this.#written;
    this.#lengths[place] = length;
    this.#written += length;
    if (sequence > this.#highest) this.#highest = sequence;
    return "stored";
  }

  /** The lowest number that waits, from `next` on; -1: none. */
  first(): number {
    for (let sequence = this.next; sequence <= this.#highest; sequence++) if (this.#holds(sequence)) return sequence;
    return -1;
  }

  /** The extended timestamp of a packet that waits. */
  time(sequence: number): number {
    return this.#times[sequence & (PLACES - 1)]!;
  }

  /** Where its payload begins in `bytes`. */
  start(sequence: number): number {
    return this.#starts[sequence & (PLACES - 1)]! % ARENA_BYTES;
  }

  length(sequence: number): number {
    return this.#lengths[sequence & (PLACES - 1)]!;
  }

  /** Forgets everything. */
  clear(): void {
    this.next = -1;
    this.#highest = -1;
    this.#sequences.fill(-1);
  }

  /** Whether it is here, its bytes not yet written over. */
  #holds(sequence: number): boolean {
    const place = sequence & (PLACES - 1);
    return this.#sequences[place] === sequence && this.#starts[place]! >= this.#written - ARENA_BYTES;
  }
}
