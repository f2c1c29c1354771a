import { PerformanceObserver } from "node:perf_hooks";
import process from "node:process";
import { ms, type Row, row } from "./benchmark.ts";

/** Timer delay that counts as a stall, ms. */
const PERIOD_MS = 1;

/** The longest turn of an event loop. */
export interface LongestTurn {
  /** Elapsed time, ms. */
  readonly elapsedMs: number;
  /** Processor time, ms; undefined if the runtime does not report it. */
  readonly processorMs: number | undefined;
}

/** A row with the longest stall. @param maxMs upper limit of the processor time, ms. Default: none */
export function stallRow(figure: string, { elapsedMs, processorMs }: LongestTurn, maxMs?: number): Row {
  const elapsed = `${ms(elapsedMs)} including other programs on the machine`;
  if (processorMs === undefined) return row(figure, elapsed);
  const measured = `${ms(processorMs)} of processor time (${elapsed})`;
  return maxMs === undefined ? row(figure, measured) : row(figure, measured, `≤ ${maxMs} ms`, processorMs <= maxMs);
}

/**
 * The longest turns of this thread's event loop. Elapsed time includes other programs on the machine; processor time,
 * if the runtime reports it per thread, includes only the thread's own work.
 */
export class EventLoop implements LongestTurn {
  elapsedMs = 0;
  processorMs: number | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #lastTickAt = 0;
  #processorAt: number | undefined;

  start(): void {
    this.elapsedMs = 0;
    this.#processorAt = threadMs();
    this.processorMs = this.#processorAt === undefined ? undefined : 0;
    this.#lastTickAt = performance.now();
    this.#timer = setTimeout(this.#tick, PERIOD_MS);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  readonly #tick = (): void => {
    const now = performance.now();
    this.elapsedMs = Math.max(this.elapsedMs, now - this.#lastTickAt - PERIOD_MS);
    const processorNow = threadMs();
    if (processorNow !== undefined && this.#processorAt !== undefined)
      this.processorMs = Math.max(this.processorMs ?? 0, processorNow - this.#processorAt);
    this.#processorAt = processorNow;
    this.#lastTickAt = now;
    this.#timer = setTimeout(this.#tick, PERIOD_MS);
  };
}

/** Garbage collections of this thread. */
export class GarbageCollections {
  /** True on Node, the only runtime that reports them. */
  static readonly areReported: boolean = !("Bun" in globalThis || "Deno" in globalThis);
  count = 0;
  totalMs = 0;
  longestMs = 0;
  readonly #observer = new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) {
      this.count++;
      this.totalMs += duration;
      this.longestMs = Math.max(this.longestMs, duration);
    }
  });

  start(): void {
    if (GarbageCollections.areReported) this.#observer.observe({ entryTypes: ["gc"] });
  }

  stop(): void {
    this.#observer.disconnect();
  }
}

/** Processor time of this thread, ms. Deno counts it in steps of 10 ms, which are too coarse. */
function threadMs(): number | undefined {
  if ("Deno" in globalThis) return undefined;
  const { threadCpuUsage } = process as { threadCpuUsage?: () => NodeJS.CpuUsage };
  if (threadCpuUsage === undefined) return undefined;
  const { user, system } = threadCpuUsage.call(process);
  return (user + system) / 1_000;
}
