import { FullDuplex } from "../../../adapters/cli/bench/full-duplex.ts";
import { benchmark, ms, percent, progress, row } from "../harness/benchmark.ts";
import { ALL_RUNTIMES, underEach } from "../harness/programs.ts";
import { share, timeSpent } from "../harness/resources.ts";
import { pause } from "../harness/world.ts";
import { startStreamServer } from "./stream-server.ts";

const MAX_P99_MS = 10;
const MIN_SHARE = 0.99;
const SETTLE_MS = 3_000;

/** Concurrent live streams in one process, both ways. */
export const STREAM_MANY = benchmark({
  options: {
    streams: { meaning: "concurrent streams", value: 300, quick: 50 },
    seconds: { meaning: "length of the window", value: 30, quick: 4 },
  },
  run: ({ streams, seconds }) =>
    underEach(ALL_RUNTIMES, async (runtime) => {
      const server = await startStreamServer(runtime, { isRecorded: true });
      const clients = new FullDuplex();
      try {
        progress(`${runtime.name}: ${streams} calls`);
        await clients.open(await server.place(await server.ask("link", streams)));
        await server.untilActive(streams);
        await pause(SETTLE_MS);
        clients.begin();
        await server.ask("begin");
        const timeUsed = await timeSpent(server.pid, () => pause(seconds * 1000));
        const { sent, received, connectedCount: connected, lateness: clientLateness } = clients;
        const { p50, p99, max, frames } = await server.ask("lateness");
        const dueMessages = streams * timeUsed.seconds * 50;
        const [sentShare, receivedShare, ticks] = [sent / dueMessages, received / dueMessages, frames / dueMessages];
        const isSteady = connected === streams && Math.min(sentShare, receivedShare) >= MIN_SHARE;
        const messages = `${percent(sentShare)} from and ${percent(receivedShare)} to ${connected} clients`;
        const processor = `${percent(share(timeUsed), 0)} of one core, ${((timeUsed.processor! * 1e6) / dueMessages).toFixed(1)} µs per message each way`;
        return [
          row(
            "lateness p99 of the frames",
            `${ms(p99)} (p50 ${ms(p50)}, max ${ms(max)})`,
            `≤ ${MAX_P99_MS} ms`,
            p99 <= MAX_P99_MS && ticks >= MIN_SHARE,
          ),
          row("audio messages in the window, of those due", messages, `≥ ${MIN_SHARE * 100} %`, isSteady),
          ...(timeUsed.processor === undefined ? [] : [row("processor in the window", processor)]),
          row("lateness p99 of the clients themselves", ms(clientLateness.p99)),
        ];
      } finally {
        await clients.close();
        await server.stop();
      }
    }),
});
