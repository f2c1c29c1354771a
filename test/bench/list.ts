import { CALL_STATUSES, CALL_TYPES, type CallType } from "../../src/domain/calls/call.ts";
import { type ServerProcess, start } from "../support/runtimes.ts";
import { benchmark, inRounds, median, progress, type Row, ratioOf, row } from "./harness/benchmark.ts";
import { closedLoop, costOf, requestBytes } from "./harness/http-load.ts";
import { ALL_RUNTIMES, serverScript, underEach } from "./harness/programs.ts";
import { untilIdle } from "./harness/resources.ts";
import { callInserter, insertInstances, type StoredData, withStoredData } from "./harness/stored-data.ts";

const PAGE = 50;
const INSTANCES = 1_000;
/** Reduced duration of a warm-up turn. */
const WARM_UP = 0.3;

/** Reading one page of a list, from a large database and from one with only that page. */
export const LIST = benchmark({
  options: {
    calls: { meaning: "stored calls", value: 1_000_000, quick: 100_000 },
    rounds: { meaning: "rounds, each with both databases", value: 5, quick: 2 },
    seconds: { meaning: "length of one database's turn", value: 1 },
  },
  run: ({ calls, rounds, seconds }) =>
    withStoredData((largeData) =>
      withStoredData((smallData) => {
        progress(`storing ${calls.toLocaleString("en-US")} calls`);
        const largeLists = lists(fill(largeData, calls, INSTANCES, mixedKind));
        const smallLists = lists(
          fill(smallData, PAGE, PAGE, () => ({ instance: 0, status: "FAILED", type: "FIXED_TTS" })),
        );
        return underEach(ALL_RUNTIMES, async (runtime) => {
          progress(`${runtime.name}: ${rounds} rounds of ${largeLists.length} lists`);
          const servers: ServerProcess[] = [];
          try {
            for (const { folder } of [largeData, smallData])
              servers.push(await start(runtime, serverScript("ringport"), { args: [folder] }));
            await Promise.all(servers.map(({ pid }) => untilIdle(pid)));
            const rows: Row[] = [];
            for (const [index, [title, path]] of largeLists.entries()) {
              const target = (server: ServerProcess, { token }: StoredData, url: string) => {
                const request = requestBytes("GET", url, token);
                return (isWarmUp: boolean) => {
                  const ms = seconds * 1000 * (isWarmUp ? WARM_UP : 1);
                  return closedLoop({ ...server, connections: 1, ms, next: () => request, status: 200 });
                };
              };
              const loads = await inRounds(rounds, {
                large: target(servers[0]!, largeData, path),
                small: target(servers[1]!, smallData, smallLists[index]![1]),
              });
              const ratio = ratioOf(loads.large.map(costOf), loads.small.map(costOf));
              const latency = (side: keyof typeof loads) =>
                `${median(loads[side].map(({ perSecond }) => 1000 / perSecond)).toFixed(2)} ms`;
              const measured = `${ratio.toFixed(2)} × (${latency("large")} against ${latency("small")})`;
              rows.push(row(title, measured, "≤ 1.5 ×", ratio <= 1.5));
            }
            return rows;
          } finally {
            await Promise.all(servers.map((server) => server.stop("SIGKILL")));
          }
        });
      }),
    ),
});

interface Kind {
  readonly instance: number;
  readonly status: "COMPLETED" | "FAILED";
  readonly type: CallType;
}

const mixedKind = (n: number): Kind => ({
  instance: n % INSTANCES,
  status: n % 3 === 0 ? "FAILED" : "COMPLETED",
  type: CALL_TYPES[n % CALL_TYPES.length] ?? "FIXED_TTS",
});

/** Stores calls; returns an instance with at least one. */
function fill(data: StoredData, calls: number, instances: number, kindOf: (n: number) => Kind): string {
  let ids: string[] = [];
  data.fill((database) => {
    ids = insertInstances(database, data.userId, instances);
    const insert = callInserter(database);
    const firstCreatedAt = Date.now() - calls * 1_000;
    for (let n = 0; n < calls; n++) {
      const { instance, ...kind } = kindOf(n);
      insert({ ...kind, instanceId: ids[instance] ?? "", userId: data.userId, createdAt: firstCreatedAt + n * 1_000 });
    }
    database.exec("analyze");
  });
  return ids[0] ?? "";
}

/** Title and path of each list. */
function lists(instanceId: string): readonly (readonly [title: string, path: string])[] {
  const since = encodeURIComponent(new Date(Date.now() - 3_600_000).toISOString());
  const before = encodeURIComponent(new Date().toISOString());
  return [
    ["GET /v1/instances", `/v1/instances?limit=${PAGE}`],
    ["GET /v1/calls", `/v1/calls?limit=${PAGE}`],
    ["… ?status=FAILED", `/v1/calls?limit=${PAGE}&status=FAILED`],
    [`… ?status=${CALL_STATUSES[0]} (no such call)`, `/v1/calls?limit=${PAGE}&status=${CALL_STATUSES[0]}`],
    ["… ?type=FIXED_TTS", `/v1/calls?limit=${PAGE}&type=FIXED_TTS`],
    ["… ?instance_id=…", `/v1/calls?limit=${PAGE}&instance_id=${instanceId}`],
    ["… ?created_after=…&created_before=…", `/v1/calls?limit=${PAGE}&created_after=${since}&created_before=${before}`],
  ];
}
