import { readFileSync } from "node:fs";

/** Clock ticks in a second; fixed on Linux (`getconf CLK_TCK`). */
const TICKS = 100;

/**
 * Processor time that a process has used so far, all of its threads, s; undefined where there is no /proc. Unlike the
 * clock on the wall it does not count what other programs do on the same machine.
 */
export function processorSeconds(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" "); // from the third field on
    return (Number(fields[11]) + Number(fields[12])) / TICKS;
  } catch {
    return undefined;
  }
}
