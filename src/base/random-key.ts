import { toHex } from "./hex.ts";

/** A unique key: 128 random bits as hex. Pages over plain HTTP have no `crypto.randomUUID`. */
export function randomKey(): string {
  return toHex(crypto.getRandomValues(new Uint8Array(16)));
}
