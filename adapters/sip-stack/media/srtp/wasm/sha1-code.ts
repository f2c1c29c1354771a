import {
  add,
  and,
  type Code,
  callFunction,
  clear,
  get,
  I32,
  i32,
  isLess,
  lane,
  load,
  or,
  reorder,
  repeat,
  rotateLeft,
  SWAPPED_WORDS,
  set,
  shiftLeft,
  store,
  storeByte,
  sub,
  V128,
  vLoad,
  vStore,
  type WasmFunction,
  xor,
} from "./assembler.ts";

/** Addresses that the HMAC uses. */
export interface HmacMemory {
  /** SHA-1's chaining value: 20 bytes. */
  readonly chaining: number;
  /** Chaining values after the key's inner and outer block: 20 bytes each, with 12 unused ones between them. */
  readonly inner: number;
  readonly outer: number;
  /** The second hash's block, whose padding is already there; its first 20 bytes are written. */
  readonly outerBlock: number;
  /** The message. Up to 72 bytes after it are overwritten. */
  readonly message: number;
}

const BLOCK = 64;
/** SHA-1's constant for each twenty steps. */
const CONSTANTS = [0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6] as const;

/**
 * SHA-1's compression (RFC 3174 section 6.1) of the block at the address of its parameter into the chaining value. The
 * steps are unrolled, so that all words stay in registers.
 */
export function compressFunction({ chaining }: HmacMemory): WasmFunction {
  const [vector, firstWord, firstState] = [1, 2, 18];
  const code: Code[] = [];
  for (let i = 0; i < 16; i++) {
    if (i % 4 === 0) code.push(set(vector, reorder(vLoad(get(0), i * 4), SWAPPED_WORDS)));
    code.push(set(firstWord + i, lane(get(vector), i % 4)));
  }
  let state = Array.from({ length: 5 }, (_, i) => firstState + i);
  for (const [i, local] of state.entries()) code.push(set(local, load(i32(chaining), i * 4)));
  for (let step = 0; step < 80; step++) {
    const [a, b, c, d, e] = state as [number, number, number, number, number];
    const word = (distance: number) => get(firstWord + ((step - distance) & 15));
    if (step >= 16)
      code.push(set(firstWord + (step & 15), rotateLeft(xor(xor(word(3), word(8)), xor(word(14), word(16))), i32(1))));
    const sum = add(add(get(e), add(word(0), i32(CONSTANTS[Math.floor(step / 20)]!))), mixed(step, b, c, d));
    code.push(set(e, add(sum, rotateLeft(get(a), i32(5)))), set(b, rotateLeft(get(b), i32(30))));
    state = [e, a, b, c, d];
  }
  for (const [i, local] of state.entries())
    code.push(store(i32(chaining), add(load(i32(chaining), i * 4), get(local)), i * 4));
  return { name: "compress", parameters: 1, locals: [V128, ...Array(21).fill(I32)], body: code };
}

/** The function of three words that a step uses. */
function mixed(step: number, b: number, c: number, d: number): Code {
  if (step < 20) return xor(get(d), and(get(b), xor(get(c), get(d))));
  if (step < 40 || step >= 60) return xor(get(b), xor(get(c), get(d)));
  return or(and(get(b), get(c)), and(get(d), or(get(b), get(c))));
}

/**
 * HMAC-SHA1 (RFC 2104) of a message with the length of its parameter; the digest replaces the chaining value.
 * @param compress index of the compression
 */
export function hmacFunction(
  { chaining, inner, outer, outerBlock, message }: HmacMemory,
  compress: number,
): WasmFunction {
  const [length, end, at] = [0, 1, 2];
  const load20 = (from: number) => [
    vStore(i32(chaining), vLoad(i32(from))),
    store(i32(chaining), load(i32(from), 16), 16),
  ];
  const swap20 = (to: number) => [
    vStore(i32(to), reorder(vLoad(i32(chaining)), SWAPPED_WORDS)),
    store(i32(to), lane(reorder(vLoad(i32(chaining), 16), SWAPPED_WORDS), 0), 16),
  ];
  // 9 bytes for the padding's mark and the length.
  const paddedEnd = and(add(get(length), i32(9 + BLOCK - 1)), i32(-BLOCK));
  const bits = shiftLeft(add(get(length), i32(BLOCK)), i32(3));
  const swappedBits = or(
    and(rotateLeft(bits, i32(8)), i32(0x00ff00ff)),
    and(rotateLeft(bits, i32(24)), i32(0xff00ff00)),
  );
  const body = [
    set(end, add(paddedEnd, i32(message))),
    set(at, add(get(length), i32(message))),
    clear(get(at), sub(get(end), get(at))),
    storeByte(get(at), i32(0x80)),
    store(sub(get(end), i32(4)), swappedBits),
    load20(inner),
    set(at, i32(message)),
    repeat([get(at), callFunction(compress), set(at, add(get(at), i32(BLOCK)))], isLess(get(at), get(end))),
    swap20(outerBlock),
    load20(outer),
    [i32(outerBlock), callFunction(compress)],
    swap20(chaining),
  ];
  return { name: "hmac", parameters: 1, locals: [I32, I32], body };
}
