import { fileURLToPath } from "node:url";
import { type Runtime, start } from "../../support/runtimes.ts";
import { progress, type Row } from "../benchmark.ts";
import { pause } from "../many-calls.ts";
import { median } from "../median.ts";
import { processorSeconds } from "../processor-time.ts";
import { FullDuplex } from "./full-duplex.ts";
import { startStreamServer } from "./stream-server.ts";

const MOST = 3;
const SETTLE_MS = 1_000;
const ECHO = fileURLToPath(new URL("./echo-server.ts", import.meta.url));

/** Cost of a stream under one runtime, compared with a message that is only echoed. */
export async function processorRows(
  runtime: Runtime,
  streams: number,
  rounds: number,
  seconds: number,
): Promise<Row[]> {
  const server = await startStreamServer(runtime);
  const echo = await start(runtime, ECHO);
  const costs: { ours: number; bare: number }[] = [];
  try {
    const instances = await server.link(streams);
    for (let round = 0; round <= rounds; round++) {
      progress(`${runtime.name}: round ${round} of ${rounds}${round === 0 ? ", which does not count" : ""}`);
      const turn = round === 0 ? 1 : seconds;
      const urls = await server.place(instances);
      const ours = await costOf(server.pid, urls, turn, () => server.talking(streams));
      await server.talking(0);
      const bare = await costOf(echo.pid, Array<string>(streams).fill(`${echo.url}/`), turn);
      if (round > 0) costs.push({ ours, bare });
    }
  } finally {
    await server.stop();
    await echo.stop("SIGKILL");
  }
  const ratio = median(costs.map(({ ours, bare }) => ours / bare));
  const micros = (which: "ours" | "bare"): string => `${median(costs.map((cost) => cost[which])).toFixed(1)} µs`;
  return [
    {
      what: `${runtime.name}: processor per stream, against the echo`,
      measured: `${ratio.toFixed(2)} × (${micros("ours")} against ${micros("bare")} per message each way)`,
      wanted: `≤ ${MOST} ×`,
      reached: ratio <= MOST,
    },
  ];
}

/** Processor time of a server for a message each way, µs. */
async function costOf(
  pid: number,
  urls: readonly string[],
  seconds: number,
  ready: () => Promise<void> = async () => {},
): Promise<number> {
  const clients = new FullDuplex();
  try {
    await clients.open(urls);
    await ready();
    await pause(SETTLE_MS);
    clients.begin();
    const before = processorSeconds(pid);
    await pause(seconds * 1000);
    const after = processorSeconds(pid);
    if (before === undefined || after === undefined) throw new Error("this system does not tell processor time");
    const { sent, received } = clients;
    if (Math.min(sent, received) / Math.max(sent, received) < 0.9)
      throw new Error(`${sent} messages were sent, ${received} came back`);
    return ((after - before) * 1e6) / received;
  } finally {
    await clients.close();
  }
}
