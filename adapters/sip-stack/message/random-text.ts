import type { System } from "../ports.ts";
import { toHex } from "../ports.ts";

/** Random bytes as hex digits: for tags, branches, Call-IDs and salts, which must not be guessable. */
export function randomText(system: Pick<System, "random">, bytes: number): string {
  const random = new Uint8Array(bytes);
  system.random(random);
  return toHex(random);
}
