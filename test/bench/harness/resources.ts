import { readdirSync, readFileSync } from "node:fs";
import process from "node:process";
import { setTimeout as pause } from "node:timers/promises";
import { collectGarbage } from "../../support/collect-garbage.ts";

/** Clock ticks in a second; fixed on Linux (`getconf CLK_TCK`). */
const TICKS = 100;
/** Long enough for finalizers and pending writes. */
const IDLE_MS = 1_500;
/** Unused buffers are freed on another thread; thousands of packets take a moment. */
const SWEEP_MS = 100;

/**
 * Processor time that all of a process's threads have used so far, s; undefined without /proc. Unlike elapsed time, it
 * does not include other programs on the same machine.
 */
export function processorSeconds(pid: number): number | undefined {
  if (pid === process.pid) {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  }
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" "); // from the third field on
    return (Number(fields[11]) + Number(fields[12])) / TICKS;
  } catch {
    return undefined;
  }
}

/** Resident memory of a process, MiB; 0 if it has ended. */
export function residentMiB(pid: number): number {
  try {
    return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "latin1"))?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}

/** Process ids of the children of a process. */
export function childrenOf(pid: number): readonly number[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, "latin1").split(" ").filter(Boolean).map(Number),
  );
}

/** Time used by a run. */
export interface TimeSpent {
  readonly seconds: number;
  /** Processor time of the process, s; undefined if the system does not report it. */
  readonly processor: number | undefined;
}

/** Elapsed time and processor time of a process during a run. */
export async function timeSpent(pid: number, run: () => unknown): Promise<TimeSpent> {
  const [startMs, processorBefore] = [performance.now(), processorSeconds(pid)];
  await run();
  const [seconds, processorAfter] = [(performance.now() - startMs) / 1000, processorSeconds(pid)];
  return {
    seconds,
    processor:
      processorBefore === undefined || processorAfter === undefined ? undefined : processorAfter - processorBefore,
  };
}

/** Share of one core. */
export const share = ({ seconds, processor = Number.NaN }: TimeSpent): number => processor / seconds;

/** Resolves when a process is idle; a server warms up its voices after its first response. */
export async function untilIdle(pid: number): Promise<void> {
  for (let previous = processorSeconds(pid); ; ) {
    await pause(500);
    const now = processorSeconds(pid);
    if (now === undefined || previous === undefined || now - previous < 0.02) return;
    previous = now;
  }
}

/** Memory after a full garbage collection, bytes. */
export interface MemoryFigures {
  readonly heap: number;
  /** Buffers outside of the heap; 0 if the heap counts them. */
  readonly external: number;
  readonly rss: number;
}

export function memoryFigures(): MemoryFigures {
  collectGarbage();
  const { heapUsed, external, rss } = process.memoryUsage();
  return { heap: heapUsed, external: "Bun" in globalThis ? 0 : external, rss };
}

/** Bytes in use: the minimum of three samples, because pending writes vary. */
export async function usedMemory(): Promise<{ bytes: number; rss: number }> {
  let smallest = { bytes: Number.POSITIVE_INFINITY, rss: 0 };
  for (let sample = 0; sample < 3; sample++) {
    await pause(IDLE_MS);
    collectGarbage();
    await pause(SWEEP_MS);
    const { heap, external, rss } = memoryFigures();
    if (heap + external < smallest.bytes) smallest = { bytes: heap + external, rss };
  }
  return smallest;
}
