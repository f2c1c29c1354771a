import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { atMost, benchmark, progress, quantile, row } from "./harness/benchmark.ts";
import { ME, onSchedule, pause, simulatedWorld, spokenCall } from "./harness/world.ts";

/** Final events per second. */
const RATE = 100;
const BUSY = "+12025550101";
const TIMEOUT_MS = 60_000;

/** Time from the end of a call to the first delivery attempt. */
export const WEBHOOKS = benchmark({
  options: {
    calls: { meaning: "calls that end", value: 3_000, quick: 300 },
    instances: { meaning: "instances that place the calls", value: 200 },
  },
  async run({ calls, instances }) {
    const waitsMs: number[] = [];
    const arrivals: number[] = [];
    const endpoint = createServer(async (request, response) => {
      const now = Date.now();
      let body = "";
      for await (const piece of request) body += String(piece);
      const { timestamp } = JSON.parse(body) as { timestamp: string };
      waitsMs.push(now - Date.parse(timestamp));
      arrivals.push(now);
      response.writeHead(204).end();
    });
    await new Promise<void>((resolve) => endpoint.listen(0, "127.0.0.1", resolve));
    const world = await simulatedWorld({ timeScale: 0.1, options: { webhooks: { allowPrivate: true } } });
    try {
      progress(`linking ${instances} instances`);
      const ids = await world.link(instances);
      const url = `http://127.0.0.1:${(endpoint.address() as AddressInfo).port}/`;
      await world.ringport.webhooks.create(ME, { url, events: ["completed", "failed"] });
      progress(`placing ${calls} calls, ${RATE} a second`);
      await onSchedule(RATE, calls, (n) => world.place([spokenCall(ids[n % instances]!, "Hi.", BUSY)]));
      const deadline = performance.now() + TIMEOUT_MS;
      while (waitsMs.length < calls) {
        if (performance.now() > deadline) throw new Error(`only ${waitsMs.length} of ${calls} events arrived`);
        await pause(50);
      }
      const seconds = ((arrivals.at(-1) ?? 0) - (arrivals[0] ?? 0)) / 1000;
      const p99 = quantile(waitsMs, 0.99);
      return [
        atMost("final state to first attempt, p99", p99, 250, "ms", `${p99} ms`),
        row("the same, p50", `${quantile(waitsMs, 0.5)} ms`),
        row("events delivered", `${waitsMs.length}, ${(waitsMs.length / seconds).toFixed(0)}/s`),
      ];
    } finally {
      await world.stop();
      endpoint.close();
    }
  },
});
