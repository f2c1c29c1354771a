/** Largest block of a stream, bytes. */
const BLOCK_BYTES = 90_000;
const CODE_BITS = 9;
const GROUP = 50;

/** Writes bits, the highest of each byte first. */
export class BitWriter {
  readonly #bytes: number[] = [];
  #count = 0;

  write(value: number, bits: number): this {
    for (let bit = bits - 1; bit >= 0; bit--) {
      if (this.#count % 8 === 0) this.#bytes.push(0);
      if (Math.floor(value / 2 ** bit) % 2 === 1) this.#bytes[this.#bytes.length - 1]! |= 0x80 >> (this.#count % 8);
      this.#count++;
    }
    return this;
  }

  /** The bytes; the last one is filled with zeros. */
  bytes(): Uint8Array<ArrayBuffer> {
    return Uint8Array.from(this.#bytes);
  }
}

/** Compresses bytes as bzip2 does, with codes of one length: for tests, since the program may not be installed. */
export function bzip2(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const out = new BitWriter().write(0x425a68, 24).write(0x39, 8);
  let combinedCrc = 0;
  for (let at = 0; at < bytes.length; at += BLOCK_BYTES) {
    const part = bytes.subarray(at, at + BLOCK_BYTES);
    const crc = crcOf(part);
    combinedCrc = (((combinedCrc << 1) | (combinedCrc >>> 31)) ^ crc) >>> 0;
    writeBlock(out, withRuns(part), crc);
  }
  return out.write(0x177245385090, 48).write(combinedCrc, 32).bytes();
}

function writeBlock(out: BitWriter, block: Uint8Array, crc: number): void {
  const rotations = sortedRotations(block);
  const usedBytes = [...new Set(block)].sort((a, b) => a - b);
  const last = rotations.map((start) => block[(start + block.length - 1) % block.length]!);
  const symbols = moveToFront(last, usedBytes);
  writeBlockHead(out, crc, rotations.indexOf(0), usedBytes);
  const groups = Math.ceil(symbols.length / GROUP);
  out.write(2, 3).write(groups, 15);
  for (let group = 0; group < groups; group++) out.write(0, 1);
  for (let table = 0; table < 2; table++) {
    out.write(CODE_BITS, 5);
    for (let symbol = 0; symbol < usedBytes.length + 2; symbol++) out.write(0, 1);
  }
  for (const symbol of symbols) out.write(symbol, CODE_BITS);
}

/** Writes the magic number, checksum, start and used bytes of a block. */
export function writeBlockHead(out: BitWriter, crc: number, start: number, usedBytes: readonly number[]): void {
  out.write(0x314159265359, 48).write(crc, 32).write(0, 1).write(start, 24);
  const rows = Array.from({ length: 16 }, (_, row) => usedBytes.filter((byte) => byte >> 4 === row));
  for (const row of rows) out.write(row.length > 0 ? 1 : 0, 1);
  for (const row of rows)
    if (row.length > 0)
      for (let column = 0; column < 16; column++) out.write(row.some((byte) => byte % 16 === column) ? 1 : 0, 1);
}

/** Replaces more than four equal bytes by four and the number of the others. */
function withRuns(bytes: Uint8Array): Uint8Array {
  const out: number[] = [];
  for (let at = 0; at < bytes.length; ) {
    let length = 1;
    while (length < 259 && bytes[at + length] === bytes[at]) length++;
    out.push(...Array.from({ length: Math.min(4, length) }, () => bytes[at]!));
    if (length >= 4) out.push(length - 4);
    at += length;
  }
  return Uint8Array.from(out);
}

/** Starts of all rotations in their order: sorts by 1, 2, 4 … bytes. */
function sortedRotations(block: Uint8Array): number[] {
  const { length } = block;
  let ranks = Array.from(block);
  let order = Array.from({ length }, (_, at) => at);
  for (let width = 1; ; width *= 2) {
    const key = (at: number): number => ranks[at]! * (length + 256) + ranks[(at + width) % length]!;
    const keys = order.map((_, at) => key(at));
    order = order.sort((a, b) => keys[a]! - keys[b]!);
    const next: number[] = [];
    let rank = 0;
    for (const [index, at] of order.entries()) {
      if (index > 0 && keys[at] !== keys[order[index - 1]!]) rank++;
      next[at] = rank;
    }
    ranks = next;
    if (rank === length - 1 || width >= length) return order;
  }
}

function moveToFront(bytes: readonly number[], usedBytes: readonly number[]): number[] {
  const recentBytes = [...usedBytes];
  const symbols: number[] = [];
  let zeros = 0;
  const flush = (): void => {
    for (; zeros > 0; zeros = (zeros - 1) >> 1) symbols.push((zeros - 1) % 2);
  };
  for (const byte of bytes) {
    const index = recentBytes.indexOf(byte);
    if (index === 0) {
      zeros++;
      continue;
    }
    flush();
    recentBytes.splice(index, 1);
    recentBytes.unshift(byte);
    symbols.push(index + 1);
  }
  flush();
  return [...symbols, usedBytes.length + 1];
}

function crcOf(bytes: Uint8Array): number {
  let crc = -1;
  for (const byte of bytes) {
    crc ^= byte << 24;
    for (let bit = 0; bit < 8; bit++) crc = (crc << 1) ^ (crc < 0 ? 0x04c11db7 : 0);
  }
  return ~crc >>> 0;
}
