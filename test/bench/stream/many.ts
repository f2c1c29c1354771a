import type { Runtime } from "../../support/runtimes.ts";
import { progress, type Row } from "../benchmark.ts";
import { pause } from "../many-calls.ts";
import { processorSeconds } from "../processor-time.ts";
import { FullDuplex } from "./full-duplex.ts";
import { startStreamServer } from "./stream-server.ts";

const WORST_P99_MS = 10;
const MIN_SHARE = 0.99;
const SETTLE_MS = 3_000;

/** Result of this many concurrent streams under one runtime. */
export async function manyRows(runtime: Runtime, streams: number, seconds: number): Promise<Row[]> {
  const server = await startStreamServer(runtime, { recorded: true });
  const clients = new FullDuplex();
  try {
    progress(`${runtime.name}: linking ${streams} numbers`);
    const instances = await server.link(streams);
    progress(`${runtime.name}: ${streams} calls`);
    await clients.open(await server.place(instances));
    await server.talking(streams);
    await pause(SETTLE_MS);
    clients.begin();
    await server.begin();
    const [cpu, from] = [processorSeconds(server.pid), performance.now()];
    await pause(seconds * 1000);
    const [after, elapsed] = [processorSeconds(server.pid), performance.now() - from];
    const { sent, received, connected, lateness: ours } = clients;
    const { p50, p99, max, frames } = await server.lateness();
    const due = (streams * elapsed) / 20;
    const [forth, back, ticks] = [sent / due, received / due, frames / due];
    const held = connected === streams && Math.min(forth, back) >= MIN_SHARE;
    const of = (what: string): string => `${runtime.name}: ${what}`;
    const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;
    return [
      {
        what: of("lateness p99 of the frames"),
        measured: `${p99.toFixed(1)} ms (p50 ${p50.toFixed(1)} ms, max ${max.toFixed(1)} ms)`,
        wanted: `≤ ${WORST_P99_MS} ms`,
        reached: p99 <= WORST_P99_MS && ticks >= MIN_SHARE,
      },
      {
        what: of("audio messages in the window, of those due"),
        measured: `${percent(forth)} from and ${percent(back)} to ${connected} clients`,
        wanted: `≥ ${MIN_SHARE * 100} %`,
        reached: held,
      },
      ...(cpu === undefined || after === undefined
        ? []
        : [
            {
              what: of("processor in the window"),
              measured: `${(((after - cpu) * 1e5) / elapsed).toFixed(0)} % of one core, ${(((after - cpu) * 1e6) / due).toFixed(1)} µs per message each way`,
            },
          ]),
      { what: of("lateness p99 of the clients themselves"), measured: `${ours.p99.toFixed(1)} ms` },
    ];
  } finally {
    await clients.close();
    await server.stop();
  }
}
