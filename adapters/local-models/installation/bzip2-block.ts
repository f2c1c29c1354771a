import { type BitReader, bzip2Fault } from "./bit-reader.ts";

const OUTPUT_BYTES = 256 << 10;
const MAX_CODE_BITS = 20;
/** Number of symbols that share a selected code. */
const GROUP = 50;
/** Symbols for the digits 1 and 2 in the length of a run. */
const RUN_A = 0;
const RUN_B = 1;
/** Number of equal bytes after which a count of further ones follows. */
const RUN = 4;

/** Table for the checksum: CRC-32, most significant bit first. */
const CRC = Int32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 24;
  for (let bit = 0; bit < 8; bit++) crc = (crc << 1) ^ (crc < 0 ? 0x04c11db7 : 0);
  return crc;
});

/** A block of bzip2 data; its memory is reused for all blocks of a stream. */
export class Bzip2Block {
  /** A byte of the block in the lowest 8 bits, and the position of its successor in the others. */
  readonly #links: Uint32Array;
  #length = 0;
  #start = 0;

  /** @param capacity maximum block size, bytes */
  constructor(capacity: number) {
    this.#links = new Uint32Array(capacity);
  }

  /** Reads the block after its checksum. @throws {InstallFault} the block is damaged, or cut short */
  read(bits: BitReader): void {
    if (bits.read(1) === 1) throw bzip2Fault("it has a format that bzip2 abandoned in 1997");
    this.#start = bits.read(24);
    const byteValues = usedBytes(bits);
    const codeCount = bits.read(3);
    const selectorCount = bits.read(15);
    if (byteValues.length === 0 || codeCount < 2 || codeCount > 6 || selectorCount === 0) throw bzip2Fault();
    const selectors = readSelectors(bits, selectorCount, codeCount);
    const codes = Array.from({ length: codeCount }, () => readCode(bits, byteValues.length + 2));
    this.#readSymbols(bits, byteValues, selectors, codes);
    if (this.#start >= this.#length) throw bzip2Fault();
    this.#link();
  }

  #readSymbols(bits: BitReader, recentBytes: Uint8Array, selectors: Uint8Array, codes: readonly Code[]): void {
    const links = this.#links;
    const end = recentBytes.length + 1;
    let [length, repeatCount, digit, symbols] = [0, 0, 1, 0];
    let code: Code | undefined;
    for (;;) {
      if (symbols % GROUP === 0) code = codes[selectors[symbols / GROUP] ?? codes.length];
      if (code === undefined) throw bzip2Fault();
      symbols++;
      const symbol = readSymbol(bits, code);
      if (symbol === RUN_A || symbol === RUN_B) {
        repeatCount += digit << symbol;
        digit *= 2;
        if (length + repeatCount > links.length) throw bzip2Fault();
        continue;
      }
      if (repeatCount > 0) {
        links.fill(recentBytes[0]!, length, length + repeatCount);
        length += repeatCount;
        repeatCount = 0;
        digit = 1;
      }
      if (symbol === end) break;
      if (length === links.length) throw bzip2Fault();
      const byte = moveToFront(recentBytes, symbol - 1);
      links[length++] = byte;
    }
    this.#length = length;
  }

  /** Undoes the Burrows–Wheeler transform: finds the successor of each byte. */
  #link(): void {
    const links = this.#links;
    const next = new Uint32Array(257);
    for (let at = 0; at < this.#length; at++) next[links[at]! + 1]!++;
    for (let byte = 0; byte < 256; byte++) next[byte + 1]! += next[byte]!;
    for (let at = 0; at < this.#length; at++) {
      const byte = links[at]! & 0xff;
      links[next[byte]!++]! |= at << 8;
    }
  }

  /** The bytes of the block, in pieces. Returns their checksum. */
  *bytes(): Generator<Uint8Array<ArrayBuffer>, number> {
    const links = this.#links;
    let out = new Uint8Array(OUTPUT_BYTES);
    let [at, crc, equalCount, previous] = [0, -1, 0, -1];
    let position = links[this.#start]! >>> 8;
    for (let remaining = this.#length; remaining > 0; remaining--) {
      const link = links[position]!;
      const byte = link & 0xff;
      position = link >>> 8;
      const isCount = equalCount === RUN;
      equalCount = isCount ? 0 : byte === previous ? equalCount + 1 : 1;
      if (!isCount) previous = byte;
      for (let count = isCount ? byte : 1; count > 0; count--) {
        out[at++] = previous;
        crc = (crc << 8) ^ CRC[(crc >>> 24) ^ previous]!;
      }
      if (isCount) previous = -1;
      if (at <= OUTPUT_BYTES - 256) continue;
      yield out.subarray(0, at);
      out = new Uint8Array(OUTPUT_BYTES);
      at = 0;
    }
    if (at > 0) yield out.subarray(0, at);
    return ~crc >>> 0;
  }
}

/** The byte values that occur in a block: one bit for every 16 values, then one for each value. */
function usedBytes(bits: BitReader): Uint8Array {
  const rows = bits.read(16);
  const usedSymbols: number[] = [];
  for (let row = 0; row < 16; row++) {
    const columns = rows & (0x8000 >>> row) ? bits.read(16) : 0;
    for (let column = 0; column < 16; column++) if (columns & (0x8000 >>> column)) usedSymbols.push(16 * row + column);
  }
  return Uint8Array.from(usedSymbols);
}

function readSelectors(bits: BitReader, count: number, codeCount: number): Uint8Array {
  const recent = Uint8Array.from({ length: codeCount }, (_, code) => code);
  return Uint8Array.from({ length: count }, () => {
    let index = 0;
    while (bits.read(1) === 1) if (++index === codeCount) throw bzip2Fault();
    return moveToFront(recent, index);
  });
}

/** The byte at an index, which moves to the front. */
function moveToFront(recent: Uint8Array, index: number): number {
  const byte = recent[index]!;
  recent.copyWithin(1, 0, index);
  recent[0] = byte;
  return byte;
}

/** A Huffman code: its symbols by length, and for each length the largest code and the place of its symbol. */
interface Code {
  readonly symbols: Uint16Array;
  readonly largest: Int32Array;
  readonly places: Int32Array;
  readonly shortest: number;
}

function readCode(bits: BitReader, symbolCount: number): Code {
  const lengths = new Uint8Array(symbolCount);
  let length = bits.read(5);
  for (let symbol = 0; symbol < symbolCount; symbol++) {
    for (;;) {
      if (length < 1 || length > MAX_CODE_BITS) throw bzip2Fault();
      if (bits.read(1) === 0) break;
      length += bits.read(1) === 0 ? 1 : -1;
    }
    lengths[symbol] = length;
  }
  const symbols = new Uint16Array(symbolCount);
  const largest = new Int32Array(MAX_CODE_BITS + 1).fill(-1);
  const places = new Int32Array(MAX_CODE_BITS + 1);
  let [code, place] = [0, 0];
  for (let bitCount = 1; bitCount <= MAX_CODE_BITS; bitCount++) {
    code *= 2;
    places[bitCount] = place - code;
    for (const [symbol, length] of lengths.entries())
      if (length === bitCount) {
        symbols[place++] = symbol;
        largest[bitCount] = code++;
      }
  }
  return { symbols, largest, places, shortest: Math.min(...lengths) };
}

function readSymbol(bits: BitReader, { symbols, largest, places, shortest }: Code): number {
  const next = bits.peek(MAX_CODE_BITS);
  for (let length = shortest; length <= MAX_CODE_BITS; length++) {
    const code = next >>> (MAX_CODE_BITS - length);
    if (code > largest[length]!) continue;
    bits.skip(length);
    const symbol = symbols[code + places[length]!];
    if (symbol === undefined) break;
    return symbol;
  }
  throw bzip2Fault();
}
