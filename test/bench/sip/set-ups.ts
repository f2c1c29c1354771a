import { progress } from "../benchmark.ts";
import { ME, pause, spokenCall } from "../many-calls.ts";
import { quantile } from "../median.ts";
import type { Measurable } from "../under-runtime.ts";
import { startCallees } from "./callees.ts";
import { startTrunkWorld } from "./trunk-world.ts";

const RATE_WANTED = 200;
const WORST_P99_MS = 10;
/** From the ACK to the callee's BYE. */
const TALK_MS = 200;
/** Warm-up in which much of the code is compiled, s. */
const WARM_SECONDS = 3;
const TEXT = "Good morning. Your parcel arrives tomorrow at nine.";

/** Calls on a fixed schedule, whatever becomes of them; each is answered, and hung up by the callee soon after. */
export const measure: Measurable["measure"] = async ({ rate = 0, seconds = 0, echo = 0 }) => {
  const callees = await startCallees({ echo, hangUpMs: TALK_MS });
  const world = await startTrunkWorld(callees.uri, "auto");
  try {
    progress("bringing instances online");
    const instances = await world.link(rate * 2); // a call of each has two seconds before the next one
    const warm = await Promise.all(instances.slice(0, 20).map((id, n) => world.place(spokenCall(id, TEXT, number(n)))));
    for (const { id } of warm) await world.ringport.calls.wait(ME, id);

    progress(`placing ${rate} calls per second for ${WARM_SECONDS} s and ${seconds} s`);
    const posted = new Map<string, number>();
    const placing: Promise<string>[] = [];
    const begun = performance.now();
    for (let n = 0; n < rate * (WARM_SECONDS + seconds); n++) {
      const due = begun + (n * 1000) / rate;
      if (performance.now() < due) await pause(due - performance.now());
      const to = number(20 + n);
      posted.set(to, performance.timeOrigin + performance.now());
      const instance = instances[n % instances.length]!;
      placing.push(world.place(spokenCall(instance, TEXT, to)).then(({ id }) => id));
    }
    const ended = await Promise.all(
      (await Promise.all(placing)).map(async (id) => await world.ringport.calls.wait(ME, id)),
    );
    const elapsed = (performance.now() - begun) / 1000;
    const invites = await callees.invites();
    const all = [...posted].map(([to, at]) => (invites[to] ?? Number.POSITIVE_INFINITY) - at);
    const waits = all.slice(rate * WARM_SECONDS);
    const good = ended.filter((call) => call.outcome?.reason === "callee_hung_up").length;
    const perSecond = good / elapsed;
    const p99 = quantile(waits, 0.99);
    return [
      {
        what: "calls answered and torn down",
        measured: `${perSecond.toFixed(0)}/s (${good} of ${ended.length})`,
        wanted: `≥ ${RATE_WANTED}/s`,
        reached: good === ended.length && perSecond >= RATE_WANTED,
      },
      {
        what: "from the order to the INVITE, p99",
        measured: `${p99.toFixed(1)} ms (p50 ${quantile(waits, 0.5).toFixed(1)} ms)`,
        wanted: `≤ ${WORST_P99_MS} ms`,
        reached: p99 <= WORST_P99_MS,
      },
      {
        what: `the same in the first ${WARM_SECONDS} s`,
        measured: `${quantile(all.slice(0, rate * WARM_SECONDS), 0.99).toFixed(1)} ms`,
      },
    ];
  } finally {
    await world.stop();
    await callees.stop();
  }
};

function number(n: number): string {
  return `+1202${String(5_550_000 + n).padStart(7, "0")}`;
}
