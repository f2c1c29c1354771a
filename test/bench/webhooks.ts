import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type Benchmark, progress, type Row } from "./benchmark.ts";
import { ME, pause, spokenCall, startManyCalls } from "./many-calls.ts";
import { quantile } from "./median.ts";

/** Final events a second. */
const RATE = 100;
const BUSY = "+12025550101";
const WANTED_MS = 250;
const GIVE_UP_MS = 60_000;

/** Delay until an endpoint learns of the end of a call. */
export const WEBHOOKS: Benchmark = {
  title: `Webhooks at ${RATE} events/s`,
  method: `Every 10 ms a call is created that ends as busy. A webhook gets its final event at an HTTP endpoint in the same process, which
answers at once. Measured is the time from the timestamp of the event, when the call became final, to the arrival of its first
attempt; in between the event and its delivery are stored durably (\`synchronous=FULL\`).`,
  options: {
    calls: { meaning: "calls that end", value: 3_000, quick: 300 },
    instances: { meaning: "instances that place them", value: 200 },
  },
  run: ({ calls = 0, instances = 0 }) => measure(calls, instances),
};

async function measure(calls: number, instances: number): Promise<Row[]> {
  const waits: number[] = [];
  const arrivals: number[] = [];
  const endpoint = createServer(async (request, response) => {
    const now = Date.now();
    let body = "";
    for await (const piece of request) body += String(piece);
    const { timestamp } = JSON.parse(body) as { timestamp: string };
    waits.push(now - Date.parse(timestamp));
    arrivals.push(now);
    response.writeHead(204).end();
  });
  await new Promise<void>((resolve) => endpoint.listen(0, "127.0.0.1", resolve));
  const world = await startManyCalls({ timeScale: 0.1, more: { webhooks: { allowPrivate: true } } });
  try {
    progress(`linking ${instances} instances`);
    const ids = await world.link(instances);
    const url = `http://127.0.0.1:${(endpoint.address() as AddressInfo).port}/`;
    await world.ringport.webhooks.create(ME, { url, events: ["completed", "failed"] });
    progress(`placing ${calls} calls, ${RATE} a second`);
    const began = performance.now();
    const created: Promise<unknown>[] = [];
    for (let n = 0; n < calls; n++) {
      created.push(world.ringport.calls.create(ME, spokenCall(ids[n % instances]!, "Hi.", BUSY)));
      await pause(Math.max(0, began + (n + 1) * (1000 / RATE) - performance.now()));
    }
    await Promise.all(created);
    const until = performance.now() + GIVE_UP_MS;
    while (waits.length < calls) {
      if (performance.now() > until) throw new Error(`only ${waits.length} of ${calls} events arrived`);
      await pause(50);
    }
    const seconds = ((arrivals.at(-1) ?? 0) - (arrivals[0] ?? 0)) / 1000;
    const p99 = quantile(waits, 0.99);
    return [
      {
        what: "final state to first attempt, p99",
        measured: `${p99} ms`,
        wanted: `≤ ${WANTED_MS} ms`,
        reached: p99 <= WANTED_MS,
      },
      { what: "the same, p50", measured: `${quantile(waits, 0.5)} ms` },
      { what: "events delivered", measured: `${waits.length}, ${(waits.length / seconds).toFixed(0)}/s` },
    ];
  } finally {
    await world.stop();
    endpoint.close();
  }
}
