/**
 * Instructions of WebAssembly (Core Specification, section 5.4), written as expressions: `add(get(0), i32(1))`. This is
 * an assembler for the few instructions that encryption takes, so that no compiler or binary file is part of the source.
 */
export type Code = readonly (number | Code)[];

/** A type of a local variable. */
export const I32 = 0x7f;
export const V128 = 0x7b;

export const get = (local: number): Code => [0x20, ...unsigned(local)];
export const set = (local: number, value: Code): Code => [value, 0x21, ...unsigned(local)];
export const i32 = (value: number): Code => [0x41, ...signed(value | 0)];

export const add = binary(0x6a);
export const sub = binary(0x6b);
export const and = binary(0x71);
export const or = binary(0x72);
export const xor = binary(0x73);
export const shiftLeft = binary(0x74);
export const shiftRight = binary(0x76);
export const rotateLeft = binary(0x77);
export const isLess = binary(0x49);

/** Loads and stores at an address and a fixed offset from it. */
export const load = (address: Code, offset = 0): Code => [address, 0x28, 0, ...unsigned(offset)];
export const store = (address: Code, value: Code, offset = 0): Code => [address, value, 0x36, 0, ...unsigned(offset)];
export const storeByte = (address: Code, value: Code): Code => [address, value, 0x3a, 0, 0];
/** Sets `length` bytes to zero. */
export const clear = (address: Code, length: Code): Code => [address, i32(0), length, 0xfc, 0x0b, 0];

/** Repeats the body while the condition holds, which is tested after it. */
export const repeat = (body: Code, condition: Code): Code => [0x03, 0x40, body, condition, 0x0d, 0, 0x0b];
export const callFunction = (index: number): Code => [0x10, ...unsigned(index)];

/** Operations on vectors of 16 bytes. */
export const vLoad = (address: Code, offset = 0): Code => [address, 0xfd, 0, 0, ...unsigned(offset)];
export const vStore = (address: Code, value: Code, offset = 0): Code => [
  address,
  value,
  0xfd,
  0x0b,
  0,
  ...unsigned(offset),
];
export const vConst = (bytes: Uint8Array): Code => [0xfd, 0x0c, ...bytes];
export const vXor = vBinary(0x51);
export const vAnd = vBinary(0x4e);
/** Replaces each index of the second vector by that byte of the first; by 0 if it is 16 or more. */
export const lookUp = vBinary(0x0e);
/** Order that turns words of the network into words of the processor, and back. */
export const SWAPPED_WORDS: Uint8Array = Uint8Array.of(3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12);
/** Puts the bytes of a vector into another order. */
export const reorder = (value: Code, order: Iterable<number>): Code => [value, value, 0xfd, 0x0d, ...order];
/** Shifts each 16-bit lane to the right. */
export const vShiftRight = (value: Code, bits: number): Code => [value, i32(bits), 0xfd, ...unsigned(0x8d)];
export const lane = (value: Code, index: number): Code => [value, 0xfd, 0x1b, index];
/** A vector of four words. */
export const words = (first: Code, ...others: readonly Code[]): Code => [
  first,
  0xfd,
  0x11,
  ...others.flatMap((value, i) => [value, 0xfd, 0x1c, i + 1]),
];

/** A function of a module. */
export interface WasmFunction {
  /** Name under which it is exported, if it is. */
  readonly name?: string;
  /** Number of parameters, all `I32`; they are its first locals. */
  readonly parameters: number;
  /** Types of the other locals. */
  readonly locals: readonly number[];
  readonly body: Code;
}

/** The binary form of a module that imports its memory as `m.m` (Core Specification, section 5.5). */
export function assembleModule(functions: readonly WasmFunction[]): Uint8Array<ArrayBuffer> {
  const names = functions.flatMap(({ name }, index) =>
    name === undefined ? [] : [[name.length, ...Array.from(name, (letter) => letter.charCodeAt(0)), 0, index]],
  );
  return Uint8Array.from(
    flatten([
      ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
      ...section(
        1,
        functions.map(({ parameters }) => [0x60, parameters, ...Array(parameters).fill(I32), 0]),
      ),
      ...section(2, [[1, 0x6d, 1, 0x6d, 2, 0, 1]]),
      ...section(
        3,
        functions.map((_, index) => [index]),
      ),
      ...section(7, names),
      ...section(
        10,
        functions.map(({ locals, body }) => {
          const code = flatten([unsigned(locals.length), locals.map((type) => [1, type]), body, 0x0b]);
          return [unsigned(code.length), code];
        }),
      ),
    ]),
  );
}

function section(id: number, items: readonly Code[]): Code {
  const content = flatten([unsigned(items.length), items]);
  return [id, unsigned(content.length), content];
}

function binary(instruction: number): (left: Code, right: Code) => Code {
  return (left, right) => [left, right, instruction];
}

function vBinary(instruction: number): (left: Code, right: Code) => Code {
  return (left, right) => [left, right, 0xfd, ...unsigned(instruction)];
}

/** The numbers of an expression, in order. */
function flatten(code: Code, numbers: number[] = []): number[] {
  for (const part of code)
    if (typeof part === "number") numbers.push(part);
    else flatten(part, numbers);
  return numbers;
}

/** A number in LEB128 (section 5.2.2). */
function unsigned(value: number): Code {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...unsigned(value >>> 7)];
}

function signed(value: number): Code {
  return value >= -0x40 && value < 0x40 ? [value & 0x7f] : [(value & 0x7f) | 0x80, ...signed(value >> 7)];
}
