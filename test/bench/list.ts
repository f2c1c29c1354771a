import { fileURLToPath } from "node:url";
import { CALL_STATUSES, CALL_TYPES, type CallType } from "../../src/domain/calls/call.ts";
import { type Runtime, runtimes, type ServerProcess, start } from "../support/runtimes.ts";
import { type Benchmark, progress, type Row } from "./benchmark.ts";
import { type BenchData, benchData } from "./database.ts";
import { closedLoop, type Load } from "./http/closed-loop.ts";
import { requestBytes } from "./http/request.ts";
import { median } from "./median.ts";
import { atRest } from "./processor-time.ts";
import { callInserter, insertInstances } from "./rows.ts";

/** Reading one page of a list, of a full database against one that holds just that page. */
export const LIST: Benchmark = {
  title: "One page of a list at 1,000,000 stored calls",
  method: `Two Ringport servers of the same runtime: one on a database with 1,000,000 calls that are over, of one user, on 1,000
instances, final statuses and types mixed; the other on a database with 50 instances and 50 calls, which every filter but one
matches, so that it holds exactly the page. One keep-alive connection asks for the first page again and again, in rounds that
alternate between the two. The figure is the processor time of the server's process for one request at 1,000,000 divided by
that at one page, the median of the rounds: what the latencies (behind it) would be on a machine that does nothing else.`,
  options: {
    calls: { meaning: "stored calls", value: 1_000_000, quick: 100_000 },
    rounds: { meaning: "rounds, each of them both databases once", value: 5, quick: 2 },
    seconds: { meaning: "length of one database's turn", value: 1 },
  },
  run: ({ calls = 0, rounds = 0, seconds = 0 }) => benchList(calls, rounds, seconds),
};

const PAGE = 50;
const INSTANCES = 1_000;

interface Filled extends BenchData {
  /** An instance with at least one call. */
  readonly instanceId: string;
}

async function benchList(calls: number, rounds: number, seconds: number): Promise<Row[]> {
  progress(`storing ${calls.toLocaleString("en-US")} calls`);
  const full = await filled(calls, INSTANCES, mixed);
  const page = await filled(PAGE, PAGE, () => ({ instance: 0, status: "FAILED", type: "FIXED_TTS" }));
  try {
    const rows: Row[] = [];
    for (const runtime of runtimes.filter(({ name, missing }) => name !== "node22" && missing === undefined)) {
      progress(`${runtime.name}: ${rounds} rounds of ${lists(full).length} lists`);
      rows.push(...(await benchRuntime(runtime, full, page, rounds, seconds)));
    }
    return rows;
  } finally {
    await Promise.all([full.remove(), page.remove()]);
  }
}

interface Kind {
  readonly instance: number;
  readonly status: "COMPLETED" | "FAILED";
  readonly type: CallType;
}

const mixed = (n: number): Kind => ({
  instance: n % INSTANCES,
  status: n % 3 === 0 ? "FAILED" : "COMPLETED",
  type: CALL_TYPES[n % CALL_TYPES.length] ?? "FIXED_TTS",
});

async function filled(calls: number, instances: number, kindOf: (n: number) => Kind): Promise<Filled> {
  const data = await benchData();
  let instanceId = "";
  data.fill((database, userId, ids) => {
    const instanceIds = Array.from({ length: instances }, () => ids("inst"));
    instanceId = instanceIds[0] ?? "";
    insertInstances(database, userId, instanceIds);
    const insert = callInserter(database);
    const from = Date.now() - calls * 1_000;
    for (let n = 0; n < calls; n++) {
      const { instance, status, type } = kindOf(n);
      const on = instanceIds[instance] ?? "";
      insert({ id: ids("call"), instanceId: on, userId, status, type, createdAt: from + n * 1_000 });
    }
    database.exec("analyze");
  });
  return { ...data, instanceId };
}

/** The lists to request, by name. */
function lists({ instanceId }: Filled): readonly (readonly [what: string, path: string])[] {
  const since = encodeURIComponent(new Date(Date.now() - 3_600_000).toISOString());
  const before = encodeURIComponent(new Date().toISOString());
  return [
    ["GET /v1/instances", `/v1/instances?limit=${PAGE}`],
    ["GET /v1/calls", `/v1/calls?limit=${PAGE}`],
    ["… ?status=FAILED", `/v1/calls?limit=${PAGE}&status=FAILED`],
    [`… ?status=${CALL_STATUSES[0]} (there is none)`, `/v1/calls?limit=${PAGE}&status=${CALL_STATUSES[0]}`],
    ["… ?type=FIXED_TTS", `/v1/calls?limit=${PAGE}&type=FIXED_TTS`],
    ["… ?instance_id=…", `/v1/calls?limit=${PAGE}&instance_id=${instanceId}`],
    ["… ?created_after=…&created_before=…", `/v1/calls?limit=${PAGE}&created_after=${since}&created_before=${before}`],
  ];
}

async function benchRuntime(
  runtime: Runtime,
  full: Filled,
  page: Filled,
  rounds: number,
  seconds: number,
): Promise<Row[]> {
  const script = fileURLToPath(new URL("./servers/ringport.ts", import.meta.url));
  const servers: ServerProcess[] = [];
  try {
    for (const data of [full, page]) servers.push(await start(runtime, script, { args: [data.folder] }));
    await Promise.all(servers.map(({ pid }) => atRest(pid)));
    const [large, small] = servers as [ServerProcess, ServerProcess];
    const rows: Row[] = [];
    for (const [at, [what, path]] of lists(full).entries()) {
      const requests = {
        large: requestBytes("GET", path, full.token),
        small: requestBytes("GET", lists(page)[at]?.[1] ?? "", page.token),
      };
      const loads: { large: Load; small: Load }[] = [];
      for (let round = 0; round <= rounds; round++) {
        const one = { connections: 1, ms: round === 0 ? 300 : seconds * 1_000, status: 200 };
        const both = {
          large: await closedLoop({ ...large, ...one, next: () => requests.large }),
          small: await closedLoop({ ...small, ...one, next: () => requests.small }),
        };
        if (round > 0) loads.push(both);
      }
      rows.push(rowOf(`${runtime.name}: ${what}`, loads));
    }
    return rows;
  } finally {
    await Promise.all(servers.map((server) => server.stop("SIGKILL")));
  }
}

function rowOf(what: string, loads: readonly { readonly large: Load; readonly small: Load }[]): Row {
  const ratio = median(loads.map(({ large, small }) => costOf(large) / costOf(small)));
  const [large, small] = (["large", "small"] as const).map((which) =>
    median(loads.map((load) => 1_000 / load[which].perSecond)).toFixed(2),
  );
  return {
    what,
    measured: `${ratio.toFixed(2)} × (${large} ms against ${small} ms)`,
    wanted: "≤ 1.5 ×",
    reached: ratio <= 1.5,
  };
}

/** Cost of one request: processor time if the system reports it, otherwise elapsed time. */
function costOf({ processorMicros, perSecond }: Load): number {
  return processorMicros ?? 1e6 / perSecond;
}
