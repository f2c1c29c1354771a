import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { embeddedSpeech } from "../../adapters/speech/speech.ts";
import { sqliteStorage } from "../../adapters/storage/sqlite.ts";
import { simulator } from "../../adapters/telephony/simulator/index.ts";
import { WorkerPool } from "../../adapters/workers/pool.ts";
import {
  type Call,
  type CreateCallInput,
  createRingport,
  type Principal,
  type Ringport,
  type Speech,
} from "../../src/index.ts";

export const ME: Principal = { userId: "usr_bench" };
/** Rate of the simulated legs, Hz. */
export const SAMPLE_RATE = 16_000;

/** A whole Ringport in this process, on a data folder of its own: SQLite, the simulated network, embedded speech. */
export interface ManyCalls {
  readonly ringport: Ringport;
  readonly network: ReturnType<typeof simulator>;
  readonly speech: Speech;
  /** Makes instances whose numbers are linked and online. */
  link(count: number): Promise<string[]>;
  /** Places a call on each instance; resolves when all are stored. */
  place(instances: readonly string[], call: Omit<CreateCallInput, "instanceId">): Promise<Call[]>;
  stop(): Promise<void>;
}

/** Starts a Ringport for a benchmark. @param speech in place of the embedded engines */
export async function startManyCalls(speech: Speech = embeddedSpeech({ pool: new WorkerPool() })): Promise<ManyCalls> {
  const data = await mkdtemp(join(tmpdir(), "ringport-bench-"));
  const network = simulator({ spoolDir: join(data, "recordings"), sampleRate: SAMPLE_RATE, maxSpoolBytes: 2 ** 36 });
  const storage = sqliteStorage({ path: join(data, "bench.sqlite") });
  const ringport = createRingport({ data, storage, telephony: network, speech });
  await ringport.start();
  return {
    ringport,
    network,
    speech,
    link: (count) =>
      inTurns(
        Array.from({ length: count }, (_, n) => n),
        100,
        (n) => linkedInstance(ringport, n),
      ),
    place: (instances, call) =>
      inTurns(instances, 50, (instanceId) => ringport.calls.create(ME, { instanceId, ...call } as CreateCallInput)),
    async stop() {
      await ringport.stop({ drainMs: 0 });
      await rm(data, { recursive: true, force: true });
    },
  };
}

/** Resolves when a call has been answered. */
export async function answered(ringport: Ringport, callId: string): Promise<void> {
  for await (const event of ringport.calls.events(callId)) if (event.type === "answered") return;
  throw new Error(`call ${callId} ended before it was answered`);
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Says what the benchmark is doing, beside its result. */
export function say(words: string): void {
  console.error(`  … ${words}`);
}

async function linkedInstance(ringport: Ringport, number: number): Promise<string> {
  const { id } = await ringport.instances.create(ME, { name: `bench ${number}` });
  const { payload } = await ringport.instances.configure(ME, id);
  const page = await ringport.handle({ method: "POST", url: payload, headers: new Headers(), body: null });
  if (page.status !== 200) throw new Error(`linking answered ${page.status}`);
  while ((await ringport.instances.get(ME, id)).status !== "ACTIVE") await pause(50);
  return id;
}

async function inTurns<T, R>(items: readonly T[], atOnce: number, run: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let at = 0; at < items.length; at += atOnce)
    results.push(...(await Promise.all(items.slice(at, at + atOnce).map(run))));
  return results;
}
