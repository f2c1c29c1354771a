import { createCipheriv } from "node:crypto";

/** Size of an AES block, bytes. */
const BLOCK = 16;
/**
 * Number of packets whose keystream is generated at a time, if it fits into `AHEAD_BLOCKS`: a cipher call costs more
 * than the blocks.
 */
const AHEAD_PACKETS = 8;
const AHEAD_BLOCKS = 128;
const USUAL_BLOCKS = 16;
/** Maximum distance after the prepared packets at which a packet still counts as the next of its stream. */
const MAX_LOST = 16;

/**
 * The keystream of AES in counter mode (RFC 3711 section 4.1.1), as the encryption of counter blocks by one cipher with
 * the lifetime of the keys. Packets usually arrive in order, so the keystreams of the next ones are generated
 * together.
 */
export class Keystream {
  readonly #cipher: ReturnType<typeof createCipheriv>;
  readonly #salt: DataView;
  #counters = new Uint8Array(0);
  #stream: Uint8Array = this.#counters;
  /** Number of blocks per packet in `#stream`. */
  #blocks = 0;
  /** Number of packets in `#stream`, and the SSRC, rollover counter and sequence number of the first packet. */
  #packets = 0;
  #ssrc = 0;
  #roc = 0;
  #sequence = 0;

  /** Starts the keystream of a session key of 16 or 32 bytes and a salt of 14. */
  constructor(key: Uint8Array, salt: Uint8Array) {
    this.#cipher = createCipheriv(key.length === 16 ? "aes-128-ecb" : "aes-256-ecb", key, null).setAutoPadding(false);
    const paddedSalt = new Uint8Array(BLOCK);
    paddedSalt.set(salt);
    this.#salt = new DataView(paddedSalt.buffer);
  }

  /** Combines the bytes from `from` to `to` with the keystream of a packet, by exclusive or. */
  xor(bytes: Uint8Array, from: number, to: number, ssrc: number, roc: number, sequence: number): void {
    const blocks = Math.ceil((to - from) / BLOCK);
    if (blocks === 0) return;
    let position = this.#ssrc === ssrc ? (roc - this.#roc) * 0x10000 + sequence - this.#sequence : -1;
    if (position < 0 || position >= this.#packets || blocks > this.#blocks) {
      const isNext = position >= 0 && position < this.#packets + MAX_LOST;
      this.#generate(isNext ? this.#packetsAhead(ssrc) : 1, blocks, ssrc, roc, sequence);
      position = 0;
    }
    const stream = this.#stream;
    let k = position * this.#blocks * BLOCK;
    for (let i = from; i < to; i++) bytes[i] = bytes[i]! ^ stream[k++]!;
  }

  /**
   * Number of packets to generate: fewer the first time, and in varying numbers, so that calls that began together do
   * not always generate at the same time.
   */
  #packetsAhead(ssrc: number): number {
    return this.#packets > 1 ? AHEAD_PACKETS : 2 + (ssrc % (AHEAD_PACKETS - 1));
  }

  #generate(packetsAhead: number, blockCount: number, ssrc: number, roc: number, sequence: number): void {
    // Packets of a codec vary in length: the longest so far determines the size, unless it is exceptional.
    const blocks = Math.max(blockCount, Math.min(this.#blocks, USUAL_BLOCKS));
    const packets = Math.max(1, Math.min(packetsAhead, Math.floor(AHEAD_BLOCKS / blocks)));
    const size = packets * blocks * BLOCK;
    if (this.#counters.length !== size) this.#counters = new Uint8Array(size);
    const counters = new DataView(this.#counters.buffer);
    const salt = this.#salt;
    const first = salt.getInt32(0);
    const second = salt.getInt32(4) ^ ssrc;
    let at = 0;
    for (let packet = 0; packet < packets; packet++) {
      const low = sequence + packet;
      const third = salt.getInt32(8) ^ (roc + (low >>> 16));
      const fourth = salt.getInt32(12) ^ ((low & 0xffff) << 16);
      for (let block = 0; block < blocks; block++, at += BLOCK) {
        counters.setInt32(at, first);
        counters.setInt32(at + 4, second);
        counters.setInt32(at + 8, third);
        counters.setInt32(at + 12, fourth | block);
      }
    }
    this.#stream = this.#cipher.update(this.#counters);
    this.#blocks = blocks;
    this.#packets = packets;
    this.#ssrc = ssrc;
    this.#roc = roc;
    this.#sequence = sequence;
  }
}
