// Preloaded into a process with `--import`: writes each turn of its event loop that took too long into the file `STALLS`.
import { appendFileSync } from "node:fs";
import { isMainThread } from "node:worker_threads";

/** A stall of an event loop. */
export interface Stall {
  /** Its end, ms since 1970. */
  readonly at: number;
  readonly ms: number;
}

const TICK_MS = 2;
/** Shorter ones are of no interest, ms. */
const NOTED_MS = 20;

const file = process.env.STALLS;
// Threads that speak or read bodies are busy for as long as that takes.
if (file !== undefined && isMainThread) {
  let due = performance.now() + TICK_MS;
  const tick = (): void => {
    const now = performance.now();
    const ms = now - due;
    if (ms >= NOTED_MS)
      appendFileSync(file, `${JSON.stringify({ at: Date.now(), ms: Math.round(ms) } satisfies Stall)}\n`);
    due = performance.now() + TICK_MS;
    setTimeout(tick, TICK_MS).unref();
  };
  setTimeout(tick, TICK_MS).unref();
}
