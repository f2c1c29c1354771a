import type { Hmac } from "./hmac.ts";
import { SHA1_BLOCK, SHA1_START, sha1Step } from "./sha1.ts";

/** The last bytes of a message with their padding; every use writes it anew. */
const tail = new Uint8Array(2 * SHA1_BLOCK);
const state = new Int32Array(5);

/** HMAC-SHA1 of our own: the part that depends on the key alone is computed once, and no call allocates. */
export function ownHmac(key: Uint8Array): Hmac {
  const inner = afterPad(key, 0x36);
  const outer = afterPad(key, 0x5c);
  const digest = new Uint8Array(20);
  return {
    digest(bytes, length) {
      const whole = length - (length % SHA1_BLOCK);
      state.set(inner);
      for (let at = 0; at < whole; at += SHA1_BLOCK) sha1Step(state, bytes, at);
      for (let i = whole; i < length; i++) tail[i - whole] = bytes[i]!;
      finish(length - whole, SHA1_BLOCK + length);
      writeState(tail);
      state.set(outer);
      finish(20, SHA1_BLOCK + 20);
      writeState(digest);
      return digest;
    },
  };
}

/** The chaining value after the key's first block. */
function afterPad(key: Uint8Array, pad: number): Int32Array {
  const block = new Uint8Array(SHA1_BLOCK).fill(pad);
  for (let i = 0; i < key.length; i++) block[i] = key[i]! ^ pad;
  const after = Int32Array.from(SHA1_START);
  sha1Step(after, block, 0);
  return after;
}

/** Pads the first `rest` bytes of the tail, of a message of `total` bytes in all, and takes them in. */
function finish(rest: number, total: number): void {
  const end = rest < SHA1_BLOCK - 8 ? SHA1_BLOCK : 2 * SHA1_BLOCK;
  tail[rest] = 0x80;
  tail.fill(0, rest + 1, end - 4);
  const bits = total * 8;
  tail[end - 4] = bits >>> 24;
  tail[end - 3] = bits >>> 16;
  tail[end - 2] = bits >>> 8;
  tail[end - 1] = bits;
  sha1Step(state, tail, 0);
  if (end > SHA1_BLOCK) sha1Step(state, tail, SHA1_BLOCK);
}

function writeState(into: Uint8Array): void {
  for (let word = 0, i = 0; word < 5; word++, i += 4) {
    const value = state[word]!;
    into[i] = value >>> 24;
    into[i + 1] = value >>> 16;
    into[i + 2] = value >>> 8;
    into[i + 3] = value;
  }
}
