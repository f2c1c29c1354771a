import { concatBytes } from "../../../src/base/concat-bytes.ts";
import { BitReader, bzip2Fault } from "./bit-reader.ts";
import { Bzip2Block } from "./bzip2-block.ts";

/** "BZh" */
const STREAM = 0x425a68;
/** A block begins with the digits of pi, and a stream ends with those of pi's square root. */
const BLOCK = 0x314159265359;
const END = 0x177245385090;
const MAX_BLOCK_BYTES = 900_000;
/**
 * Size of the buffered input, bytes: larger than any block, which has at most 900,000 symbols of 20 bits, and tables.
 */
const BLOCK_INPUT_BYTES = 4 << 20;

/**
 * Decompresses bzip2. Takes less than 20 MB of memory for any input, and verifies all checksums.
 * @throws {InstallFault} the input is not bzip2, or is damaged or cut short
 */
export async function* bunzip2(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const input = new BlockInput(source);
  const block = new Bzip2Block(MAX_BLOCK_BYTES);
  do {
    const header = await input.bits();
    if (header.read(24) !== STREAM) throw bzip2Fault("it is not bzip2");
    // The block size, 1 to 9.
    const level = header.read(8) - 0x30;
    if (level < 1 || level > 9) throw bzip2Fault("it is not bzip2");
    input.skipTo(header);
    yield* blocksOf(input, block);
  } while (!(await input.isAtEnd()));
}

async function* blocksOf(input: BlockInput, block: Bzip2Block): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  let streamCrc = 0;
  for (;;) {
    const bits = await input.bits();
    const magic = bits.read(24) * 2 ** 24 + bits.read(24);
    const crc = bits.read(16) * 2 ** 16 + bits.read(16);
    const isEnd = magic === END;
    if (isEnd) bits.align();
    else if (magic === BLOCK) block.read(bits);
    else throw bzip2Fault();
    input.skipTo(bits);
    if (crc !== (isEnd ? streamCrc : yield* block.bytes())) throw bzip2Fault("a checksum is wrong");
    if (isEnd) return;
    streamCrc = (((streamCrc << 1) | (streamCrc >>> 31)) ^ crc) >>> 0;
  }
}

/** The unread bytes of a source. */
class BlockInput {
  readonly #source: AsyncIterator<Uint8Array>;
  #bytes: Uint8Array = new Uint8Array(0);
  /** Number of bits that have been read from the first byte. */
  #bitOffset = 0;
  #hasEnded = false;

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** A reader from the current position, with enough data for a whole block. */
  async bits(): Promise<BitReader> {
    await this.#fill();
    return new BitReader(this.#bytes, this.#bitOffset);
  }

  skipTo({ position }: BitReader): void {
    this.#bytes = this.#bytes.subarray(position >>> 3);
    this.#bitOffset = position & 7;
  }

  async isAtEnd(): Promise<boolean> {
    await this.#fill();
    return this.#bytes.length === 0;
  }

  async #fill(): Promise<void> {
    if (this.#hasEnded || this.#bytes.length >= BLOCK_INPUT_BYTES) return;
    const pieces = [this.#bytes];
    // Reads ahead, because the remaining bytes are copied each time.
    for (let length = this.#bytes.length; length < 2 * BLOCK_INPUT_BYTES; ) {
      const { value, done } = await this.#source.next();
      this.#hasEnded = done === true;
      if (done) break;
      pieces.push(value);
      length += value.length;
    }
    this.#bytes = concatBytes(pieces);
  }
}
