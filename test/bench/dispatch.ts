import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { storedSecret } from "../../adapters/embedded/secret.ts";
import { sqliteStorage } from "../../adapters/storage/sqlite/sqlite-storage.ts";
import { encodeDevice, newDevice } from "../../adapters/telephony/simulator/device.ts";
import { simulator } from "../../adapters/telephony/simulator/index.ts";
import { Vault } from "../../src/application/access/vault.ts";
import { pcmToBytes } from "../../src/audio/samples/pcm.ts";
import { tone } from "../../src/audio/tones/tone.ts";
import { wavHeader } from "../../src/audio/wav/wav-header.ts";
import { idSource } from "../../src/base/ids.ts";
import { SINGLE } from "../../src/domain/instances/queue-policy.ts";
import { type Call, createRingport } from "../../src/index.ts";
import { type Benchmark, progress, type Row } from "./benchmark.ts";
import { ME, pause, SAMPLE_RATE } from "./many-calls.ts";
import { callInserter } from "./rows.ts";

const GIVE_UP_MS = 120_000;

/** Rate at which waiting calls are started. */
export const DISPATCH: Benchmark = {
  title: "Starting 10,000 waiting calls",
  method: `A database with 10,000 linked instances, each with one waiting \`FIXED_AUDIO\` call (one second of WAV) to a number that
rings and never answers. The server starts on it, as after a restart: every line connects, every call is claimed, dialled,
stored as \`RINGING\` with its event, and its audio decoded for the leg. The rate is that of the \`ringing\` events, first to
last; all of it durable (\`synchronous=FULL\`), one process. Then the same with a million calls that are over in the same
database.`,
  options: {
    calls: { meaning: "waiting calls, each on an instance of its own", value: 10_000, quick: 500 },
    finished: { meaning: "calls that are over, in the second run", value: 1_000_000, quick: 10_000 },
  },
  run: ({ calls = 0, finished = 0 }) => measure(calls, finished),
  remarks: `A message is decoded before its call is claimed (2,288 calls/s were started while it was decoded afterwards), so calls become ready one after the other instead of
together, and fewer of their writes share a commit: 900 commits per second take 35 % of the time. Letting a commit wait 4 ms for others to share it brought 1,050 calls/s,
and took the order to the INVITE from 11 ms to 28 ms (\`sip-setup\`, p99); it was left out.`,
};

async function measure(calls: number, finished: number): Promise<Row[]> {
  const empty = await startAll(calls, 0);
  const full = await startAll(calls, finished);
  const ratio = full.perSecond / empty.perSecond;
  return [
    {
      what: "calls started per second",
      measured: `${empty.perSecond.toFixed(0)}/s`,
      wanted: "≥ 1,000/s",
      reached: empty.perSecond >= 1000,
    },
    {
      what: `the same beside ${finished.toLocaleString("en")} finished calls`,
      measured: `${full.perSecond.toFixed(0)}/s, ${ratio.toFixed(2)} of the above`,
      wanted: "≥ 0.8",
      reached: ratio >= 0.8,
    },
    { what: "from the server's start to the last RINGING", measured: `${(empty.wholeMs / 1000).toFixed(1)} s` },
  ];
}

async function startAll(calls: number, finished: number): Promise<{ perSecond: number; wholeMs: number }> {
  const data = await mkdtemp(join(tmpdir(), "ringport-bench-"));
  const path = join(data, "bench.sqlite");
  progress(`preparing ${calls} waiting calls and ${finished} finished ones`);
  await fill(data, path, calls, finished);
  const network = simulator({ spoolDir: join(data, "recordings"), sampleRate: SAMPLE_RATE });
  const ringport = createRingport({ data, storage: sqliteStorage({ path }), telephony: network });
  try {
    progress("starting them");
    const began = Date.now();
    await ringport.start();
    const { first, last } = await allRinging(path, calls, began + GIVE_UP_MS);
    return { perSecond: (calls - 1) / ((last - first) / 1000), wholeMs: last - began };
  } finally {
    await ringport.stop({ drainMs: 0 });
    await rm(data, { recursive: true, force: true });
  }
}

/** When the first and the last of them rang. */
async function allRinging(path: string, calls: number, until: number): Promise<{ first: number; last: number }> {
  const database = new DatabaseSync(path, { readOnly: true });
  const ringing = database.prepare(
    "select count(*) as calls, min(at) as first, max(at) as last from events where type = 'ringing'",
  );
  try {
    for (;;) {
      const row = ringing.get() as { calls: number; first: number; last: number };
      if (row.calls === calls) return row;
      if (Date.now() > until) throw new Error(`only ${row.calls} of ${calls} calls rang within ${GIVE_UP_MS} ms`);
      await pause(500); // looking costs the server a little
    }
  } finally {
    database.close();
  }
}

/** Writes what linked instances with one waiting call each, and finished calls, leave in a database. */
async function fill(data: string, path: string, calls: number, finished: number): Promise<void> {
  const storage = sqliteStorage({ path, synchronous: "NORMAL" });
  const vault = new Vault(await storedSecret(data));
  const random = (bytes: Uint8Array) => void crypto.getRandomValues(bytes as Uint8Array<ArrayBuffer>);
  const ids = idSource(Date.now, random);
  const audio = oneSecondOfWav();
  await storage.open({ exclusive: true });
  for (let n = 0; n < calls; n++) {
    const now = Date.now();
    const device = newDevice(random);
    const id = ids("inst");
    const of = { userId: ME.userId, createdAt: now, version: 1 };
    const instance = {
      ...of,
      id,
      name: `bench ${n}`,
      status: "ACTIVE",
      metadata: {},
      updatedAt: now,
      erasedAt: null,
    } as const;
    await storage.instances.insert({ ...instance, provider: "simulator", phone: device.phone }, []);
    await vault.of(id, storage.instances).save(encodeDevice(device));
    await storage.calls.insert(waitingCall({ ...of, id: ids("call"), instanceId: id }), audio, SINGLE, []);
  }
  await storage.close();
  addFinished(path, finished);
}

function waitingCall(of: Pick<Call, "id" | "instanceId" | "userId" | "createdAt" | "version">): Call {
  return {
    ...of,
    tokenId: null,
    status: "QUEUED",
    targetPhone: "+12025550102",
    message: { type: "FIXED_AUDIO", format: "wav", durationMs: 1000, truncated: false },
    outcome: null,
    mediaStatistics: null,
    recordedMs: null,
    startedAt: null,
    endedAt: null,
    slot: 0,
    owner: null,
    dialingAt: null,
  };
}

/** Ended calls, distributed round-robin over the instances with a waiting one. */
function addFinished(path: string, count: number): void {
  const database = new DatabaseSync(path);
  database.exec("pragma synchronous = off; pragma cache_size = -400000; begin");
  const waiting = database.prepare("select instance_id from calls").all();
  const ids = idSource(Date.now, (bytes) => void crypto.getRandomValues(bytes as Uint8Array<ArrayBuffer>));
  const insert = callInserter(database);
  for (let n = 0; n < count; n++) {
    const instanceId = String(waiting[n % waiting.length]?.instance_id);
    const createdAt = Date.now() - 86_400_000 + n;
    insert({ id: ids("call"), instanceId, userId: ME.userId, status: "COMPLETED", type: "FIXED_AUDIO", createdAt });
  }
  database.exec("commit");
  database.close();
}

function oneSecondOfWav(): Uint8Array {
  const samples = tone(440, 1000, SAMPLE_RATE, 8000);
  const header = wavHeader({ sampleRate: SAMPLE_RATE, samples: samples.length });
  const file = new Uint8Array(header.length + 2 * samples.length);
  file.set(header);
  file.set(pcmToBytes(samples), header.length);
  return file;
}
