// `npm run test:tier -- demo-token`: a hostile user with one demo token, for ten minutes, against 20 live calls and another active user.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Beat } from "../../../adapters/cli/bench/beat.ts";
import { quantile } from "../../bench/harness/benchmark.ts";
import { SoakedCall } from "../../soak/soaked-call.ts";
import { run, runtimes, start } from "../../support/runtimes.ts";
import { send } from "../../support/server-http.ts";
import type { AttackCounts } from "./attacker.ts";
import type { Stall } from "./stalls.ts";
import { Victim, WARM_UP_MS } from "./victim.ts";

const MINUTES = Number(process.env.MINUTES ?? 10);
const LIVE_CALLS = Number(process.env.LIVE_CALLS ?? 20);
const MIB = 2 ** 20;
/** Limits for the effects of the hostile user. */
const MAX_STALL_MS = Number(process.env.MAX_STALL_MS ?? 50);
const MAX_MEMORY_BYTES = Number(process.env.MAX_MEMORY_MIB ?? 64) * MIB;
const MAX_DISK_BYTES = 32 * MIB;
/** 99th percentile of response times for others, ms. */
const MAX_P99_MS = 500;
/** Time after which every attack has run, minutes. */
const ALL_ATTACKS_MINUTES = 2;
/** Time for which live calls and the other user run before the attack, ms. */
const QUIET_MS = Number(process.env.QUIET_SECONDS ?? 90) * 1_000;
/** Time from the first live calls to the end of the attack, with a margin for a busy machine, ms. */
const RUN_MS = WARM_UP_MS + QUIET_MS + MINUTES * 60_000 + 10_000;
/** Maximum duration of a live call; then its line places the next one. The last ones end soon after the attack. */
const CALL_MS = Number(process.env.CALL_SECONDS ?? Math.ceil(RUN_MS / Math.ceil(RUN_MS / 120_000) / 1_000)) * 1_000;
/** Callee that presses the keys that a soak call expects. */
const CALLEE = "+12025550107";

const MAIN = fileURLToPath(new URL("../../../adapters/cli/main.ts", import.meta.url));
const STALLS = fileURLToPath(new URL("./stalls.ts", import.meta.url));
const ATTACKER = fileURLToPath(new URL("./attacker.ts", import.meta.url));
const node = runtimes.find(({ name }) => name === "node26")!;
/** Settings of the memory allocator, as in the systemd unit. */
const unit = readFileSync(new URL("../../../examples/deploy/ringport.service", import.meta.url), "utf8");
const allocator = Object.fromEntries(
  [...unit.matchAll(/\b(MALLOC_\w+)=(\w+)/g)].map(([, name, value]) => [name, value]),
);
const folder = mkdtempSync(join(tmpdir(), "ringport-hostile-"));
const data = join(folder, "data");
const faults: string[] = [];
const env = { RINGPORT_DATA: data, LOG_LEVEL: "warn" };

const server = await start(node, MAIN, {
  args: ["serve"],
  flags: ["--import", STALLS],
  env: {
    ...env,
    ...allocator,
    STALLS: join(folder, "stalls"),
    RINGPORT_TOKEN_FILE: join(folder, "token"),
    RINGPORT_STREAM_PREVIEW: "1",
    RINGPORT_SIMULATOR_TIME_SCALE: "0.1",
    RINGPORT_MAX_DURATION_MS: String(CALL_MS),
    ...(process.env.SERVER_ENV && JSON.parse(process.env.SERVER_ENV)),
  },
});
// An otherwise idle process shows when the machine itself stalled.
const control = spawn(node.command[0]!, ["--import", STALLS, "--eval", "setInterval(() => {}, 1000)"], {
  env: { ...process.env, STALLS: join(folder, "control") },
  stdio: "ignore",
});
const cli = async (...args: string[]): Promise<string> => {
  const { stdout, stderr, code } = await run(node, MAIN, { args, env });
  if (code !== 0) throw new Error(`ringport ${args.join(" ")} failed: ${stderr}`);
  return stdout.trim();
};
const token = await cli("token", "create", "--user", "ana");
const [liveInstances, ownInstances, demoInstances] = await Promise.all([
  linkInstances("live", LIVE_CALLS),
  linkInstances("own", 1),
  linkInstances("demo", 1),
]);
const demoToken = await cli("token", "create", "--user", "ana", "--demo-instance", demoInstances[0]!);
const otherToken = await cli("token", "create", "--user", "bob");
const [otherInstance] = await linkInstances("bob", 1, otherToken);

const abort = new AbortController();
const beat = new Beat();
beat.start();
const liveCalls: string[] = [];
const audio = { expected: 0, received: 0, calls: 0 };
const soakDone = Promise.all(liveInstances.map((instance, n) => soak(instance, n)));
const victims = [new Victim(server.url, token, ownInstances[0]!), new Victim(server.url, otherToken, otherInstance!)];
await Promise.all(victims.map((victim) => victim.warmUp()));
const workDone = Promise.all(victims.map((victim) => victim.work(abort.signal)));
const quietMemory = await peakMemory(QUIET_MS / 1_000);
for (const victim of victims) victim.durations.length = 0;
const baseline = { memory: quietMemory, disk: bytesIn(data), at: Date.now() };
const stallsBefore = ownStalls(0, baseline.at).length;
console.log(
  `${LIVE_CALLS} live calls, ${mib(baseline.memory)} of memory, ${mib(baseline.disk)} on disk, ${stallsBefore} stalls so far; the attack begins`,
);

const attacker = spawn(
  "nice",
  [
    "-n",
    "10",
    node.command[0]!,
    ...node.command.slice(1),
    ATTACKER,
    JSON.stringify({ url: server.url, token: demoToken, instance: demoInstances[0] }),
  ],
  {
    stdio: ["pipe", "pipe", "inherit"],
  },
);
let output = "";
attacker.stdout.on("data", (piece) => {
  output += piece;
});
let peak = 0;
for (let minute = 1; minute <= Math.ceil(MINUTES); minute++) {
  peak = Math.max(peak, await peakMemory(60 * Math.min(1, MINUTES - minute + 1)));
  const stalls = ownStalls(baseline.at, Date.now());
  console.log(
    `minute ${minute}: memory +${mib(peak - baseline.memory)}, disk +${mib(bytesIn(data) - baseline.disk)}, ` +
      `${stalls.length} stalls, the longest ${Math.max(0, ...stalls)} ms, ${victims.flatMap(({ failures }) => failures).length} failed requests`,
  );
}
const attackEnd = Date.now();
const disk = bytesIn(data) - baseline.disk;
const memory = peak - baseline.memory;
abort.abort(); // the lines place no more calls
attacker.stdin.end();
await new Promise((resolve) => attacker.once("close", resolve));
await workDone;
await soakDone;
beat.stop();
await server.stop();
control.kill("SIGKILL");

const outcomes = JSON.parse(output || "{}") as AttackCounts;
for (const [name, counts] of Object.entries(outcomes))
  console.log(
    `  ${name}: ${Object.entries(counts)
      .map(([result, times]) => `${times} × ${result}`)
      .join(", ")}`,
  );
const durations = victims.flatMap((victim) => victim.durations);
console.log(
  `the other users: ${victims.map(({ calls }) => calls).join(" and ")} calls heard, responses in ${quantile(durations, 0.5).toFixed(0)} ms (median), ${quantile(durations, 0.99).toFixed(0)} ms (p99)`,
);
const longestStall = Math.max(
  0,
  ...stallsOf("stalls").map(({ at, ms }) => (at > baseline.at && at <= attackEnd ? ms : 0)),
);
console.log(`the longest turn of the event loop took ${longestStall} ms, including waits for a processor`);
console.log(`live calls: ${audio.calls} ended, ${audio.received} of ${audio.expected} frames of audio`);

const stalls = ownStalls(baseline.at, attackEnd);
if (stalls.length > 0)
  faults.push(
    `the event loop stalled ${stalls.length} times, for ${stalls
      .toSorted((a, b) => b - a)
      .slice(0, 10)
      .join(", ")} ms`,
  );
if (memory > MAX_MEMORY_BYTES) faults.push(`memory grew by ${mib(memory)}; the limit is ${mib(MAX_MEMORY_BYTES)}`);
if (disk > MAX_DISK_BYTES) faults.push(`the data folder grew by ${mib(disk)}; the limit is ${mib(MAX_DISK_BYTES)}`);
for (const { request, cause: reason } of victims.flatMap(({ failures }) => failures).slice(0, 20))
  faults.push(`${request} failed: ${reason}`);
if (victims.some(({ calls }) => calls === 0)) faults.push("a user had no call that was heard to its end");
const p99Ms = quantile(durations, 0.99);
if (p99Ms > MAX_P99_MS)
  faults.push(`responses to others took ${p99Ms.toFixed(0)} ms (p99); ${MAX_P99_MS} ms are allowed`);
for (const [name, counts] of Object.entries(outcomes))
  if (MINUTES >= ALL_ATTACKS_MINUTES && Object.keys(counts).every((result) => result.startsWith("429")))
    faults.push(`the attack "${name}" got only 429, so it tried nothing`);
if (audio.calls === 0 || audio.received < 0.999 * audio.expected)
  faults.push(`live calls got ${audio.received} of ${audio.expected} frames`);
if (Object.keys(outcomes).length === 0) faults.push("the attacker made no attack");
if (/unhandled|uncaught/i.test(server.output())) faults.push(`the server printed ${server.output().slice(-2_000)}`);
for (const fault of faults) console.log(`✗ ${fault}`);
console.log(faults.length === 0 ? "✓ other users were not affected" : `${faults.length} faults`);
if (process.env.KEEP === undefined) rmSync(folder, { recursive: true, force: true });
else console.log(folder);
process.exit(faults.length === 0 ? 0 : 1);

/** Creates linked instances of the simulated network; returns their ids. */
async function linkInstances(name: string, count: number, ownerToken = token): Promise<string[]> {
  const headers = { authorization: `Bearer ${ownerToken}`, "content-type": "application/json" };
  return Promise.all(
    Array.from({ length: count }, async (_, n) => {
      const creation = await send("POST", `${server.url}/v1/instances`, {
        headers,
        body: JSON.stringify({ name: `${name} ${n}` }),
      });
      const { id } = creation.json<{ id: string }>();
      for (;;) {
        const code = await send("GET", `${server.url}/v1/instances/${id}/configure`, { headers });
        if (code.status === 409) return id;
        const page = /https?:\S+\w/.exec(code.json<{ message: string }>().message);
        if (page && (await send("POST", page[0])).status === 200) return id;
        await pause(100);
      }
    }),
  );
}

/** Places live calls in succession. */
async function soak(instanceId: string, n: number): Promise<void> {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  await pause(n * 200);
  while (!abort.signal.aborted) {
    const body = JSON.stringify({ instanceId, type: "DYNAMIC_STREAM", target: { phoneNumber: CALLEE } });
    const creation = await send("POST", `${server.url}/v1/calls`, { headers, body });
    if (creation.status !== 201) {
      faults.push(`a live call was refused: ${creation.status} ${creation.text}`);
      await pause(1_000);
      continue;
    }
    const { id } = creation.json<{ id: string }>();
    liveCalls.push(id);
    const url = `${server.url}/v1/calls/${id}/stream?audio=callee&encoding=pcm_s16le&sample_rate=16000`;
    const call = new SoakedCall(url, beat, CALL_MS / 2, token);
    const callCounts = await call
      .run()
      .catch((fault: unknown) => ({ audio: { expected: 0, received: 0 }, faults: [String(fault)] }));
    audio.calls++;
    audio.expected += callCounts.audio.expected;
    audio.received += callCounts.audio.received;
    for (const fault of callCounts.faults) faults.push(`live call ${id}: ${fault}`);
    await pause(200);
  }
}

/** Maximum resident memory of the server within some seconds, bytes. */
async function peakMemory(seconds: number): Promise<number> {
  let maxBytes = 0;
  for (const end = Date.now() + seconds * 1_000; Date.now() < end; await pause(500))
    maxBytes = Math.max(
      maxBytes,
      Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${server.pid}/status`, "utf8"))?.[1]) * 1024,
    );
  return maxBytes;
}

/** Bytes of the data folder, without the recordings of other users' calls. */
function bytesIn(path: string): number {
  const otherCalls = [...liveCalls, ...victims.flatMap(({ callIds: placedCalls }) => placedCalls)];
  let sum = 0;
  for (const entry of readdirSync(path, { recursive: true, withFileTypes: true }))
    if (entry.isFile() && !otherCalls.some((id) => entry.name.startsWith(id)))
      sum += statSync(join(entry.parentPath, entry.name), { throwIfNoEntry: false })?.size ?? 0;
  return sum;
}

/**
 * The server's stalls above the limit between two times, less the time in which it waited for a processor or the
 * machine stalled, ms.
 */
function ownStalls(from: number, to: number): number[] {
  const machine = stallsOf("control");
  return stallsOf("stalls")
    .filter(({ at }) => at > from && at <= to)
    .map(({ at, ms, waitedMs }) => {
      const overlappingStalls = machine.filter((other) => other.at > at - ms && other.at - other.ms < at);
      return ms - waitedMs - Math.max(0, ...overlappingStalls.map((other) => other.ms - other.waitedMs));
    })
    .filter((ms) => ms > MAX_STALL_MS);
}

function stallsOf(name: string): Stall[] {
  const path = join(folder, name);
  if (!existsSync(path)) return [];
  return readFileSync(path, "utf8")
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Stall);
}

function mib(bytes: number): string {
  return `${(bytes / MIB).toFixed(1)} MiB`;
}
