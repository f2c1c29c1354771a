import { atMost, benchmark, progress, row } from "./harness/benchmark.ts";
import { insideEach, type Measure } from "./harness/programs.ts";
import { heldMemory } from "./harness/resources.ts";
import { answered, pause, simulatedWorld, spokenCall, trunkWorld } from "./harness/world.ts";
import { startCallees } from "./sip/callees.ts";
import { besideEcho } from "./sip/echo.ts";

const TEXT = "Every callee hears this one message while memory is being measured. ".repeat(60).slice(0, 4000);
/** After 32 s (64 times T1, RFC 3261 section 17) the transactions that set a call up have ended. */
const SET_UP_MS = 34_000;

/** Memory that each live simulated call takes. */
export const MEMORY = benchmark({
  options: { calls: { meaning: "calls that come on top", value: 1000, quick: 100 } },
  run: (values) => insideEach(["node26", "bun"], import.meta.url, values),
});

/** Memory that each live call over a trunk takes. */
export const SIP_MEMORY = benchmark({
  options: { calls: { meaning: "calls that come on top", value: 500, quick: 60 } },
  run: (values) => besideEcho((echo) => insideEach(["node26", "bun"], import.meta.url, { ...values, echo })),
});

/** Compares the memory of the process with some calls talking and with many more; over a trunk if there is an echo. */
export const measure: Measure<{ calls: number; echo?: number }> = async ({ calls, echo }) => {
  const callees = echo === undefined ? undefined : await startCallees({ echo, hangUpMs: 0 });
  const world = callees === undefined ? await simulatedWorld() : await trunkWorld(callees.uri, "thread");
  const [before, maxKiB] = callees === undefined ? [100, 64] : [50, 96];
  const heldWhileTalking = async (instances: readonly string[], from: number) => {
    const callee = (n: number) => (callees === undefined ? undefined : `+1202${5_550_000 + from + n}`);
    // In sequence over a trunk, so that no transaction is repeated.
    const step = callees === undefined ? instances.length : 1;
    for (let at = 0; at < instances.length; at += step)
      await answered(
        world,
        await world.place(instances.slice(at, at + step).map((id, n) => spokenCall(id, TEXT, callee(at + n)))),
      );
    if (callees !== undefined) await pause(SET_UP_MS);
    return heldMemory();
  };
  try {
    progress(`${before} calls, then ${calls} more`);
    const instances = await world.link(before + calls);
    const few = await heldWhileTalking(instances.slice(0, before), 0);
    const many = await heldWhileTalking(instances.slice(before), before);
    const perCall = (name: "bytes" | "rss"): number => (many[name] - few[name]) / calls / 1024;
    return [
      atMost("held per call", perCall("bytes"), maxKiB, "KiB"),
      row("growth of the process per call", `${perCall("rss").toFixed(1)} KiB`),
    ];
  } finally {
    await world.stop();
    await callees?.stop();
  }
};
