/**
 * Tables that turn AES's S-box into lookups of sixteen entries, which a vector instruction does for all bytes of a block
 * at once and in constant time (Mike Hamburg, "Accelerating AES with vector permute instructions", 2009). They are
 * computed here from the definitions of the fields.
 *
 * A byte x of AES's field is iζ + jζ̄ with i and j of the field of 16 elements, where ζ + ζ̄ = 1 and ζζ̄ = λ. With
 * k = i + j and a = 1/λ, two values give the inverse, since 1/x = p(ζ̄ + λ) + q(ζ + λ):
 *
 *     1/p = 1/(1/i + a/k) + j        1/q = 1/(1/j + a/k) + i
 *
 * A byte with its highest bit set stands for 1/0: any lookup of it results in 0.
 */
export interface AesTables {
  /** Maps a byte's lower and upper four bits to the pair (i, k), by exclusive or of both. */
  readonly splitLow: Uint8Array;
  readonly splitHigh: Uint8Array;
  /** 1/n, and a/n. */
  readonly inverse: Uint8Array;
  readonly scaledInverse: Uint8Array;
  /** Parts of the S-box's result from 1/p and 1/q, as pairs; the same multiplied by 2; and as bytes of AES. */
  readonly once: readonly [Uint8Array, Uint8Array];
  readonly twice: readonly [Uint8Array, Uint8Array];
  readonly last: readonly [Uint8Array, Uint8Array];
  /** A byte of AES as a pair, and AES's S-box. */
  readonly pair: Uint8Array;
  readonly sBox: Uint8Array;
}

/** The constant of the S-box's affine map. */
export const S_BOX_CONSTANT = 0x63;
const INFINITY = 0x80;

export function aesTables(): AesTables {
  const bytes = Array.from({ length: 256 }, (_, byte) => byte);
  const nibbles = bytes.slice(0, 16);
  // An element of order 15 generates the smaller field; its first four powers are the basis.
  const generator = power(3, 17);
  const element = nibbles.map((n) =>
    [1, 2, 4, 8].reduce((sum, bit, exponent) => sum ^ (n & bit ? power(generator, exponent) : 0), 0),
  );
  const zeta = bytes.find((byte) => (byte ^ power(byte, 16)) === 1)!;
  const conjugate = zeta ^ 1;
  const lambda = multiply(zeta, conjugate);

  const pair = new Uint8Array(256);
  for (const i of nibbles)
    for (const j of nibbles) pair[multiply(element[i]!, zeta) ^ multiply(element[j]!, conjugate)] = (i << 4) | (i ^ j);

  const table = (entry: (n: number) => number) => Uint8Array.from(nibbles, entry);
  const parts = (convert: (byte: number) => number) =>
    [conjugate, zeta].map((root) =>
      table((n) => convert(linearPart(multiply(power(element[n]!, 254), root ^ lambda)))),
    ) as unknown as readonly [Uint8Array, Uint8Array];
  const quotient = (dividend: number) =>
    table((n) => (n === 0 ? INFINITY : element.indexOf(multiply(dividend, power(element[n]!, 254)))));
  return {
    splitLow: table((n) => pair[n]!),
    splitHigh: table((n) => pair[n << 4]!),
    inverse: quotient(1),
    scaledInverse: quotient(power(lambda, 254)),
    once: parts((byte) => pair[byte]!),
    twice: parts((byte) => pair[multiply(2, byte)]!),
    last: parts((byte) => byte),
    pair,
    sBox: Uint8Array.from(bytes, (byte) => linearPart(power(byte, 254)) ^ S_BOX_CONSTANT),
  };
}

/** The S-box's affine map without its constant (FIPS 197, section 5.1.1). */
function linearPart(byte: number): number {
  let result = 0;
  for (let turn = 0; turn < 5; turn++) result ^= (byte << turn) | (byte >>> (8 - turn));
  return result & 0xff;
}

/** The product of two bytes in AES's field (FIPS 197, section 4.2). */
export function multiply(a: number, b: number): number {
  let product = 0;
  for (let x = a, y = b; y > 0; y >>>= 1, x = (x << 1) ^ (x & 0x80 ? 0x11b : 0)) if (y & 1) product ^= x;
  return product;
}

/** The powers of 3, which are all bytes but 0, and the exponent of each. */
const POWERS = new Uint8Array(255);
const LOGARITHMS = new Uint8Array(256);
for (let exponent = 0, byte = 1; exponent < POWERS.length; exponent++, byte = multiply(byte, 3)) {
  POWERS[exponent] = byte;
  LOGARITHMS[byte] = exponent;
}

/** A power of a byte; the exponent 254 gives its inverse, and 0 for 0. */
function power(byte: number, exponent: number): number {
  return byte === 0 ? 0 : POWERS[(LOGARITHMS[byte]! * exponent) % POWERS.length]!;
}
