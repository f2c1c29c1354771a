import { type AesTables, S_BOX_CONSTANT } from "./aes-tables.ts";
import {
  add,
  type Code,
  get,
  I32,
  i32,
  isLess,
  lookUp,
  or,
  repeat,
  SWAPPED_WORDS,
  set,
  shiftLeft,
  shiftRight,
  sub,
  V128,
  vAnd,
  vConst,
  vLoad,
  vShiftRight,
  vStore,
  vXor,
  type WasmFunction,
  words,
} from "./assembler.ts";

/** Addresses that the keystream uses. */
export interface KeystreamMemory {
  /** The salt, padded to 16 bytes, followed by the round keys of {@link roundKeys}. */
  readonly salt: number;
  /** The generated blocks; up to one more than ordered. */
  readonly stream: number;
}

const BLOCK = 16;
/** Number of blocks encrypted side by side, so that the processor does not wait for the lookups of one. */
export const BLOCKS_AT_ONCE = 2;

/** The order of ShiftRows, after a rotation of each column by a number of bytes. */
const shiftedRows = (rotation = 0): Uint8Array =>
  Uint8Array.from({ length: BLOCK }, (_, i) => {
    const row = ((i & 3) + rotation) & 3;
    return ((((i >> 2) + row) & 3) << 2) | row;
  });

/** Locals that hold vectors of one block. */
type BlockLocals = Readonly<Record<"state" | "low" | "high" | "scaled" | "other" | "once", number>>;

/**
 * Generates keystream (RFC 3711 section 4.1.1). Parameters: SSRC, rollover counter, sequence number, address of the last
 * round key, address after the last block.
 */
export function keystreamFunction({ salt, stream }: KeystreamMemory, tables: AesTables): WasmFunction {
  const [ssrc, roc, sequence, lastKey, end, at, key, first] = [0, 1, 2, 3, 4, 5, 6, 7];
  const lanes = Array.from({ length: BLOCKS_AT_ONCE }, (_, n) => n);
  const local = (n: number): BlockLocals => {
    const at = first + n * 6;
    return { state: at, low: at + 1, high: at + 2, scaled: at + 3, other: at + 4, once: at + 5 };
  };
  // Constants are kept in locals: Node's and Deno's compiler would create each one anew for every use, and Bun's shuffles
  // are no faster than lookups.
  const constants: Uint8Array[] = [];
  const constant = (bytes: Uint8Array): Code => {
    const known = constants.findIndex((other) => String(other) === String(bytes));
    return get(first + 6 * BLOCKS_AT_ONCE + (known < 0 ? constants.push(bytes) - 1 : known));
  };
  const move = (value: Code, order: Uint8Array): Code => lookUp(value, constant(order));
  const mask = constant(new Uint8Array(BLOCK).fill(0x0f));
  const each = (code: (n: number) => Code): Code => lanes.map(code);
  const split = (n: number) => {
    const { state, low, high } = local(n);
    return [set(high, vAnd(vShiftRight(get(state), 4), mask)), set(low, vAnd(get(state), mask))];
  };

  const counter = (n: number): Code => {
    const block = shiftRight(sub(get(at), i32(stream - n * BLOCK)), i32(4));
    const value = words(i32(0), get(ssrc), get(roc), or(shiftLeft(get(sequence), i32(16)), block));
    return set(local(n).state, vXor(move(value, SWAPPED_WORDS), vLoad(i32(salt))));
  };
  const begin = (n: number): Code => {
    const { state, low, high } = local(n);
    const pairs = vXor(lookUp(constant(tables.splitLow), get(low)), lookUp(constant(tables.splitHigh), get(high)));
    return set(state, vXor(pairs, vLoad(i32(salt + BLOCK))));
  };
  const inverse = constant(tables.inverse);
  /** Computes 1/p and 1/q, into `low` and `high`, from the pairs in `state`. */
  const invert = [
    each(split),
    each((n) => {
      const { low, high, scaled, other } = local(n);
      const toP = lookUp(inverse, vXor(lookUp(inverse, get(high)), get(scaled)));
      return [
        set(scaled, lookUp(constant(tables.scaledInverse), get(low))),
        set(other, vXor(get(low), get(high))),
        set(low, vXor(toP, get(other))),
      ];
    }),
    each((n) => {
      const { high, scaled, other } = local(n);
      const toQ = lookUp(inverse, vXor(lookUp(inverse, get(other)), get(scaled)));
      return set(high, vXor(toQ, get(high)));
    }),
  ];
  const substituted = (n: number, [fromP, fromQ]: readonly [Uint8Array, Uint8Array]): Code =>
    vXor(lookUp(constant(fromP), get(local(n).low)), lookUp(constant(fromQ), get(local(n).high)));
  /** MixColumns after ShiftRows: 2a + 3b + c + d, with the column's next bytes. */
  const mix = (n: number): Code => {
    const { state, once, other } = local(n);
    return [
      set(once, substituted(n, tables.once)),
      set(other, substituted(n, tables.twice)),
      set(
        state,
        vXor(
          vXor(move(get(other), shiftedRows()), move(vXor(get(other), get(once)), shiftedRows(1))),
          vXor(vXor(move(get(once), shiftedRows(2)), move(get(once), shiftedRows(3))), vLoad(get(key))),
        ),
      ),
    ];
  };
  const finish = (n: number): Code =>
    vStore(get(at), vXor(move(substituted(n, tables.last), shiftedRows()), vLoad(get(lastKey))), n * BLOCK);

  const body = [
    set(at, i32(stream)),
    repeat(
      [
        each(counter),
        each(split),
        each(begin),
        set(key, i32(salt + 2 * BLOCK)),
        repeat([invert, each(mix), set(key, add(get(key), i32(BLOCK)))], isLess(get(key), get(lastKey))),
        invert,
        each(finish),
        set(at, add(get(at), i32(BLOCKS_AT_ONCE * BLOCK))),
      ],
      isLess(get(at), get(end)),
    ),
  ];
  return {
    name: "keystream",
    parameters: 5,
    locals: [I32, I32, ...Array(6 * BLOCKS_AT_ONCE + constants.length).fill(V128)],
    body: [constants.map((bytes, n) => set(first + 6 * BLOCKS_AT_ONCE + n, vConst(bytes))), body],
  };
}

/** The round keys of a key of 16 or 32 bytes (FIPS 197, section 5.2), prepared for {@link keystreamFunction}. */
export function roundKeys(key: Uint8Array, { sBox, pair }: AesTables): Uint8Array {
  const rounds = key.length / 4 + 6;
  const bytes = new Uint8Array((rounds + 1) * BLOCK);
  bytes.set(key);
  let constant = 1;
  for (let at = key.length; at < bytes.length; at += 4) {
    let word = bytes.slice(at - 4, at);
    if (at % key.length === 0) {
      word = Uint8Array.of(sBox[word[1]!]! ^ constant, sBox[word[2]!]!, sBox[word[3]!]!, sBox[word[0]!]!);
      constant = (constant << 1) ^ (constant & 0x80 ? 0x11b : 0);
    } else if (key.length === 32 && at % key.length === 16) word = word.map((byte) => sBox[byte]!);
    for (let i = 0; i < 4; i++) bytes[at + i] = bytes[at + i - key.length]! ^ word[i]!;
  }
  // Rounds work with pairs, and leave the S-box's constant to the key that follows; the last round's result is bytes.
  return bytes.map((byte, at) => {
    if (at < BLOCK) return pair[byte]!;
    return at < rounds * BLOCK ? pair[byte ^ S_BOX_CONSTANT]! : byte ^ S_BOX_CONSTANT;
  });
}
