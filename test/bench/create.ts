import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { type Runtime, runtimes, start } from "../support/runtimes.ts";
import { type Benchmark, progress, type Row } from "./benchmark.ts";
import { type BenchData, benchData } from "./database.ts";
import { closedLoop } from "./http/closed-loop.ts";
import { openLoop } from "./http/open-loop.ts";
import { requestBytes } from "./http/request.ts";
import { median, quantile } from "./median.ts";
import { atRest } from "./processor-time.ts";
import { insertInstances } from "./rows.ts";

/** Placing calls over HTTP, each of them durable. */
export const CREATE: Benchmark = {
  title: "`POST /v1/calls`, each call durable",
  method: `FIXED_TTS calls on instances that are not linked, so that nothing rings; every request names another instance. SQLite
with \`synchronous=FULL\`, in the same folder for both. The baseline (\`test/bench/servers/raw-transactions.ts\`) is the
same runtime and \`node:sqlite\`: the same statements with values of the same size in one raw transaction per call, one after
the other. Ringport has 64 keep-alive connections; those of its writers that meet share a commit, and none is answered
before it. Latency is measured open-loop: 1,000 requests/s leave on a fixed schedule from another process, whatever the server
does, and count from the moment when they were due.`,
  remarks: `The raw transactions wait for the disk once per call, Ringport once per turn of its event loop. Where the tail of the
latency comes from is not established: it differs from run to run more than from runtime to runtime (11 to 38 ms on a machine at rest), and code that is not
compiled yet is part of it: a second open loop on the same server was within the bound.`,
  options: {
    rounds: { meaning: "rounds, each of them both targets once", value: 5, quick: 1 },
    seconds: { meaning: "length of one target's turn", value: 3, quick: 1 },
    open: { meaning: "length of the open loop, s", value: 15, quick: 3 },
  },
  run: ({ rounds = 0, seconds = 0, open = 0 }) => benchCreate(rounds, seconds, open),
};

const CONNECTIONS = 64;
const PER_SECOND = 1_000;
/** More than any machine makes in a second. */
const MAX_PER_SECOND = 20_000;

async function benchCreate(rounds: number, seconds: number, open: number): Promise<Row[]> {
  const rows: Row[] = [];
  for (const runtime of runtimes.filter(({ name, missing }) => name !== "node22" && missing === undefined)) {
    const data = await benchData();
    try {
      rows.push(...(await benchRuntime(runtime, data, rounds, seconds, open)));
    } finally {
      await data.remove();
    }
  }
  return rows;
}

async function benchRuntime(
  runtime: Runtime,
  data: BenchData,
  rounds: number,
  seconds: number,
  open: number,
): Promise<Row[]> {
  const instances: string[] = [];
  let user = "";
  data.fill((database, userId, ids) => {
    user = userId;
    const count = (rounds + 1) * seconds * MAX_PER_SECOND + PER_SECOND * open;
    for (let n = 0; n < count; n++) instances.push(ids("inst"));
    insertInstances(database, userId, instances);
  });
  let used = 0;
  const next = (): Buffer => requestBytes("POST", "/v1/calls", data.token, newCall(instances[used++] ?? ""));

  const server = await start(runtime, pathOf("ringport"), { args: [data.folder] });
  try {
    await atRest(server.pid);
    const ours: number[] = [];
    const micros: number[] = [];
    const raw: number[] = [];
    for (let round = 0; round <= rounds; round++) {
      progress(`${runtime.name}: ${round === 0 ? "warming up" : `round ${round} of ${rounds}`}`);
      const { url, pid } = server;
      const load = await closedLoop({ url, pid, connections: CONNECTIONS, ms: seconds * 1000, next, status: 201 });
      const baseline = await rawTransactions(
        runtime,
        data.file,
        user,
        seconds * 1000,
        instances.splice(-seconds * 10_000),
      );
      if (round === 0) continue;
      ours.push(load.perSecond);
      if (load.processorMicros !== undefined) micros.push(load.processorMicros);
      raw.push(baseline);
    }
    progress(`${runtime.name}: ${PER_SECOND.toLocaleString("en-US")} requests/s for ${open} s`);
    const latencies = await openLoop({ url: server.url, perSecond: PER_SECOND, seconds: open, next, status: 201 });
    return rowsOf(runtime, median(ours), median(raw), median(micros), latencies);
  } finally {
    await server.stop("SIGKILL");
  }
}

const pathOf = (script: string): string => fileURLToPath(new URL(`./servers/${script}.ts`, import.meta.url));

function newCall(instanceId: string): unknown {
  const tts = { text: "Your parcel arrives tomorrow at nine.", voiceId: "en-US-1" };
  return { instanceId, type: "FIXED_TTS", target: { phoneNumber: "+12025550100" }, tts };
}

/** Transactions per second of the baseline. */
async function rawTransactions(
  { command }: Runtime,
  file: string,
  userId: string,
  ms: number,
  instances: readonly string[],
): Promise<number> {
  const [program = "", ...flags] = command;
  const args = [...flags, pathOf("raw-transactions"), file, userId, String(ms)];
  const child = spawn(program, args, { stdio: ["pipe", "pipe", "inherit"] });
  child.stdin.end(JSON.stringify(instances));
  const perSecond = Number(await text(child.stdout));
  if (!(perSecond > 0)) throw new Error("the raw transactions ended without a figure");
  return perSecond;
}

function rowsOf(
  { name }: Runtime,
  ours: number,
  raw: number,
  processorMicros: number,
  latencies: readonly number[],
): Row[] {
  const ratio = ours / raw;
  const [p50, p99] = [quantile(latencies, 0.5), quantile(latencies, 0.99)];
  const rate = (perSecond: number): string => `${Math.round(perSecond).toLocaleString("en-US")}/s`;
  const cost = Number.isNaN(processorMicros) ? "" : `, ${processorMicros.toFixed(0)} µs of processor each`;
  return [
    {
      what: `${name}: calls placed, against raw transactions`,
      measured: `${ratio.toFixed(2)} (${rate(ours)}${cost}, against ${rate(raw)})`,
      wanted: "≥ 0.6",
      reached: ratio >= 0.6,
    },
    {
      what: `${name}: p99 at ${PER_SECOND.toLocaleString("en-US")} requests/s`,
      measured: `${p99.toFixed(1)} ms (p50 ${p50.toFixed(1)} ms, ${latencies.length.toLocaleString("en-US")} requests)`,
      wanted: "≤ 25 ms",
      reached: p99 <= 25,
    },
  ];
}
