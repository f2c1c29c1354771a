import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { storedSecret } from "../../adapters/defaults/secret.ts";
import { sqliteStorage } from "../../adapters/storage/sqlite/sqlite-storage.ts";
import { encodeDevice, newDevice } from "../../adapters/telephony/simulator/device.ts";
import { simulator } from "../../adapters/telephony/simulator/index.ts";
import { Vault } from "../../src/application/encryption/vault.ts";
import { SINGLE_POLICY } from "../../src/domain/instances/queue-capacity.ts";
import { createRingport } from "../../src/index.ts";
import { storedCall, storedInstance } from "../adapters/storage/records.ts";
import { toneWav } from "../support/server-sound.ts";
import { benchmark, progress, row } from "./harness/benchmark.ts";
import { callInserter, fillDatabase, inFolder, newId, random } from "./harness/stored-data.ts";
import { ME, pause, SAMPLE_RATE } from "./harness/world.ts";

const TIMEOUT_MS = 120_000;

/** Rate at which waiting calls are started. */
export const DISPATCH = benchmark({
  options: {
    calls: { meaning: "waiting calls, each on a separate instance", value: 10_000, quick: 500 },
    finished: { meaning: "calls that have ended, in the second run", value: 1_000_000, quick: 10_000 },
  },
  async run({ calls, finished }) {
    const baseline = await startAll(calls, 0);
    const withFinishedCalls = await startAll(calls, finished);
    const ratio = withFinishedCalls.rate / baseline.rate;
    const measured = `${withFinishedCalls.rate.toFixed(0)}/s, ${ratio.toFixed(2)} of the above`;
    const figure = `the same with ${finished.toLocaleString("en")} finished calls`;
    return [
      row("calls started per second", `${baseline.rate.toFixed(0)}/s`, "≥ 1,000/s", baseline.rate >= 1000),
      row(figure, measured, "≥ 0.8", ratio >= 0.8),
      row("from the server's start to the last RINGING", `${(baseline.totalMs / 1000).toFixed(1)} s`),
    ];
  },
});

function startAll(calls: number, finished: number): Promise<{ rate: number; totalMs: number }> {
  return inFolder(async (data) => {
    const path = join(data, "bench.sqlite");
    progress(`preparing ${calls} waiting calls and ${finished} finished ones`);
    await prepare(data, path, calls, finished);
    const network = simulator({ spoolDir: join(data, "recordings"), sampleRate: SAMPLE_RATE });
    const ringport = createRingport({ data, storage: sqliteStorage({ path }), telephony: network });
    try {
      progress("starting them");
      const startedAt = Date.now();
      await ringport.start();
      const { first, last } = await allRinging(path, calls, startedAt + TIMEOUT_MS);
      return { rate: (calls - 1) / ((last - first) / 1000), totalMs: last - startedAt };
    } finally {
      await ringport.stop({ drainMs: 0 });
    }
  });
}

/** Times of the first and the last ringing event. */
async function allRinging(path: string, calls: number, deadline: number): Promise<{ first: number; last: number }> {
  const database = new DatabaseSync(path, { readOnly: true });
  const ringingQuery = database.prepare(
    "select count(*) as calls, min(at) as first, max(at) as last from events where type = 'ringing'",
  );
  try {
    for (;;) {
      const ringingCalls = ringingQuery.get() as { calls: number; first: number; last: number };
      if (ringingCalls.calls === calls) return ringingCalls;
      if (Date.now() > deadline)
        throw new Error(`only ${ringingCalls.calls} of ${calls} calls rang within ${TIMEOUT_MS} ms`);
      await pause(500); // each query costs the server a little
    }
  } finally {
    database.close();
  }
}

/** Stores linked instances with a waiting call each, then ended calls of the same instances. */
async function prepare(data: string, path: string, calls: number, finished: number): Promise<void> {
  const storage = sqliteStorage({ path, synchronous: "NORMAL" });
  const vault = new Vault(await storedSecret(data));
  const audio = toneWav({ hz: 440, sampleRate: SAMPLE_RATE, amplitude: 8_000 });
  const message = { type: "FIXED_AUDIO", format: "wav", durationMs: 1000, truncated: false } as const;
  const { userId } = ME;
  const instances: string[] = [];
  await storage.open({ exclusive: true });
  for (let n = 0; n < calls; n++) {
    const createdAt = Date.now();
    const device = newDevice(random);
    const id = newId("inst");
    instances.push(id);
    await storage.instances.insert({ ...storedInstance(id), userId, createdAt, phone: device.phone }, []);
    await vault.credentialsOf(id, storage.instances).save(encodeDevice(device));
    const call = storedCall(newId("call"), id, { userId, createdAt, message, targetPhone: "+12025550102" });
    await storage.calls.insert(call, audio, SINGLE_POLICY, []);
  }
  await storage.close();
  fillDatabase(path, (database) => {
    const insert = callInserter(database);
    const call = { userId, status: "COMPLETED", type: "FIXED_AUDIO" } as const;
    for (let n = 0; n < finished; n++)
      insert({ ...call, instanceId: instances[n % calls]!, createdAt: Date.now() - 86_400_000 + n });
  });
}
