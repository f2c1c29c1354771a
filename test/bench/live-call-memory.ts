import process from "node:process";
import { answered, pause, spokenCall, startManyCalls } from "./many-calls.ts";
import type { Measurable } from "./under-runtime.ts";

const BEFORE = 100;
const TEXT = "Every callee hears this one message while memory is being measured. ".repeat(60).slice(0, 4000);
/** As far apart that finalizers and writes under way have come to rest. */
const REST_MS = 1_500;

/** Compares what the process holds with a hundred calls talking and with many more. */
export const measure: Measurable["measure"] = async ({ calls = 0 }) => {
  const world = await startManyCalls();
  const talk = async (instances: readonly string[]) => {
    for (const { id } of await world.place(instances.map((id) => spokenCall(id, TEXT))))
      await answered(world.ringport, id);
  };
  try {
    const instances = await world.link(BEFORE + calls);
    await talk(instances.slice(0, BEFORE));
    const before = await held();
    await talk(instances.slice(BEFORE));
    const after = await held();
    const kib = (after.bytes - before.bytes) / calls / 1024;
    const rss = (after.rss - before.rss) / calls / 1024;
    return [
      { what: "held per call", measured: `${kib.toFixed(1)} KiB`, wanted: "≤ 64 KiB", reached: kib <= 64 },
      { what: "growth of the process per call", measured: `${rss.toFixed(1)} KiB` },
    ];
  } finally {
    await world.stop();
  }
};

/** Bytes that are in use, the smallest of three looks: what is on its way to the disk comes and goes. */
async function held(): Promise<{ bytes: number; rss: number }> {
  let least = { bytes: Infinity, rss: 0 };
  for (let look = 0; look < 3; look++) {
    await pause(REST_MS);
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
