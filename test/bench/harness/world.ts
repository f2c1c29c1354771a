import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type EmbeddedWorkers, embeddedWorkers } from "../../../adapters/defaults/worker-pool.ts";
import { embeddedSpeech } from "../../../adapters/speech/all-engines.ts";
import type { SpeechWorkers } from "../../../adapters/speech/speech-jobs.ts";
import { sqliteStorage } from "../../../adapters/storage/sqlite/sqlite-storage.ts";
import { type SimulatorOptions, simulator } from "../../../adapters/telephony/simulator/index.ts";
import { type MediaPlace, sip } from "../../../adapters/telephony/sip/index.ts";
import { whatsapp } from "../../../adapters/telephony/whatsapp/index.ts";
import { isInPieces } from "../../../src/http/replies/reply.ts";
import {
  type Call,
  type CreateCallInput,
  createRingport,
  type Principal,
  type Ringport,
  type RingportOptions,
  type Speech,
  type Telephony,
} from "../../../src/index.ts";
import type { FakeWhatsApp } from "../../../src/testing/index.ts";

export { pause };

export const ME: Principal = { userId: "usr_bench" };
/** Rate of the simulated legs, Hz. */
export const SAMPLE_RATE = 16_000;
/** Batch size for linked instances and created calls. */
const AT_ONCE = 50;

/** A whole Ringport in this process with SQLite and embedded speech, on its own data folder. */
export interface World {
  readonly ringport: Ringport;
  readonly speech: Speech;
  /** Creates instances that are online. */
  link(count: number, owner?: Principal): Promise<string[]>;
  /** Creates calls; resolves when all of them are stored. */
  place(calls: readonly CreateCallInput[]): Promise<Call[]>;
  stop(): Promise<void>;
}

interface WorldOptions {
  telephony(data: string): NonNullable<RingportOptions["telephony"]>;
  readonly workers?: ((pool: EmbeddedWorkers) => SpeechWorkers) | undefined;
  readonly options?: RingportOptions | undefined;
  /** Default: a SIP trunk. */
  readonly provider?: string;
  /** Links a number by the text of its QR code; missing if no instance needs a code. */
  readonly scan?: (ringport: Ringport, payload: string, number: number) => Promise<void>;
}

async function startWorld({
  telephony,
  workers = (pool) => pool,
  options: overrides,
  provider,
  scan,
}: WorldOptions): Promise<World> {
  const data = await mkdtemp(join(tmpdir(), "ringport-bench-"));
  const pool = embeddedWorkers();
  const speech = embeddedSpeech({ pool: workers(pool) });
  const storage = sqliteStorage({ path: join(data, "bench.sqlite"), workers: pool });
  const ringport = createRingport({ data, storage, telephony: telephony(data), speech, ...overrides });
  await ringport.start();
  let numbers = 0;
  const createLinked = async (owner: Principal): Promise<string> => {
    const number = numbers++;
    const { id } = await ringport.instances.create(owner, { name: `bench ${number}`, ...(provider && { provider }) });
    if (scan) await scan(ringport, (await ringport.instances.configure(owner, id)).payload, number);
    while ((await ringport.instances.get(owner, id)).status !== "ACTIVE") await pause(20);
    return id;
  };
  return {
    ringport,
    speech,
    link: (count, owner = ME) => inTurns(Array<Principal>(count).fill(owner), createLinked),
    place: (calls) => inTurns(calls, (call) => ringport.calls.create(ME, call)),
    async stop() {
      await ringport.stop({ drainMs: 0 });
      await pool.close();
      await rm(data, { recursive: true, force: true });
    },
  };
}

/** A {@link World} on the simulated network. */
export interface SimulatedWorld extends World {
  readonly network: ReturnType<typeof simulator>;
}

export interface SimulatedWorldOptions {
  /** Factor for the timings of the callees. */
  readonly timeScale?: number;
  /** Wraps the speech workers. */
  readonly workers?: (pool: EmbeddedWorkers) => SpeechWorkers;
  readonly simulated?: Pick<SimulatorOptions, "sampleRate" | "maxRecordingMs">;
  /** Wraps the network. */
  readonly wrapNetwork?: (network: Telephony) => Telephony;
  readonly options?: RingportOptions;
}

export async function simulatedWorld(options: SimulatedWorldOptions = {}): Promise<SimulatedWorld> {
  const { timeScale, simulated, wrapNetwork = (network) => network } = options;
  let network: ReturnType<typeof simulator> | undefined;
  const world = await startWorld({
    ...options,
    telephony(data) {
      const spool = { spoolDir: join(data, "recordings"), maxSpoolBytes: 2 ** 36, maxInstanceSpoolBytes: 2 ** 36 };
      network = simulator({ ...spool, sampleRate: SAMPLE_RATE, timeScale, ...simulated });
      return wrapNetwork(network);
    },
    async scan(ringport, url) {
      const page = await ringport.handle({ method: "POST", url, headers: new Headers(), body: null });
      if (page.status !== 200) throw new Error(`linking returned ${page.status}`);
    },
  });
  return { ...world, network: network! };
}

/** A {@link World} with one SIP trunk. @param server its SIP URI */
export function trunkWorld(server: string, media: MediaPlace): Promise<World> {
  const trunks = [{ name: "bench", server, users: "*", rtpPorts: [16_384, 49_151] }] as const;
  return startWorld({ telephony: () => sip({ trunks, media }), provider: "sip/bench" });
}

/** A {@link World} on a scripted WhatsApp. */
export function whatsappWorld(network: FakeWhatsApp, overrides: RingportOptions): Promise<World> {
  return startWorld({
    telephony: () => whatsapp({ client: network.client }),
    options: overrides,
    scan: async (_, payload, number) => network.scan(payload, `+1415${String(5_550_000 + number)}`),
  });
}

/** A FIXED_TTS call, by default to a callee that answers and listens. */
export function spokenCall(instanceId: string, text: string, phoneNumber = "+12025550100"): CreateCallInput {
  return { instanceId, type: "FIXED_TTS", target: { phoneNumber }, tts: { text, voiceId: "en-US-1" } };
}

/** Resolves when all calls have been answered. */
export async function waitUntilAllAnswered({ ringport }: World, calls: readonly Pick<Call, "id">[]): Promise<void> {
  for (const { id } of calls) {
    let isAnswered = false;
    for await (const event of ringport.calls.events(ME, id)) {
      isAnswered = event.type === "answered";
      if (isAnswered) break;
    }
    if (!isAnswered) throw new Error(`call ${id} ended before it was answered`);
  }
}

/** Resolves with all calls when they have ended. */
export function waitUntilAllEnded({ ringport }: World, calls: readonly Pick<Call, "id">[]): Promise<Call[]> {
  return Promise.all(calls.map(({ id }) => ringport.calls.wait(ME, id)));
}

/** WAV file of the audio that a call's callee heard, as recorded by the simulated network; undefined without one. */
export async function heardFile({ network }: SimulatedWorld, callId: string): Promise<Buffer | undefined> {
  const body = (await network.pages.artefact(callId, "heard.wav"))?.body;
  return isInPieces(body) ? Buffer.concat(await Array.fromAsync(body)) : undefined;
}

/** Runs a function on a fixed schedule, even if earlier runs are late; resolves when all have ended. */
export async function onSchedule<T>(rate: number, count: number, run: (n: number) => Promise<T>): Promise<T[]> {
  const startedAt = performance.now();
  const runs: Promise<T>[] = [];
  for (let n = 0; n < count; n++) {
    const waitMs = startedAt + (n * 1000) / rate - performance.now();
    if (waitMs > 0) await pause(waitMs);
    runs.push(run(n));
  }
  return Promise.all(runs);
}

async function inTurns<T, R>(items: readonly T[], run: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let start = 0; start < items.length; start += AT_ONCE)
    results.push(...(await Promise.all(items.slice(start, start + AT_ONCE).map(run))));
  return results;
}
