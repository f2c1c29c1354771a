import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { embeddedWorkers } from "../../../adapters/embedded/worker-pool.ts";
import { embeddedSpeech } from "../../../adapters/speech/embedded-engines.ts";
import { sqliteStorage } from "../../../adapters/storage/sqlite/sqlite-storage.ts";
import { whatsapp } from "../../../adapters/telephony/whatsapp/index.ts";
import { createRingport, type Ringport } from "../../../src/index.ts";
import { FakeWhatsApp } from "../../../src/testing/index.ts";
import { progress } from "../benchmark.ts";
import { ME, pause, spokenCall } from "../many-calls.ts";
import { quantile } from "../median.ts";
import type { Measurable } from "../under-runtime.ts";

const MAX_P99_MS = 20;
/** From the offer to the answer, and from there to the callee's hang-up. */
const RINGING_MS = 200;
const TALK_MS = 400;
/** Warm-up in which much of the code is compiled, s. */
const WARM_SECONDS = 3;
/** Seconds between two calls of one number, which carries one call at a time. */
const TURN_SECONDS = 3;
const TEXT = "Good morning. Your parcel arrives tomorrow at nine.";
/** Plays the whole text before the schedule starts. */
const LISTENER = "+12125550100";

/** Calls on a fixed schedule, each to a number that was never called before. */
export const measure: Measurable["measure"] = async ({ rate = 0, seconds = 0 }) => {
  const network = new FakeWhatsApp(undefined, { latencyMs: 0 });
  network.otherNumbers = { devices: [{ does: "answer", afterMs: RINGING_MS }], hangsUpAfterMs: TALK_MS };
  network.number(LISTENER, { devices: [{ does: "answer", afterMs: RINGING_MS }] });
  const offered = new Map<string, number>();
  network.onCall = ({ phone }) => void offered.set(phone, performance.now());
  const data = await mkdtemp(join(tmpdir(), "ringport-bench-"));
  const pool = embeddedWorkers();
  const ringport = createRingport({
    data,
    storage: sqliteStorage({ path: join(data, "bench.sqlite") }),
    telephony: whatsapp({ client: network.client }),
    speech: embeddedSpeech({ pool }),
    queue: { kind: "single", paceMs: 0, warmUp: false },
  });
  await ringport.start();
  try {
    const count = rate * TURN_SECONDS;
    progress(`linking ${count} numbers`);
    const instances: string[] = [];
    for (let n = 0; n < count; n++) instances.push(await linked(ringport, network, n));

    progress("speaking the text once");
    const first = await ringport.calls.create(ME, spokenCall(instances[0]!, TEXT, LISTENER));
    await ringport.calls.wait(ME, first.id);

    progress(`placing ${rate} calls per second for ${WARM_SECONDS} s and ${seconds} s`);
    const ordered: { readonly to: string; readonly at: number }[] = [];
    const placing: Promise<{ readonly id: string }>[] = [];
    const begun = performance.now();
    for (let n = 0; n < rate * (WARM_SECONDS + seconds); n++) {
      const due = begun + (n * 1000) / rate;
      if (performance.now() < due) await pause(due - performance.now());
      const to = calleeNumber(n);
      ordered.push({ to, at: performance.now() });
      placing.push(ringport.calls.create(ME, spokenCall(instances[n % count]!, TEXT, to)));
    }
    const calls = await Promise.all(placing);
    const ended = await Promise.all(calls.map(({ id }) => ringport.calls.wait(ME, id)));
    const [, ...scheduled] = network.calls;
    const heard = scheduled.filter((call) => call.heard.some((sample) => Math.abs(sample) > 1_000)).length;
    const all = ordered.map(({ to, at }) => (offered.get(to.slice(1)) ?? Number.POSITIVE_INFINITY) - at);
    const waits = all.slice(rate * WARM_SECONDS);
    const good = ended.filter((call) => call.outcome?.reason === "callee_hung_up").length;
    const p99 = quantile(waits, 0.99);
    return [
      {
        what: `from the order to the offer at ${rate} calls/s, p99`,
        measured: `${p99.toFixed(1)} ms (p50 ${quantile(waits, 0.5).toFixed(1)} ms)`,
        wanted: `≤ ${MAX_P99_MS} ms`,
        reached: p99 <= MAX_P99_MS,
      },
      {
        what: `the same in the first ${WARM_SECONDS} s`,
        measured: `${quantile(all.slice(0, rate * WARM_SECONDS), 0.99).toFixed(1)} ms`,
      },
      {
        what: "calls that were answered, heard and hung up",
        measured: `${good} of ${ended.length}, ${heard} heard`,
        wanted: "all",
        reached: good === ended.length && heard === ended.length,
      },
    ];
  } finally {
    await ringport.stop({ drainMs: 0 });
    await pool.close();
    await rm(data, { recursive: true, force: true });
  }
};

async function linked(ringport: Ringport, network: FakeWhatsApp, n: number): Promise<string> {
  const { id } = await ringport.instances.create(ME, { name: `bench ${n}` });
  const { payload } = await ringport.instances.configure(ME, id);
  network.scan(payload, `+1415${String(5_550_000 + n)}`);
  while ((await ringport.instances.get(ME, id)).status !== "ACTIVE") await pause(20);
  return id;
}

function calleeNumber(n: number): string {
  return `+1202${String(5_550_000 + n)}`;
}
