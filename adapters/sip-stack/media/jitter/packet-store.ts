/** Maximum number of waiting packets: a power of two, because the slot is the sequence number modulo this. */
const SLOT_COUNT = 64;
/** Maximum size of a payload, bytes, to bound the memory. */
const MAX_PAYLOAD_BYTES = 8_192;
/** Maximum size of a buffer that is used again, bytes. */
const MAX_SPARE_BYTES = 2_048;
/** Sizes of buffers are multiples of this, so that payloads of similar lengths fit into each other's, bytes. */
const BUFFER_STEP_BYTES = 64;
/** Fields of a packet in one row, for the processor's cache. */
const SEQUENCE = 0;
const TIME = 1;
const LENGTH = 2;
const COLUMNS = 3;

/** Result of adding a packet. */
export type PutResult = "stored" | "duplicate" | "late";

/**
 * Waiting payloads, by extended sequence number. They are copied into a few buffers that take turns, because datagrams
 * that are kept outlive the collections of young garbage and stay in memory for long.
 */
export class PacketStore {
  /** Sequence number of the next packet to play; packets with lower numbers are late. -1 before the first packet. */
  next = -1;
  readonly #payloads: (Uint8Array | undefined)[] = new Array(SLOT_COUNT).fill(undefined);
  readonly #spareBuffers: Uint8Array[] = [];
  readonly #fields = new Float64Array(SLOT_COUNT * COLUMNS).fill(-1);
  #highestSequence = -1;

  /** Keeps a copy of a payload; an empty payload means that the number is used but no audio is missing. */
  put(sequence: number, time: number, bytes: Uint8Array, at: number, length: number): PutResult {
    const slot = sequence & (SLOT_COUNT - 1);
    const row = slot * COLUMNS;
    if (this.#fields[row + SEQUENCE] === sequence) return "duplicate";
    if (sequence < this.next) return "late";
    if (this.next < 0 || sequence >= this.next + SLOT_COUNT) this.next = Math.max(this.next, sequence - SLOT_COUNT + 1);
    if (length > MAX_PAYLOAD_BYTES) return "late";
    this.#free(slot);
    if (length > 0) this.#payloads[slot] = this.#copyOf(bytes, at, length);
    this.#fields[row + SEQUENCE] = sequence;
    this.#fields[row + TIME] = time;
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

  /** A buffer that begins with the payload of a waiting packet with audio; valid until the next packet is put. */
  payload(sequence: number): Uint8Array {
    return this.#payloads[sequence & (SLOT_COUNT - 1)]!;
  }

  /** Length of the payload, bytes. */
  length(sequence: number): number {
    return this.#field(sequence, LENGTH);
  }

  /** Drops a packet, played or not; the packet after it is next. */
  pass(sequence: number): void {
    this.#free(sequence & (SLOT_COUNT - 1));
    this.next = sequence + 1;
  }

  /** Drops all packets. */
  clear(): void {
    this.next = -1;
    this.#highestSequence = -1;
    this.#fields.fill(-1);
    for (let slot = 0; slot < SLOT_COUNT; slot++) this.#free(slot);
  }

  #copyOf(bytes: Uint8Array, at: number, length: number): Uint8Array {
    const spareBuffer = this.#spareBuffers.pop();
    const buffer =
      spareBuffer !== undefined && spareBuffer.length >= length
        ? spareBuffer
        : new Uint8Array(Math.ceil(length / BUFFER_STEP_BYTES) * BUFFER_STEP_BYTES);
    for (let i = 0; i < length; i++) buffer[i] = bytes[at + i]!;
    return buffer;
  }

  #free(slot: number): void {
    const buffer = this.#payloads[slot];
    if (buffer !== undefined && buffer.length <= MAX_SPARE_BYTES) this.#spareBuffers.push(buffer);
    this.#payloads[slot] = undefined;
  }

  #field(sequence: number, column: number): number {
    return this.#fields[(sequence & (SLOT_COUNT - 1)) * COLUMNS + column]!;
  }

  #has(sequence: number): boolean {
    return this.#field(sequence, SEQUENCE) === sequence;
  }
}
