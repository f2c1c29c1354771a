import process from "node:process";
import { pause } from "./many-calls.ts";

/** As far apart that finalizers and writes under way have come to rest. */
const REST_MS = 1_500;
/** Buffers that nobody has any more are given back beside the program; packets by the thousand take a moment. */
const SWEEP_MS = 100;

/** Bytes that are in use, the smallest of three looks: what is on its way to the disk comes and goes. */
export async function heldMemory(): Promise<{ bytes: number; rss: number }> {
  let least = { bytes: Infinity, rss: 0 };
  for (let look = 0; look < 3; look++) {
    await pause(REST_MS);
    collectGarbage();
    await pause(SWEEP_MS);
    collectGarbage();
    const { heapUsed, external, rss } = process.memoryUsage();
    const bytes = "Bun" in globalThis ? heapUsed : heapUsed + external; // Bun's heap counts what lies outside as well
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
