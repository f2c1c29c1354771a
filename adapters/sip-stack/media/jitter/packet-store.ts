/** Maximum number of waiting packets: a power of two, because the slot is the sequence number modulo this. */
const SLOT_COUNT = 64;
/** Maximum size of a datagram that is kept, bytes, to bound the memory. */
const MAX_DATAGRAM_BYTES = 8_192;
/** Fields of a packet in one row, for the processor's cache. */
const SEQUENCE = 0;
const TIME = 1;
const START = 2;
const LENGTH = 3;
const COLUMNS = 4;

/** Result of adding a packet. */
export type PutResult = "stored" | "duplicate" | "late";

/** Waiting payloads, by extended sequence number, each in its datagram. */
export class PacketStore {
  /** Sequence number of the next packet to play; packets with lower numbers are late. -1 before the first packet. */
  next = -1;
  readonly #datagrams: (Uint8Array | undefined)[] = new Array(SLOT_COUNT).fill(undefined);
  readonly #fields = new Float64Array(SLOT_COUNT * COLUMNS).fill(-1);
  #highestSequence = -1;

  /** Keeps a payload and its array; an empty payload means that the number is used but no audio is missing. */
  put(sequence: number, time: number, bytes: Uint8Array, at: number, length: number): PutResult {
    const slot = sequence & (SLOT_COUNT - 1);
    const row = slot * COLUMNS;
    if (this.#fields[row + SEQUENCE] === sequence) return "duplicate";
    if (sequence < this.next) return "late";
    if (this.next < 0 || sequence >= this.next + SLOT_COUNT) this.next = Math.max(this.next, sequence - SLOT_COUNT + 1);
    if (bytes.length > MAX_DATAGRAM_BYTES) return "late";
    this.#datagrams[slot] = bytes;
    this.#fields[row + SEQUENCE] = sequence;
    this.#fields[row + TIME] = time;
    this.#fields[row + START] = at;
    this.#fields[row + LENGTH] = length;
    if (sequence > this.#highestSequence) this.#highestSequence = sequence;
    return "stored";
  }

  /** The lowest waiting number, from `next` on; -1 if there is none. */
  first(): number {
    for (let sequence = this.next; sequence <= this.#highestSequence; sequence++)
      if (this.#has(sequence)) return sequence;
    return -1;
  }

  /** The extended timestamp of a waiting packet. */
  time(sequence: number): number {
    return this.#field(sequence, TIME);
  }

  /** The datagram of a waiting packet. */
  bytes(sequence: number): Uint8Array {
    return this.#datagrams[sequence & (SLOT_COUNT - 1)]!;
  }

  /** Offset of the payload in the datagram, bytes. */
  start(sequence: number): number {
    return this.#field(sequence, START);
  }

  /** Length of the payload, bytes. */
  length(sequence: number): number {
    return this.#field(sequence, LENGTH);
  }

  /** Drops a packet, played or not; the packet after it is next. */
  pass(sequence: number): void {
    this.#datagrams[sequence & (SLOT_COUNT - 1)] = undefined;
    this.next = sequence + 1;
  }

  /** Drops all packets. */
  clear(): void {
    this.next = -1;
    this.#highestSequence = -1;
    this.#fields.fill(-1);
    this.#datagrams.fill(undefined);
  }

  #field(sequence: number, column: number): number {
    return this.#fields[(sequence & (SLOT_COUNT - 1)) * COLUMNS + column]!;
  }

  #has(sequence: number): boolean {
    return this.#field(sequence, SEQUENCE) === sequence;
  }
}
