import { createRingport, type Ringport, type Transcription } from "ringport";
import { type Client, type ClientOptions, createClient, type StreamEvent } from "ringport/client";
import type { Listening, ServedApp, ServeOptions } from "ringport/node";
import { type ScriptedLeg, ScriptedTelephony } from "ringport/testing";
import { afterAll, beforeAll } from "vitest";
import { realSystem } from "../../../src/ports/system.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

/** A real Ringport behind a real server of the runtime under test; only the phones are scripted. */
export interface StreamScene {
  readonly ringport: Ringport;
  readonly network: ScriptedTelephony;
  /** Its address. */
  readonly url: string;
  readonly token: string;
  /** A client; by default with a direct connection. */
  client(options?: Partial<ClientOptions>): Client;
  /** Places a stream call and waits until a phone rings. */
  ring(): Promise<RingingCall>;
  /** The same with a callee who picks up. */
  answered(): Promise<RingingCall>;
}

/** A call whose phone rings. */
export interface RingingCall {
  readonly id: string;
  readonly leg: ScriptedLeg;
}

export const TARGET = { phoneNumber: "+12025550100" } as const;
/** Rate of the legs, and of the streamed audio, Hz: nothing is resampled. */
export const RATE = 16_000;

export interface StreamSceneOptions {
  /** Speed of the phones, as a multiple of real time. Default: 1. */
  readonly speed?: number;
  readonly streamPreview?: boolean;
  readonly transcription?: Transcription;
}

/** Starts a scene for the test file. */
export function streamScene({ speed = 1, streamPreview = true, transcription }: StreamSceneOptions = {}) {
  const network = new ScriptedTelephony(
    { ...realSystem, after: punctual(speed) },
    { sampleRate: RATE, capabilities: { linking: "operator" } },
  );
  const ringport = createRingport({
    data: temporaryFolder("stream"),
    telephony: network,
    streamPreview,
    transcription,
    embedded: { synchronous: "NORMAL" },
  });
  let listening: Listening;
  let token = "";
  let placed = 0;
  beforeAll(async () => {
    listening = await (await serveHere())(ringport, { port: 0 });
    ({ token } = await ringport.tokens.issue({ userName: "ana", label: "test" }));
  });
  afterAll(async () => {
    await ringport.stop({ drainMs: 0 });
    await listening?.close();
  });
  const scene: StreamScene = {
    ringport,
    network,
    get url() {
      return listening.url;
    },
    get token() {
      return token;
    },
    client: (options) => createClient({ url: listening.url, token, ...options }),
    async ring() {
      const client = scene.client();
      const { id: instanceId } = await client.instances.create({ name: `Desk ${++placed}` });
      const { id } = await client.calls.create({ instanceId, type: "DYNAMIC_STREAM", target: TARGET });
      await waitUntil(() => network.legs.some(({ callId }) => callId === id), "nobody was dialled");
      const leg = network.leg(id);
      leg.placed();
      leg.alert();
      return { id, leg };
    },
    async answered() {
      const call = await scene.ring();
      call.leg.answer();
      await waitUntil(async () => (await scene.client().calls.get(call.id)).status === "IN_PROGRESS", "no answer");
      return call;
    },
  };
  return scene;
}

/** Audio that a phone heard, without the silence before and after. */
export function heardBy({ heard }: { readonly heard: Int16Array }): Int16Array {
  const from = heard.findIndex((sample) => sample !== 0);
  return from < 0 ? new Int16Array(0) : heard.subarray(from, heard.findLastIndex((sample) => sample !== 0) + 1);
}

/** All items of an iterator. */
export async function allOf<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

/** Events by name, other messages by type. */
export const namesOf = (events: readonly StreamEvent[]): string[] =>
  events.map((event) => (event.type === "call_event" ? event.event : event.type));

/** Waits for a condition. */
export async function waitUntil(holds: () => boolean | Promise<boolean>, otherwise: string): Promise<void> {
  const deadline = performance.now() + 15_000;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(otherwise);
    await new Promise((done) => setTimeout(done, 10));
  }
}

/** Timers of a clock at a multiple of real time. A timer started by another one counts from the other's due time. */
function punctual(speed: number): typeof realSystem.after {
  let due: number | undefined;
  return (ms, run) => {
    const at = (due ?? realSystem.monotonic()) + ms / speed;
    return realSystem.after(at - realSystem.monotonic(), () => {
      due = at;
      run();
      due = undefined;
    });
  };
}

/** The server of this runtime. */
async function serveHere(): Promise<(app: ServedApp, options: ServeOptions) => Promise<Listening>> {
  if ("Bun" in globalThis) return (await import("ringport/bun")).serve;
  if ("Deno" in globalThis) return (await import("ringport/deno")).serve;
  return (await import("ringport/node")).serve;
}
