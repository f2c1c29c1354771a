import { createRingport, type Ringport, type Transcription } from "ringport";
import { type Client, type ClientOptions, createClient, type StreamEvent } from "ringport/client";
import type { Listening, ServedApp, ServeOptions } from "ringport/node";
import { type ScriptedLeg, ScriptedTelephony } from "ringport/testing";
import { afterAll, beforeAll } from "vitest";
import { realSystem } from "../../../src/ports/system.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

/** A real Ringport behind the tested runtime's real server; only the phones are scripted. */
export interface StreamScene {
  readonly ringport: Ringport;
  readonly network: ScriptedTelephony;
  /** The server's address. */
  readonly url: string;
  readonly token: string;
  /** A client; by default with a direct connection. */
  client(options?: Partial<ClientOptions>): Client;
  /** Places a stream call and waits until a phone rings. */
  ring(): Promise<RingingCall>;
  /** Places a stream call, and answers it. */
  answeredCall(): Promise<RingingCall>;
}

/** A call whose phone rings. */
export interface RingingCall {
  readonly id: string;
  readonly leg: ScriptedLeg;
}

export const TARGET = { phoneNumber: "+12025550100" } as const;
/** Rate of the legs and of the streamed audio, Hz; no audio is resampled. */
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
    { ...realSystem, after: punctualTimers(speed) },
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
  let callCount = 0;
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
      const { id: instanceId } = await client.instances.create({ name: `Desk ${++callCount}` });
      const { id } = await client.calls.create({ instanceId, type: "DYNAMIC_STREAM", target: TARGET });
      await waitUntil(() => network.legs.some(({ callId }) => callId === id), "no callee was dialled");
      const leg = network.leg(id);
      leg.placed();
      leg.alert();
      return { id, leg };
    },
    async answeredCall() {
      const call = await scene.ring();
      call.leg.answer();
      await waitUntil(
        async () => (await scene.client().calls.get(call.id)).status === "IN_PROGRESS",
        "the call was not answered",
      );
      return call;
    },
  };
  return scene;
}

/** Audio that a phone heard, without the silence before and after. */
export function heardBy({ heard }: { readonly heard: Int16Array }): Int16Array {
  const start = heard.findIndex((sample) => sample !== 0);
  return start < 0 ? new Int16Array(0) : heard.subarray(start, heard.findLastIndex((sample) => sample !== 0) + 1);
}

/** All items of an iterator. */
export async function allOf<T>(items: AsyncIterable<T>): Promise<T[]> {
  const results: T[] = [];
  for await (const item of items) results.push(item);
  return results;
}

/** Events by name, other messages by type. */
export const namesOf = (events: readonly StreamEvent[]): string[] =>
  events.map((event) => (event.type === "call_event" ? event.event : event.type));

/** Waits for a condition. Throws an Error with this message after 15 s. */
export async function waitUntil(condition: () => boolean | Promise<boolean>, message: string): Promise<void> {
  const deadline = performance.now() + 15_000;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(message);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** A clock's timers at a multiple of real time. A timer started by another one counts from the other's due time. */
function punctualTimers(speed: number): typeof realSystem.after {
  let dueAt: number | undefined;
  return (ms, run) => {
    const dueTime = (dueAt ?? realSystem.monotonic()) + ms / speed;
    return realSystem.after(dueTime - realSystem.monotonic(), () => {
      dueAt = dueTime;
      run();
      dueAt = undefined;
    });
  };
}

/** This runtime's server. */
async function serveHere(): Promise<(app: ServedApp, options: ServeOptions) => Promise<Listening>> {
  if ("Bun" in globalThis) return (await import("ringport/bun")).serve;
  if ("Deno" in globalThis) return (await import("ringport/deno")).serve;
  return (await import("ringport/node")).serve;
}
