// `npm run test:tier -- hostile`: calls whose remote end sends corrupted SIP, SDP, RTP and RTCP, batch by batch; CONTRIBUTING.md explains how to replay one.
import process from "node:process";
import { growthOf, type Sample } from "../soak/slope.ts";
import { runBatch } from "./batch.ts";
import { isIsolated, runIsolated } from "./namespace.ts";

/** Tolerated heap growth over all batches, bytes, after two warm-up batches. */
const MAX_GROWTH = 8 * 2 ** 20;
const WARM_UP = 2;

const code = runIsolated();
if (code !== undefined) process.exit(code);

const seedText = process.env.SEED;
const firstSeed = seedText === undefined ? Date.now() % 1_000_000 : Number(seedText);
const targetAnswers = Number(process.env.ANSWERS ?? (seedText === undefined ? 20_000 : 1));
if (!Number.isInteger(firstSeed) || !(targetAnswers > 0))
  throw new Error("SEED must be a whole number, ANSWERS a number above 0");

let seed = firstSeed;
let failedBatches = 0;
const unhandled: string[] = [];
for (const event of ["uncaughtException", "unhandledRejection"] as const)
  process.on(event, (fault: unknown) => void unhandled.push(`unhandled: ${(fault as Error)?.stack ?? fault}`));

console.log(
  `corrupted responses from seed ${firstSeed}, ${isIsolated ? "in a network namespace" : "on loopback addresses only"}`,
);
const startedAt = performance.now();
const samples: Sample[] = [];
let [messages, packets, calls] = [0, 0, 0];
for (; messages < targetAnswers; seed++) {
  const batchStartedAt = performance.now();
  const result = await runBatch(seed);
  messages += result.messages;
  packets += result.packets;
  calls += result.calls;
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  if (seed - firstSeed >= WARM_UP)
    samples.push({ minute: (batchStartedAt - startedAt) / 60_000, bytes: heapUsed + external });
  const faults = [...result.faults, ...unhandled.splice(0)];
  const durationSeconds = ((performance.now() - batchStartedAt) / 1_000).toFixed(1);
  const memory = ((heapUsed + external) / 2 ** 20).toFixed(1);
  console.log(
    `seed ${seed}  ${durationSeconds} s  ${result.calls} calls  ${result.messages} messages  ${result.packets} packets  ${memory} MiB  ${faults.length === 0 ? "✓" : "✗"}`,
  );
  if (faults.length === 0) continue;
  failedBatches++;
  for (const fault of new Set(faults)) console.log(`  ${fault}`);
  console.log(`  replay: SEED=${seed} npm run test:tier -- hostile`);
}
const growth = growthOf(samples, 0, MAX_GROWTH);
if (globalThis.gc && samples.length > 2 && !growth.isFlat) {
  failedBatches++;
  console.log(`memory grew by ${(growth.bytes / 2 ** 20).toFixed(1)} MiB, from seed ${firstSeed} to ${seed - 1}`);
}
const seconds = ((performance.now() - startedAt) / 1_000).toFixed(0);
const verdict = failedBatches === 0 ? "every call ended, and the valid ones were heard" : `${failedBatches} faults`;
console.log(`${messages} corrupted messages and ${packets} packets in ${calls} calls, ${seconds} s: ${verdict}`);
process.exit(failedBatches === 0 ? 0 : 1);
