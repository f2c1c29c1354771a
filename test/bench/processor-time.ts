import { readFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";

/** Clock ticks in a second; fixed on Linux (`getconf CLK_TCK`). */
const TICKS = 100;

/**
 * Processor time used by all threads of a process so far, s; undefined without /proc. Unlike the
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

/** Resolves when a process is idle: a server warms up its voices after it has started to respond. */
export async function atRest(pid: number): Promise<void> {
  for (let before = processorSeconds(pid); ; ) {
    await setTimeout(500);
    const now = processorSeconds(pid);
    if (now === undefined || before === undefined || now - before < 0.02) return;
    before = now;
  }
}
