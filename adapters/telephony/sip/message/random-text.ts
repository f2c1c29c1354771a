import { toHex } from "../../../../src/base/hex.ts";
import type { System } from "../../../../src/ports/system.ts";

/** Random bytes as hex digits: for tags, branches, Call-IDs and salts, which must not be guessable. */
export function randomText(system: Pick<System, "random">, bytes: number): string {
  const random = new Uint8Array(bytes);
  system.random(random);
  return toHex(random);
}
