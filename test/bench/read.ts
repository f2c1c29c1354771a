import { type ServerProcess, start } from "../support/runtimes.ts";
import { benchmark, inRounds, median, perSecond, type Row, row } from "./harness/benchmark.ts";
import { closedLoop, costOf, type Load, requestBytes } from "./harness/http-load.ts";
import { ALL_RUNTIMES, serverScript, underEach } from "./harness/programs.ts";
import { untilIdle } from "./harness/resources.ts";
import { callInserter, insertInstances, type StoredData, withStoredData } from "./harness/stored-data.ts";

const CONNECTIONS = 64;
const CALLS = 1_000;
const HEALTH = requestBytes("GET", "/healthz");
/** Header fields that the server of a runtime adds. */
const SERVER_HEADERS = ["connection", "content-encoding", "content-length", "date", "keep-alive", "vary"];

/**
 * Reading a call over HTTP, compared with a hand-written server that does the same, and with one that only responds.
 */
export const READ = benchmark({
  options: {
    rounds: { meaning: "rounds, each with every target", value: 5, quick: 1 },
    seconds: { meaning: "length of one target's turn", value: 3, quick: 1 },
  },
  run: ({ rounds, seconds }) =>
    withStoredData((data) => {
      const requests = storedCalls(data).map((id) => requestBytes("GET", `/v1/calls/${id}`, data.token));
      return underEach(ALL_RUNTIMES, async (runtime) => {
        const servers: ServerProcess[] = [];
        const startServer = async (script: string, ...args: string[]): Promise<ServerProcess> => {
          const server = await start(runtime, serverScript(script), { args });
          servers.push(server);
          return server;
        };
        try {
          let turn = 0;
          const next = (): Buffer => requests[turn++ % requests.length]!;
          const ringport = await startServer("ringport", data.folder);
          const startBareLike = async (path: string): Promise<ServerProcess> => {
            const response = await fetch(`${ringport.url}${path}`, authorised(data.token));
            const headers = [...response.headers].filter(([name]) => !SERVER_HEADERS.includes(name));
            return startServer("bare", JSON.stringify(Object.fromEntries(headers)), await response.text());
          };
          const handWritten = await startServer("hand-written", data.file);
          const target = (server: ServerProcess, next: () => Buffer) => () =>
            closedLoop({ ...server, connections: CONNECTIONS, ms: seconds * 1000, next, status: 200 });
          const sides = {
            ringport: target(ringport, next),
            handWritten: target(handWritten, next),
            bare: target(await startBareLike(pathOf(next())), next),
            healthz: target(ringport, () => HEALTH),
            bareHealthz: target(await startBareLike("/healthz"), () => HEALTH),
          };
          await checkSame([ringport, handWritten], data.token, pathOf(next()));
          await Promise.all(servers.map(({ pid }) => untilIdle(pid)));
          const loads = await inRounds(rounds, sides, { label: runtime.name });
          return [
            comparisonRow("a call, against the hand-written server", loads.ringport, loads.handWritten, 0.5),
            comparisonRow("a call, against the bare server", loads.ringport, loads.bare),
            comparisonRow("a route without storage, against the bare server", loads.healthz, loads.bareHealthz, 0.6),
          ];
        } finally {
          await Promise.all(servers.map((server) => server.stop("SIGKILL")));
        }
      });
    }),
});

function storedCalls(data: StoredData): string[] {
  const calls: string[] = [];
  data.fill((database) => {
    const [instanceId = ""] = insertInstances(database, data.userId, 1);
    const insert = callInserter(database);
    const call = { instanceId, userId: data.userId, status: "COMPLETED", type: "FIXED_TTS" } as const;
    for (let n = 0; n < CALLS; n++) calls.push(insert({ ...call, createdAt: Date.now() - n }));
  });
  return calls;
}

const pathOf = (request: Buffer): string => request.toString("latin1").split(" ")[1] ?? "/";
const authorised = (token: string): RequestInit => ({ headers: { authorization: `Bearer ${token}` } });

/** Throws an Error if the baseline's response differs, because it would then measure different work. */
async function checkSame(servers: readonly ServerProcess[], token: string, path: string): Promise<void> {
  const [actual, expected] = await Promise.all(
    servers.map(async ({ url }) => {
      const response = await fetch(`${url}${path}`, authorised(token));
      return `${response.status} ${JSON.stringify(await response.json())}`;
    }),
  );
  if (actual !== expected) throw new Error(`the hand-written server returned ${expected}, Ringport ${actual}`);
}

function comparisonRow(
  figure: string,
  measuredLoads: readonly Load[],
  baseline: readonly Load[],
  minRatio?: number,
): Row {
  const [ownMedian, baseMedian] = [medianOf(measuredLoads), medianOf(baseline)];
  const ratio = baseMedian.cost / ownMedian.cost;
  const measured = `${ratio.toFixed(2)} (${ownMedian.text} against ${baseMedian.text})`;
  return minRatio === undefined ? row(figure, measured) : row(figure, measured, `≥ ${minRatio}`, ratio >= minRatio);
}

function medianOf(loads: readonly Load[]): { readonly cost: number; readonly text: string } {
  const [cost, rate] = [median(loads.map(costOf)), median(loads.map(({ perSecond }) => perSecond))];
  return { cost, text: `${cost.toFixed(1)} µs, ${perSecond(rate)}` };
}
