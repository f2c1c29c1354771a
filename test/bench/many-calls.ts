import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type EmbeddedWorkers, embeddedWorkers } from "../../adapters/embedded/worker-pool.ts";
import { embeddedSpeech } from "../../adapters/speech/embedded-engines.ts";
import type { SpeechWorkers } from "../../adapters/speech/speech-jobs.ts";
import { sqliteStorage } from "../../adapters/storage/sqlite/sqlite-storage.ts";
import { type SimulatorOptions, simulator } from "../../adapters/telephony/simulator/index.ts";
import { isInPieces } from "../../src/http/replies/reply.ts";
import {
  type Call,
  type CreateCallInput,
  createRingport,
  type Principal,
  type QueuePolicy,
  type Ringport,
  type RingportOptions,
  type Speech,
  type Telephony,
} from "../../src/index.ts";

export { pause };

export const ME: Principal = { userId: "usr_bench" };
/** Rate of the simulated legs, Hz. */
export const SAMPLE_RATE = 16_000;

/** A whole Ringport in this process: SQLite, simulated network and embedded speech, with its own data folder. */
export interface ManyCalls {
  readonly ringport: Ringport;
  readonly network: ReturnType<typeof simulator>;
  readonly speech: Speech;
  /** Makes instances whose numbers are linked and online. */
  link(count: number, owner?: Principal): Promise<string[]>;
  /** Creates calls, 50 at a time; resolves when all of them are stored. */
  place(calls: readonly CreateCallInput[]): Promise<Call[]>;
  stop(): Promise<void>;
}

/** Options of a benchmark's world. */
export interface ManyCallsOptions {
  readonly queue?: QueuePolicy;
  /** Factor for the timings of the remote ends. */
  readonly timeScale?: number;
  /** Puts something between the speech and its workers. */
  readonly workers?: (pool: EmbeddedWorkers) => SpeechWorkers;
  /** Changes to the network. */
  readonly simulated?: Pick<SimulatorOptions, "sampleRate" | "maxRecordingMs">;
  /** Puts something between Ringport and the network. */
  readonly through?: (network: Telephony) => Telephony;
  /** More options of Ringport. */
  readonly more?: RingportOptions;
}

/** Starts a Ringport for a benchmark. */
export async function startManyCalls(options: ManyCallsOptions = {}): Promise<ManyCalls> {
  const { queue, timeScale, workers = (pool) => pool, simulated, through = (network) => network, more } = options;
  const data = await mkdtemp(join(tmpdir(), "ringport-bench-"));
  const spoolDir = join(data, "recordings");
  const spool = { spoolDir, maxSpoolBytes: 2 ** 36, maxInstanceSpoolBytes: 2 ** 36 };
  const network = simulator({ ...spool, sampleRate: SAMPLE_RATE, timeScale, ...simulated });
  const pool = embeddedWorkers();
  const speech = embeddedSpeech({ pool: workers(pool) });
  const storage = sqliteStorage({ path: join(data, "bench.sqlite"), workers: pool });
  const ringport = createRingport({ data, storage, telephony: through(network), speech, queue, ...more });
  await ringport.start();
  return {
    ringport,
    network,
    speech,
    link: (count, owner = ME) =>
      inTurns(Array.from({ length: count }).keys(), 100, (n) => linkedInstance(ringport, owner, n)),
    place: (calls) => inTurns(calls, 50, (call) => ringport.calls.create(ME, call)),
    async stop() {
      await ringport.stop({ drainMs: 0 });
      await pool.close();
      await rm(data, { recursive: true, force: true });
    },
  };
}

/** A FIXED_TTS call to a remote end that answers and listens, unless another number is given. */
export function spokenCall(instanceId: string, text: string, phoneNumber = "+12025550100"): CreateCallInput {
  return { instanceId, type: "FIXED_TTS", target: { phoneNumber }, tts: { text, voiceId: "en-US-1" } };
}

/** Resolves when a call has been answered. */
export async function answered(ringport: Ringport, callId: string): Promise<void> {
  for await (const event of ringport.calls.events(ME, callId)) if (event.type === "answered") return;
  throw new Error(`call ${callId} ended before it was answered`);
}

/** The WAV file of what the callee of a call heard, as the simulated network has recorded it; undefined without one. */
export async function heardFile({ network }: Pick<ManyCalls, "network">, callId: string): Promise<Buffer | undefined> {
  const body = (await network.pages.artefact(callId, "heard.wav"))?.body;
  if (!isInPieces(body)) return undefined;
  const pieces: Uint8Array[] = [];
  for await (const piece of body) pieces.push(piece);
  return Buffer.concat(pieces);
}

async function linkedInstance(ringport: Ringport, owner: Principal, number: number): Promise<string> {
  const { id } = await ringport.instances.create(owner, { name: `bench ${number}` });
  const { payload } = await ringport.instances.configure(owner, id);
  const page = await ringport.handle({ method: "POST", url: payload, headers: new Headers(), body: null });
  if (page.status !== 200) throw new Error(`linking answered ${page.status}`);
  while ((await ringport.instances.get(owner, id)).status !== "ACTIVE") await pause(50);
  return id;
}

async function inTurns<T, R>(items: Iterable<T>, atOnce: number, run: (item: T) => Promise<R>): Promise<R[]> {
  const all = [...items];
  const results: R[] = [];
  for (let at = 0; at < all.length; at += atOnce)
    results.push(...(await Promise.all(all.slice(at, at + atOnce).map(run))));
  return results;
}
