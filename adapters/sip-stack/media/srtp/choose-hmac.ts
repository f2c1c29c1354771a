import type { CreateHmac } from "./hmac.ts";
import { nativeHmac } from "./native-hmac.ts";
import { ownHmac } from "./own-hmac.ts";

/** Our own code takes as long for a packet of speech as the native library, once called, for about so many bytes. */
const WORTH_BYTES = 2_500;
const PACKET_BYTES = 176;
const MANY_BYTES = 8_192;
const ROUNDS = 6;
const CALLS_PER_ROUND = 10;

let chosen: CreateHmac | undefined;

/**
 * The HMAC that is quicker on this runtime, found out once per thread in a few milliseconds: by what a call into the native
 * library costs apart from its work. On Node and Deno that is the price of 5,000 bytes and more, on Bun of about 1,000.
 * Our own code is not timed: until the runtime has compiled it, that would say nothing.
 */
export function chooseHmac(): CreateHmac {
  chosen ??= nativeCallBytes() < WORTH_BYTES ? nativeHmac : ownHmac;
  return chosen;
}

/** What a call of the native HMAC costs beside the hashing, in bytes that could be hashed meanwhile. */
function nativeCallBytes(): number {
  const short = fastestRound(new Uint8Array(PACKET_BYTES));
  const long = fastestRound(new Uint8Array(PACKET_BYTES + MANY_BYTES));
  const perByte = (long - short) / MANY_BYTES;
  return perByte > 0 ? short / perByte - PACKET_BYTES : Number.POSITIVE_INFINITY;
}

/** The fastest of a few rounds, ms: disturbances only make a round slower. */
function fastestRound(bytes: Uint8Array): number {
  const hmac = nativeHmac(new Uint8Array(20));
  let fastest = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS; round++) {
    const begun = performance.now();
    for (let i = 0; i < CALLS_PER_ROUND; i++) hmac.digest(bytes, bytes.length);
    fastest = Math.min(fastest, performance.now() - begun);
  }
  return fastest;
}
