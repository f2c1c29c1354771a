import type { System } from "../../../../src/ports/system.ts";

/** What a SRV record says (RFC 2782). */
export interface SrvRecord {
  readonly priority: number;
  readonly weight: number;
  readonly name: string;
  readonly port: number;
}

/**
 * The order in which the servers are to be tried: the lowest priority first, and among equals by lot, the heavier the
 * more often (RFC 2782). A name of `.` is a service that is not there.
 */
export function srvOrder(records: readonly SrvRecord[], system: System): SrvRecord[] {
  const left = records
    .filter(({ name }) => name !== "" && name !== ".")
    // Those without weight stand first, so that they are drawn at all.
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

/** A whole number from 0 to `most`, each as likely as the others. */
function draw(system: System, most: number): number {
  const bytes = new Uint8Array(6);
  system.random(bytes);
  const value = bytes.reduce((number, byte) => number * 256 + byte, 0);
  return Math.floor((value / 2 ** 48) * (most + 1));
}
