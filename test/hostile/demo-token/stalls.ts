// Preloaded into a process with `--import`: writes each slow turn of its event loop into the file `STALLS`.
import { appendFileSync, existsSync, openSync, readSync } from "node:fs";
import { isMainThread } from "node:worker_threads";

/** A stall of an event loop. */
export interface Stall {
  /** End of the stall, ms since 1970. */
  readonly at: number;
  readonly ms: number;
  /** The part of it in which the thread was ready, but every processor was busy with other threads, ms. */
  readonly waitedMs: number;
}

const TICK_MS = 2;
/** Minimum duration of a recorded stall, ms. */
const MIN_STALL_MS = 20;

/** Times of the main thread: on a processor, waiting for one, ns; and the number of waits (Linux, `sched-stats`). */
const TIMES = "/proc/self/schedstat";
const times = existsSync(TIMES) ? openSync(TIMES, "r") : undefined;
const buffer = new Uint8Array(64);

const file = process.env.STALLS;
// Other threads are meant to be busy while they speak or parse bodies.
if (file !== undefined && isMainThread) {
  let nextTickAt = performance.now() + TICK_MS;
  let waited = waitedMs();
  const tick = (): void => {
    const now = performance.now();
    const ms = now - nextTickAt;
    const waitedBefore = waited;
    waited = waitedMs();
    if (ms >= MIN_STALL_MS) {
      const stall: Stall = { at: Date.now(), ms: Math.round(ms), waitedMs: Math.round(waited - waitedBefore) };
      appendFileSync(file, `${JSON.stringify(stall)}\n`);
    }
    nextTickAt = performance.now() + TICK_MS;
    setTimeout(tick, TICK_MS).unref();
  };
  setTimeout(tick, TICK_MS).unref();
}

function waitedMs(): number {
  if (times === undefined) return 0;
  const length = readSync(times, buffer, 0, buffer.length, 0);
  return Number(new TextDecoder().decode(buffer.subarray(0, length)).split(" ")[1]) / 1e6;
}
