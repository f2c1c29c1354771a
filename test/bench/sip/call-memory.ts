import { progress } from "../benchmark.ts";
import { heldMemory } from "../held-memory.ts";
import { answered, pause, spokenCall } from "../many-calls.ts";
import type { Measurable } from "../under-runtime.ts";
import { startCallees } from "./callees.ts";
import { startTrunkWorld } from "./trunk-world.ts";

const BEFORE = 50;
const MAX_KIB = 96;
/** After 32 s (64 times T1, RFC 3261 section 17) the transactions that set up a call have ended. */
const SET_UP_OVER_MS = 34_000;
const TEXT = "Every callee hears this one message while memory is being measured. ".repeat(60).slice(0, 4000);

/** Compares what the process holds with fifty calls over a trunk talking and with many more. */
export const measure: Measurable["measure"] = async ({ calls = 0, echo = 0 }) => {
  const callees = await startCallees({ echo, hangUpMs: 0 });
  const world = await startTrunkWorld(callees.uri, "thread");
  const talk = async (instances: readonly string[], from: number): Promise<void> => {
    for (const [n, id] of instances.entries()) {
      const call = await world.place(spokenCall(id, TEXT, `+1202${5_550_000 + from + n}`));
      await answered(world.ringport, call.id);
    }
  };
  try {
    progress("bringing instances online");
    const instances = await world.link(BEFORE + calls);
    progress(`${BEFORE} calls, then ${calls} more`);
    await talk(instances.slice(0, BEFORE), 0);
    await pause(SET_UP_OVER_MS);
    const before = await heldMemory();
    await talk(instances.slice(BEFORE), BEFORE);
    await pause(SET_UP_OVER_MS);
    const after = await heldMemory();
    const kib = (after.bytes - before.bytes) / calls / 1024;
    const rss = (after.rss - before.rss) / calls / 1024;
    return [
      {
        what: "held per call",
        measured: `${kib.toFixed(1)} KiB`,
        wanted: `≤ ${MAX_KIB} KiB`,
        reached: kib <= MAX_KIB,
      },
      { what: "growth of the process per call", measured: `${rss.toFixed(1)} KiB` },
    ];
  } finally {
    await world.stop();
    await callees.stop();
  }
};
