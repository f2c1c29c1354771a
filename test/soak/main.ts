// `npm run soak -- --streams 50 --minutes 60 --runtime node26`: live streams for a long time, to check that memory stays flat
// and no event is lost. It is not part of the tests: its duration is an argument.
import process from "node:process";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { Beat } from "../../adapters/cli/bench/beat.ts";
import { type StreamServer, startStreamServer } from "../bench/stream/stream-server.ts";
import { type RuntimeName, runtimes } from "../support/runtimes.ts";
import { growthOf, type Sample } from "./slope.ts";
import { type ReceivedCounts, SoakedCall } from "./soaked-call.ts";

const { values } = parseArgs({
  options: {
    streams: { type: "string", default: "50" },
    minutes: { type: "string", default: "60" },
    runtime: { type: "string", default: "node26" },
    /** Duration of a call. */
    "call-seconds": { type: "string", default: "120" },
    /** Interval between memory samples. */
    "sample-seconds": { type: "string", default: "30" },
  },
});
const [streams, minutes, callSeconds, sampleSeconds] = [
  values.streams,
  values.minutes,
  values["call-seconds"],
  values["sample-seconds"],
].map(Number) as [number, number, number, number];
const runtime = runtimes.find(({ name }) => name === (values.runtime as RuntimeName));
if (!runtime || runtime.missing)
  throw new Error(runtime?.missing ?? `unknown runtime "${values.runtime}": use node26, node22, bun or deno`);
/** Callee that presses 1 2 3 4 #. */
const CALLEE = "+12025550107";
const MIB = 2 ** 20;
/** The first calls of all lines must have ended before memory is measured. */
const warmUpMinutes = Math.min(minutes / 4, 5);

const total = { calls: 0, expected: 0, received: 0, audioExpected: 0, audioReceived: 0 };
const faults: string[] = [];
const heap: Sample[] = [];
const rss: Sample[] = [];
const startedAt = performance.now();
const minute = (): number => (performance.now() - startedAt) / 60_000;
let isStopping = false;
process.once("SIGINT", () => {
  isStopping = true;
});

const server = await startStreamServer(runtime, { maxDurationMs: callSeconds * 1000 });
const beat = new Beat();
beat.start();
console.log(
  `${new Date().toISOString()} ${streams} streams on ${runtime.name} for ${minutes} min, ${callSeconds} s a call`,
);
const instances = await server.ask("link", streams);
const soakRuns = Promise.all(instances.map((instance, n) => soak(server, instance, n)));
soakRuns.catch(() => {}); // awaited below
await watch(server);
isStopping = true;
await soakRuns;
await server.stop();
beat.stop();
process.exit(judge() ? 0 : 1);

/** Calls in succession from one instance. */
async function soak(server: StreamServer, instance: string, n: number): Promise<void> {
  // Staggered: otherwise all calls end at once, every time.
  await pause((n / streams) * Math.min(callSeconds, 20) * 1000);
  while (!isStopping) {
    const [url = ""] = await server.place([instance], CALLEE);
    const share = 0.3 + 0.4 * Math.random();
    count(await new SoakedCall(url, beat, share * callSeconds * 1000).run());
    // The line is free once the call's leg has ended, shortly after its client was notified.
    await pause(200);
  }
}

function count({ events, audio, faults: newFaults }: ReceivedCounts): void {
  total.calls++;
  total.expected += events.expected;
  total.received += Math.min(events.received, events.expected);
  total.audioExpected += audio.expected;
  total.audioReceived += audio.received;
  for (const fault of newFaults) {
    faults.push(fault);
    console.log(`  FAULT at ${minute().toFixed(1)} min: ${fault}`);
  }
}

/** Samples the memory until the end of the run. */
async function watch(server: StreamServer): Promise<void> {
  while (minute() < minutes && !isStopping) {
    await server.ask("begin");
    await pause(Math.min(sampleSeconds * 1000, Math.max(0, (minutes - minute()) * 60_000)));
    const { p99, max } = await server.ask("lateness");
    const memory = await server.ask("memory");
    const at = minute();
    if (at >= warmUpMinutes) {
      heap.push({ minute: at, bytes: memory.heap + memory.external });
      rss.push({ minute: at, bytes: memory.rss });
    }
    const [heapMib, processMib] = [memory.heap + memory.external, memory.rss].map((bytes) => (bytes / MIB).toFixed(1));
    console.log(
      `${at.toFixed(1).padStart(6)} min  calls ${total.calls}  events ${total.received} of ${total.expected}` +
        `  audio ${total.audioReceived} of ${total.audioExpected}  retained ${heapMib} MiB  process ${processMib} MiB` +
        `  lateness p99 ${p99.toFixed(1)} ms, max ${max.toFixed(1)} ms${at < warmUpMinutes ? "  (warming up)" : ""}`,
    );
  }
}

/** Prints the verdict; returns true if it is good. */
function judge(): boolean {
  const heapGrowth = growthOf(heap, 0.05, 2 * MIB);
  const processGrowth = growthOf(rss, 0.05, 8 * MIB);
  const lostEvents = total.expected - total.received;
  const audioShare = total.audioReceived / Math.max(1, total.audioExpected);
  const hasEnough = heap.length >= 5 && total.calls > 0;
  const growthText = ({ bytes, allowedBytes }: typeof heapGrowth): string =>
    `${(bytes / MIB).toFixed(2)} MiB (up to ${(allowedBytes / MIB).toFixed(1)} MiB is noise)`;
  const window = heap.length > 1 ? heap.at(-1)!.minute - heap[0]!.minute : 0;
  console.log(`\n${minute().toFixed(1)} min, ${total.calls} calls that lasted ${callSeconds} s, ${streams} at once`);
  console.log(`  events: ${total.received} of ${total.expected} received, ${lostEvents} lost`);
  console.log(`  callee's audio: ${(audioShare * 100).toFixed(3)} % of the messages received`);
  console.log(
    `  retained memory grew by ${growthText(heapGrowth)} in ${window.toFixed(1)} min: ${heapGrowth.isFlat ? "flat" : "GROWS"}`,
  );
  console.log(`  the process grew by ${growthText(processGrowth)}: ${processGrowth.isFlat ? "flat" : "GROWS"}`);
  console.log(`  faults: ${faults.length}`);
  const isGood =
    hasEnough &&
    lostEvents === 0 &&
    faults.length === 0 &&
    heapGrowth.isFlat &&
    processGrowth.isFlat &&
    audioShare > 0.99;
  const verdict = !hasEnough ? "too short to judge" : isGood ? "memory is flat, no event was lost" : "FAILED";
  console.log(`verdict: ${verdict}`);
  return isGood;
}
