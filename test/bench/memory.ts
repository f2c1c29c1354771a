import type { MediaPlace } from "../../adapters/telephony/sip/index.ts";
import { atMost, benchmark, progress, row } from "./harness/benchmark.ts";
import { insideEach, type Measure } from "./harness/programs.ts";
import { usedMemory } from "./harness/resources.ts";
import { pause, simulatedWorld, spokenCall, trunkWorld, waitUntilAllAnswered } from "./harness/world.ts";
import { startCallees } from "./sip/callees.ts";
import { withEcho } from "./sip/echo.ts";

const TEXT = "Every callee hears this one message while memory is being measured. ".repeat(60).slice(0, 4000);
/** After 32 s (64 times T1, RFC 3261 section 17) the transactions that set a call up have ended. */
const SET_UP_MS = 34_000;

/** Asterisk 22 takes 155 KiB per call. */
const MAX_GROWTH_KIB = 250;

/** Memory of each live simulated call. */
export const MEMORY = benchmark({
  options: { calls: { meaning: "additional calls", value: 1000, quick: 100 } },
  run: (values) => insideEach(["node26", "bun"], import.meta.url, values),
});

/** Memory of each live call over a trunk: of all its objects in one thread, then with its audio in a media thread. */
export const SIP_MEMORY = benchmark({
  options: { calls: { meaning: "additional calls", value: 500, quick: 60 } },
  run: (values) =>
    withEcho(async (echo) => [
      ...(await insideEach(["node26", "bun"], import.meta.url, { ...values, echo })),
      ...(await insideEach(["node26", "bun"], import.meta.url, { ...values, echo, media: "worker" })),
    ]),
});

/** Compares the process's memory during a few calls and during many; the calls go over a trunk if there is an echo. */
export const measure: Measure<{ calls: number; echo?: number; media?: MediaPlace }> = async (options) => {
  const { calls, echo, media = "thread" } = options;
  const callees = echo === undefined ? undefined : await startCallees({ echo, hangUpMs: 0 });
  const world = callees === undefined ? await simulatedWorld() : await trunkWorld(callees.uri, media);
  const [fewCalls, maxKiB] = callees === undefined ? [100, 64] : [50, 96];
  const memoryDuringCalls = async (instances: readonly string[], firstNumber: number) => {
    const callee = (n: number) => (callees === undefined ? undefined : `+1202${5_550_000 + firstNumber + n}`);
    // In sequence over a trunk, so that no request is retransmitted.
    const step = callees === undefined ? instances.length : 1;
    for (let start = 0; start < instances.length; start += step)
      await waitUntilAllAnswered(
        world,
        await world.place(instances.slice(start, start + step).map((id, n) => spokenCall(id, TEXT, callee(start + n)))),
      );
    if (callees !== undefined) await pause(SET_UP_MS);
    return usedMemory();
  };
  try {
    progress(`${fewCalls} calls, then ${calls} more`);
    const instances = await world.link(fewCalls + calls);
    const fewCallsMemory = await memoryDuringCalls(instances.slice(0, fewCalls), 0);
    const manyCallsMemory = await memoryDuringCalls(instances.slice(fewCalls), fewCalls);
    const perCall = (name: "bytes" | "rss"): number => (manyCallsMemory[name] - fewCallsMemory[name]) / calls / 1024;
    if (media === "worker")
      return [atMost("growth per call, audio in a media thread", perCall("rss"), MAX_GROWTH_KIB, "KiB")];
    return [
      atMost("held per call", perCall("bytes"), maxKiB, "KiB"),
      row("growth of the process per call", `${perCall("rss").toFixed(1)} KiB`),
    ];
  } finally {
    await world.stop();
    await callees?.stop();
  }
};
