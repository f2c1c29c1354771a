import { scriptHmac } from "./hmac.ts";
import { NativeKeystream } from "./keystream.ts";
import { createWasmCipher } from "./wasm/wasm-cipher.ts";

/** HMAC-SHA1 (RFC 2104) with one key. */
export interface Hmac {
  /** The HMAC of the first `length` bytes: 20 bytes in an array that the next call may use again. */
  digest(bytes: Uint8Array, length: number): Uint8Array;
}

/** The keystream of AES in counter mode (RFC 3711 section 4.1.1) with one key. */
export interface Keystream {
  /** Combines the bytes from `from` to `to` with the keystream of a packet, by exclusive or. */
  xor(bytes: Uint8Array, from: number, to: number, ssrc: number, roc: number, sequence: number): void;
}

/** The algorithms of the suites with AES in counter mode. */
export interface PacketCipher {
  /** Takes a session key of 16 or 32 bytes and a salt of 14 bytes. */
  keystream(key: Uint8Array, salt: Uint8Array): Keystream;
  /** Takes a key of at most 64 bytes. */
  hmac(key: Uint8Array): Hmac;
}

/** Maximum length of a packet without index and tag, bytes: no datagram is longer. */
export const MAX_PACKET_BYTES = 65_536;

/** The runtime's AES and HMAC in JavaScript. The keystream allocates an array for every eighth packet. */
export const scriptCipher: PacketCipher = {
  keystream: (key, salt) => new NativeKeystream(key, salt),
  hmac: scriptHmac,
};

let threadCipher: PacketCipher | undefined;

/** The cipher of this thread: in WebAssembly, unless the runtime or the processor lacks its vector instructions. */
export function packetCipher(): PacketCipher {
  threadCipher ??= createWasmCipher(MAX_PACKET_BYTES) ?? scriptCipher;
  return threadCipher;
}
