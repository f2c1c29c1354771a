import process from "node:process";
import { pause } from "./many-calls.ts";

/** Far enough apart for finalizers and running writes to settle. */
const REST_MS = 1_500;
/** Unreferenced buffers are freed in the background; thousands of packets take a moment. */
const SWEEP_MS = 100;

/** Bytes in use, the minimum of three samples, because pending disk writes vary. */
export async function heldMemory(): Promise<{ bytes: number; rss: number }> {
  let least = { bytes: Infinity, rss: 0 };
  for (let look = 0; look < 3; look++) {
    await pause(REST_MS);
    collectGarbage();
    await pause(SWEEP_MS);
    collectGarbage();
    const { heapUsed, external, rss } = process.memoryUsage();
    const bytes = "Bun" in globalThis ? heapUsed : heapUsed + external; // Bun's heap includes external memory
    if (bytes < least.bytes) least = { bytes, rss };
  }
  return least;
}

function collectGarbage(): void {
  const { Bun, gc } = globalThis as { Bun?: { gc(force: boolean): void }; gc?: () => void };
  if (Bun) Bun.gc(true);
  else if (gc) gc();
  else throw new Error("start Node with --expose-gc");
}
