import { start } from "../support/runtimes.ts";
import { benchmark, inRounds, median, percentile, perSecond, progress, row } from "./harness/benchmark.ts";
import { closedLoop, openLoop, requestBytes } from "./harness/http-load.ts";
import { ALL_RUNTIMES, commandOf, output, serverScript, underEach } from "./harness/programs.ts";
import { untilIdle } from "./harness/resources.ts";
import { insertInstances, withStoredData } from "./harness/stored-data.ts";

const CONNECTIONS = 64;
const PER_SECOND = 1_000;
/** Maximum number per second on any machine: calls through Ringport, and raw transactions. */
const MAX_PER_SECOND = 20_000;
const MAX_RAW_PER_SECOND = 10_000;

/** Placing calls over HTTP, each of them durable. */
export const CREATE = benchmark({
  options: {
    rounds: { meaning: "rounds, each with both targets", value: 5, quick: 1 },
    seconds: { meaning: "length of one target's turn", value: 3, quick: 1 },
    open: { meaning: "length of the open loop, s", value: 15, quick: 3 },
  },
  run: ({ rounds, seconds, open }) =>
    underEach(ALL_RUNTIMES, (runtime) =>
      withStoredData(async (data) => {
        let instances: string[] = [];
        data.fill((database) => {
          const count = (rounds + 1) * seconds * MAX_PER_SECOND + PER_SECOND * open;
          instances = insertInstances(database, data.userId, count);
        });
        let usedCount = 0;
        const next = (): Buffer => requestBytes("POST", "/v1/calls", data.token, newCall(instances[usedCount++] ?? ""));
        const raw = new URL("./servers/raw-transactions.ts", import.meta.url).href;
        const server = await start(runtime, serverScript("ringport"), { args: [data.folder] });
        try {
          await untilIdle(server.pid);
          const loop = { ...server, connections: CONNECTIONS, ms: seconds * 1000, next, status: 201 };
          const sides = {
            ours: () => closedLoop(loop),
            async raw() {
              const ids = JSON.stringify(instances.splice(-seconds * MAX_RAW_PER_SECOND));
              const command = commandOf(runtime, raw, [data.file, data.userId, String(seconds * 1000)]);
              const rate = Number(await output(command, ids));
              if (!(rate > 0)) throw new Error("the raw transactions ended without a figure");
              return rate;
            },
          };
          const figures = await inRounds(rounds, sides, { label: runtime.name });
          progress(`${runtime.name}: ${perSecond(PER_SECOND)} for ${open} s`);
          const latencies = await openLoop({ ...server, perSecond: PER_SECOND, seconds: open, next, status: 201 });
          const [ringport, baseline] = [median(figures.ours.map((load) => load.perSecond)), median(figures.raw)];
          const micros = median(figures.ours.flatMap(({ processorMicros }) => processorMicros ?? []));
          const cost = Number.isNaN(micros) ? "" : `, ${micros.toFixed(0)} µs of processor each`;
          const ratio = ringport / baseline;
          const measured = `${ratio.toFixed(2)} (${perSecond(ringport)}${cost}, against ${perSecond(baseline)})`;
          return [
            row("calls placed, against raw transactions", measured, "≥ 0.6", ratio >= 0.6),
            percentile(
              `latency at ${PER_SECOND.toLocaleString("en-US")} requests/s`,
              latencies,
              0.99,
              25,
              `, ${latencies.length.toLocaleString("en-US")} requests`,
            ),
          ];
        } finally {
          await server.stop("SIGKILL");
        }
      }),
    ),
});

function newCall(instanceId: string): unknown {
  const tts = { text: "Your parcel arrives tomorrow at nine.", voiceId: "en-US-1" };
  return { instanceId, type: "FIXED_TTS", target: { phoneNumber: "+12025550100" }, tts };
}
