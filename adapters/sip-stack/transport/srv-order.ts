import type { System } from "../ports.ts";

/** A SRV record (RFC 2782). */
export interface SrvRecord {
  readonly priority: number;
  readonly weight: number;
  readonly name: string;
  readonly port: number;
}

/**
 * The order in which to try the servers: the lowest priority first, and a weighted random order among equals (RFC 2782).
 * A name of `.` means that the service is not available.
 */
export function srvOrder(records: readonly SrvRecord[], system: System): SrvRecord[] {
  const left = records
    .filter(({ name }) => name !== "" && name !== ".")
    // Records without weight come first, else they would never be drawn.
    .sort((one, other) => one.priority - other.priority || Math.sign(one.weight) - Math.sign(other.weight));
  const ordered: SrvRecord[] = [];
  while (left.length > 0) {
    const { priority } = left[0] as SrvRecord;
    const equals = left.filter((record) => record.priority === priority);
    const total = equals.reduce((sum, { weight }) => sum + weight, 0);
    const lot = draw(system, total);
    let sum = 0;
    const drawn = equals.find(({ weight }) => {
      sum += weight;
      return sum >= lot;
    }) as SrvRecord;
    ordered.push(drawn);
    left.splice(left.indexOf(drawn), 1);
  }
  return ordered;
}

/** A uniformly distributed whole number from 0 to `most`. */
function draw(system: System, most: number): number {
  const bytes = new Uint8Array(6);
  system.random(bytes);
  const value = bytes.reduce((number, byte) => number * 256 + byte, 0);
  return Math.floor((value / 2 ** 48) * (most + 1));
}
