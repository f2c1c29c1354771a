import { fileURLToPath } from "node:url";
import { type Runtime, runtimes, type ServerProcess, start } from "../support/runtimes.ts";
import { type Benchmark, progress, type Row } from "./benchmark.ts";
import { type BenchData, benchData } from "./database.ts";
import { closedLoop, type Load } from "./http/closed-loop.ts";
import { requestBytes } from "./http/request.ts";
import { median } from "./median.ts";
import { atRest } from "./processor-time.ts";
import { callInserter, insertInstances } from "./rows.ts";

/** Reading a call over HTTP, against servers that do the same by hand, or nothing at all. */
export const READ: Benchmark = {
  title: "`GET /v1/calls/:id` with a token and SQLite",
  method: `Four targets on each runtime: \`GET /v1/calls/:id\` and \`GET /healthz\` of Ringport (\`serve\` of \`ringport/node\`,
\`/bun\`, \`/deno\`; logging off), a hand-written server (\`test/bench/servers/hand-written.ts\`: it hashes the token and runs the
same two prepared statements on the same tables with \`node:sqlite\`), and a bare server that answers a constant with the
same header fields and the same length, so that the two write the same to the wire. Each is a process of its own; 64 keep-alive connections each send their next request after a response.
A ratio compares processor time per request of the server's process (all threads, user and system).`,
  remarks: `What lies between Ringport and the bare server on a route without storage: a request id, the router (itty-router parses
each URL), counting, the turns of the promises from the adapter to the route and back, and on Bun the answer that is a promise. Reading a call
adds the checks of the token, the way to the rows and the entity tag of the answer. Reads that come within 2 ms share one read
transaction, which is where Ringport saves what the hand-written server pays. The bare server sends the same header fields as Ringport, as constants.
On this machine the same ratio varies by a fifth from run to run: four runs of a route without storage gave 0.54 to 0.66 on Node, 0.42 to 0.51 on Bun and
0.56 to 0.74 on Deno.`,
  options: {
    rounds: { meaning: "rounds, each of them every target once", value: 5, quick: 1 },
    seconds: { meaning: "length of one target's turn", value: 3, quick: 1 },
  },
  run: ({ rounds = 0, seconds = 0 }) => benchRead(rounds, seconds),
};

const CONNECTIONS = 64;
const CALLS = 1_000;
/** Header fields that a runtime's server adds on its own. */
const OF_THE_SERVER: ReadonlySet<string> = new Set([
  "connection",
  "content-encoding",
  "content-length",
  "date",
  "keep-alive",
  "vary",
]);

type TargetName = "ringport" | "healthz" | "hand-written" | "bare" | "bare-healthz";
interface Target {
  readonly server: ServerProcess;
  next(): Buffer;
}

async function benchRead(rounds: number, seconds: number): Promise<Row[]> {
  const data = await benchData();
  try {
    const requests = fillCalls(data).map((id) => requestBytes("GET", `/v1/calls/${id}`, data.token));
    const rows: Row[] = [];
    for (const runtime of runtimes.filter(({ name, missing }) => name !== "node22" && missing === undefined))
      rows.push(...(await benchRuntime(runtime, data, requests, rounds, seconds)));
    return rows;
  } finally {
    await data.remove();
  }
}

function fillCalls(data: BenchData): string[] {
  const calls: string[] = [];
  data.fill((database, userId, ids) => {
    const instanceId = ids("inst");
    insertInstances(database, userId, [instanceId]);
    const insert = callInserter(database);
    for (let n = 0; n < CALLS; n++) {
      const id = ids("call");
      insert({ id, instanceId, userId, status: "COMPLETED", type: "FIXED_TTS", createdAt: Date.now() - n });
      calls.push(id);
    }
  });
  return calls;
}

async function benchRuntime(
  runtime: Runtime,
  data: BenchData,
  requests: readonly Buffer[],
  rounds: number,
  seconds: number,
): Promise<Row[]> {
  const servers: ServerProcess[] = [];
  const started = async (script: string, ...args: string[]): Promise<ServerProcess> => {
    const path = fileURLToPath(new URL(`./servers/${script}.ts`, import.meta.url));
    const server = await start(runtime, path, { args });
    servers.push(server);
    return server;
  };
  try {
    let turn = 0;
    const next = (): Buffer => requests[turn++ % requests.length]!;
    const health = requestBytes("GET", "/healthz");
    const ringport = await started("ringport", data.folder);
    const bareLike = async (path: string): Promise<ServerProcess> => {
      const answer = await fetch(`${ringport.url}${path}`, authorised(data.token));
      const headers = [...answer.headers].filter(([name]) => !OF_THE_SERVER.has(name));
      return started("bare", JSON.stringify(Object.fromEntries(headers)), await answer.text());
    };
    const targets: Record<TargetName, Target> = {
      ringport: { server: ringport, next },
      "hand-written": { server: await started("hand-written", data.file), next },
      bare: { server: await bareLike(pathOf(next())), next },
      healthz: { server: ringport, next: () => health },
      "bare-healthz": { server: await bareLike("/healthz"), next: () => health },
    };
    await checkSame(targets, data.token, pathOf(next()));
    await Promise.all(servers.map(({ pid }) => atRest(pid)));
    return rowsOf(runtime, await inRounds(runtime, targets, rounds, seconds));
  } finally {
    await Promise.all(servers.map((server) => server.stop("SIGKILL")));
  }
}

const pathOf = (request: Buffer): string => request.toString("latin1").split(" ")[1] ?? "/";
const authorised = (token: string): RequestInit => ({ headers: { authorization: `Bearer ${token}` } });

/** A baseline that answers something else would measure something else. */
async function checkSame(targets: Record<TargetName, Target>, token: string, path: string): Promise<void> {
  const [ours, theirs] = await Promise.all(
    (["ringport", "hand-written"] as const).map(async (name) => {
      const answer = await fetch(`${targets[name].server.url}${path}`, authorised(token));
      return `${answer.status} ${JSON.stringify(await answer.json())}`;
    }),
  );
  if (ours !== theirs) throw new Error(`the hand-written server responds ${theirs}, Ringport ${ours}`);
}

async function inRounds(
  runtime: Runtime,
  targets: Record<TargetName, Target>,
  rounds: number,
  seconds: number,
): Promise<ReadonlyMap<TargetName, Load>> {
  const loads = new Map<TargetName, Load[]>();
  for (let round = 0; round <= rounds; round++) {
    progress(`${runtime.name}: ${round === 0 ? "warming up" : `round ${round} of ${rounds}`}`);
    for (const [name, { server, next }] of Object.entries(targets) as [TargetName, Target][]) {
      const { url, pid } = server;
      const load = await closedLoop({ url, pid, connections: CONNECTIONS, ms: seconds * 1000, next, status: 200 });
      if (round > 0) loads.set(name, [...(loads.get(name) ?? []), load]);
    }
  }
  return new Map([...loads].map(([name, all]) => [name, middle(all)]));
}

function middle(loads: readonly Load[]): Load {
  const processors = loads.flatMap(({ processorMicros }) => processorMicros ?? []);
  return {
    requests: loads.reduce((sum, { requests }) => sum + requests, 0),
    perSecond: median(loads.map(({ perSecond }) => perSecond)),
    processorMicros: processors.length === 0 ? undefined : median(processors),
  };
}

function rowsOf({ name: runtime }: Runtime, loads: ReadonlyMap<TargetName, Load>): Row[] {
  const row = (what: string, name: TargetName, baseline: TargetName, wanted?: number): Row => {
    const [ours, theirs] = [loads.get(name)!, loads.get(baseline)!];
    const ratio = ratioOf(ours, theirs);
    return {
      what: `${runtime}: ${what}`,
      measured: `${ratio.toFixed(2)} (${shown(ours)} against ${shown(theirs)})`,
      ...(wanted === undefined ? {} : { wanted: `≥ ${wanted}`, reached: ratio >= wanted }),
    };
  };
  return [
    row("a call, against the hand-written server", "ringport", "hand-written", 0.5),
    row("a call, against the bare server", "ringport", "bare"),
    row("a route without storage, against the bare server", "healthz", "bare-healthz", 0.6),
  ];
}

/** Ratio of processor time if the system reports it, otherwise of requests per second. */
function ratioOf(ours: Load, baseline: Load): number {
  if (ours.processorMicros === undefined || baseline.processorMicros === undefined)
    return ours.perSecond / baseline.perSecond;
  return baseline.processorMicros / ours.processorMicros;
}

function shown({ perSecond, processorMicros }: Load): string {
  const rate = `${Math.round(perSecond).toLocaleString("en-US")}/s`;
  return processorMicros === undefined ? rate : `${processorMicros.toFixed(1)} µs, ${rate}`;
}
