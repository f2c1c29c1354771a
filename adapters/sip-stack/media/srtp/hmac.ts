import type { Hmac } from "./packet-cipher.ts";

/** Size of a SHA-1 block, bytes. */
const SHA1_BLOCK = 64;

/** SHA-1's initial chaining value. */
const SHA1_START: readonly number[] = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0];

/** The expanded message of the current step; empty between steps. */
const W = new Int32Array(80);

/**
 * Performs one step of SHA-1 (RFC 3174 section 6.1): updates the five-word chaining value with the 64 bytes at `at`.
 */
function sha1Step(state: Int32Array, bytes: Uint8Array, at: number): void {
  for (let t = 0, i = at; t < 16; t++, i += 4)
    W[t] = (bytes[i]! << 24) | (bytes[i + 1]! << 16) | (bytes[i + 2]! << 8) | bytes[i + 3]!;
  for (let t = 16; t < 80; t++) {
    const x = W[t - 3]! ^ W[t - 8]! ^ W[t - 14]! ^ W[t - 16]!;
    W[t] = (x << 1) | (x >>> 31);
  }
  let a = state[0]!;
  let b = state[1]!;
  let c = state[2]!;
  let d = state[3]!;
  let e = state[4]!;
  for (let t = 0; t < 20; t++) {
    const next = (((a << 5) | (a >>> 27)) + ((b & c) | (~b & d)) + e + W[t]! + 0x5a827999) | 0;
    e = d;
    d = c;
    c = (b << 30) | (b >>> 2);
    b = a;
    a = next;
  }
  for (let t = 20; t < 40; t++) {
    const next = (((a << 5) | (a >>> 27)) + (b ^ c ^ d) + e + W[t]! + 0x6ed9eba1) | 0;
    e = d;
    d = c;
    c = (b << 30) | (b >>> 2);
    b = a;
    a = next;
  }
  for (let t = 40; t < 60; t++) {
    const next = (((a << 5) | (a >>> 27)) + ((b & c) | (b & d) | (c & d)) + e + W[t]! + 0x8f1bbcdc) | 0;
    e = d;
    d = c;
    c = (b << 30) | (b >>> 2);
    b = a;
    a = next;
  }
  for (let t = 60; t < 80; t++) {
    const next = (((a << 5) | (a >>> 27)) + (b ^ c ^ d) + e + W[t]! + 0xca62c1d6) | 0;
    e = d;
    d = c;
    c = (b << 30) | (b >>> 2);
    b = a;
    a = next;
  }
  state[0] = (state[0]! + a) | 0;
  state[1] = (state[1]! + b) | 0;
  state[2] = (state[2]! + c) | 0;
  state[3] = (state[3]! + d) | 0;
  state[4] = (state[4]! + e) | 0;
}

/** The last bytes of a message with their padding, rewritten for each use. */
const tail = new Uint8Array(2 * SHA1_BLOCK);
const state = new Int32Array(5);

/** An HMAC-SHA1 that computes the part for the key only once, and does not allocate per call. */
export function scriptHmac(key: Uint8Array): Hmac {
  const inner = padState(key, 0x36);
  const outer = padState(key, 0x5c);
  const digest = new Uint8Array(20);
  return {
    digest(bytes, length) {
      const blockBytes = length - (length % SHA1_BLOCK);
      state.set(inner);
      for (let at = 0; at < blockBytes; at += SHA1_BLOCK) sha1Step(state, bytes, at);
      for (let i = blockBytes; i < length; i++) tail[i - blockBytes] = bytes[i]!;
      finish(length - blockBytes, SHA1_BLOCK + length);
      writeState(tail);
      state.set(outer);
      finish(20, SHA1_BLOCK + 20);
      writeState(digest);
      return digest;
    },
  };
}

/** The chaining value after the key's first block. */
function padState(key: Uint8Array, pad: number): Int32Array {
  const block = new Uint8Array(SHA1_BLOCK).fill(pad);
  for (let i = 0; i < key.length; i++) block[i] = key[i]! ^ pad;
  const chaining = Int32Array.from(SHA1_START);
  sha1Step(chaining, block, 0);
  return chaining;
}

/**
 * Pads and processes the last `tailBytes` bytes of a message, which are in `tail`; the whole message has `total` bytes.
 */
function finish(tailBytes: number, total: number): void {
  const end = tailBytes < SHA1_BLOCK - 8 ? SHA1_BLOCK : 2 * SHA1_BLOCK;
  tail[tailBytes] = 0x80;
  tail.fill(0, tailBytes + 1, end - 4);
  const bits = total * 8;
  tail[end - 4] = bits >>> 24;
  tail[end - 3] = bits >>> 16;
  tail[end - 2] = bits >>> 8;
  tail[end - 1] = bits;
  sha1Step(state, tail, 0);
  if (end > SHA1_BLOCK) sha1Step(state, tail, SHA1_BLOCK);
}

function writeState(output: Uint8Array): void {
  for (let word = 0, i = 0; word < 5; word++, i += 4) {
    const value = state[word]!;
    output[i] = value >>> 24;
    output[i + 1] = value >>> 16;
    output[i + 2] = value >>> 8;
    output[i + 3] = value;
  }
}
