import type { System } from "../../../../src/ports/system.ts";

/** A random number, 0 to 1 (1 excluded). */
export function chance(system: System): number {
  const bytes = new Uint8Array(2);
  system.random(bytes);
  return (bytes[0]! * 256 + bytes[1]!) / 65_536;
}
