import { FullDuplex } from "../../../adapters/cli/bench/full-duplex.ts";
import { start } from "../../support/runtimes.ts";
import { benchmark, inRounds, median, ratioOf, row } from "../harness/benchmark.ts";
import { ALL_RUNTIMES, serverScript, underEach } from "../harness/programs.ts";
import { timeSpent } from "../harness/resources.ts";
import { pause } from "../harness/world.ts";
import { startStreamServer } from "./stream-server.ts";

const MAX_RATIO = 3;
const SETTLE_MS = 1_000;

/** Processor time of a live stream, compared with an echo server. */
export const STREAM_CPU = benchmark({
  options: {
    streams: { meaning: "concurrent streams", value: 100, quick: 30 },
    rounds: { meaning: "rounds, each with both servers", value: 5, quick: 2 },
    seconds: { meaning: "length of one server's turn", value: 5, quick: 2 },
  },
  run: ({ streams, rounds, seconds }) =>
    underEach(ALL_RUNTIMES, async (runtime) => {
      const server = await startStreamServer(runtime);
      const echo = await start(runtime, serverScript("echo"));
      try {
        const instances = await server.ask("link", streams);
        const costs = await inRounds(
          rounds,
          {
            async ours(isWarmUp) {
              const urls = await server.place(instances);
              const cost = await costOf(server.pid, urls, isWarmUp ? 1 : seconds, () => server.untilActive(streams));
              await server.untilActive(0);
              return cost;
            },
            bare: (isWarmUp) =>
              costOf(echo.pid, Array<string>(streams).fill(`${echo.url}/`), isWarmUp ? 1 : seconds, async () => {}),
          },
          { label: runtime.name },
        );
        const ratio = ratioOf(costs.ours, costs.bare);
        const micros = (side: keyof typeof costs): string => `${median(costs[side]).toFixed(1)} µs`;
        const measured = `${ratio.toFixed(2)} × (${micros("ours")} against ${micros("bare")} per message each way)`;
        return [row("processor per stream, against the echo", measured, `≤ ${MAX_RATIO} ×`, ratio <= MAX_RATIO)];
      } finally {
        await server.stop();
        await echo.stop("SIGKILL");
      }
    }),
});

/** Processor time of a server for a message each way, µs. @param ready resolves when all streams run */
async function costOf(
  pid: number,
  urls: readonly string[],
  seconds: number,
  ready: () => Promise<void>,
): Promise<number> {
  const clients = new FullDuplex();
  try {
    await clients.open(urls);
    await ready();
    await pause(SETTLE_MS);
    clients.begin();
    const { processor } = await timeSpent(pid, () => pause(seconds * 1000));
    if (processor === undefined) throw new Error("this system does not report processor time");
    const { sent, received } = clients;
    if (Math.min(sent, received) / Math.max(sent, received) < 0.9)
      throw new Error(`${sent} messages were sent, ${received} returned`);
    return (processor * 1e6) / received;
  } finally {
    await clients.close();
  }
}
