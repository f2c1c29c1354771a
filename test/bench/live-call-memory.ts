import { heldMemory } from "./held-memory.ts";
import { answered, spokenCall, startManyCalls } from "./many-calls.ts";
import type { Measurable } from "./under-runtime.ts";

const BEFORE = 100;
const TEXT = "Every callee hears this one message while memory is being measured. ".repeat(60).slice(0, 4000);

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
    const before = await heldMemory();
    await talk(instances.slice(BEFORE));
    const after = await heldMemory();
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
