import { readFile } from "node:fs/promises";
import { ON_NODE, ON_OTHER_RUNTIMES, type Server, type Target, useServer } from "../support/server.ts";
import type { CallView, Client, InstanceView } from "../support/server-client.ts";
import { loudPart, type Sound } from "../support/server-sound.ts";
import { type OpenStreamOptions, openStream, type StreamClient } from "../support/stream-client.ts";

/** Streams are the same on every runtime; what they store is tried elsewhere. */
export const ON_ALL_RUNTIMES: readonly Target[] = [ON_NODE, ...ON_OTHER_RUNTIMES];

/** How long these servers wait for a client, ms. */
export const ATTACH_MS = 700;

/** A server with live streams, which waits a short time only for clients that have gone. */
export function useStreamServer(target: Target, env: Readonly<Record<string, string>> = {}): Server {
  const short = { RINGPORT_STREAM_PREVIEW: "1", RINGPORT_STREAM_ATTACH_MS: String(ATTACH_MS) };
  return useServer(target, { env: { ...short, ...env } });
}

/** A call with a stream, on an instance of its own. */
export interface StreamCall {
  readonly call: CallView;
  readonly instance: InstanceView;
  readonly client: Client;
  open(options?: Omit<OpenStreamOptions, "token">): Promise<StreamClient>;
}

/** Places a call with a stream; with `linked: false` it waits in the queue. */
export async function streamCall(
  server: Server,
  { to, linked = true, client: given }: { to?: string; linked?: boolean; client?: Client } = {},
): Promise<StreamCall> {
  const client = given ?? (await server.as("ada"));
  const instance = linked ? await client.activeInstance() : await client.createInstance();
  const target = to === undefined ? {} : { target: { phoneNumber: to } };
  const call = await client.call(instance.id, { type: "DYNAMIC_STREAM", ...target });
  const open = (options: Omit<OpenStreamOptions, "token"> = {}) =>
    openStream(server.base, call.id, { token: client.token, ...options });
  return { call, instance, client, open };
}

/** A file of test/fixtures. */
export async function fixture(name: string): Promise<Uint8Array> {
  return new Uint8Array(await readFile(new URL(`../fixtures/${name}`, import.meta.url)));
}

/** What is loud of a sound, and how long it is. */
export function loudSound(sound: Sound, level?: number): Sound & { readonly ms: number; readonly fromMs: number } {
  const { from, to } = loudPart(sound, level);
  const samples = from < 0 ? new Int16Array(0) : sound.samples.slice(from, to);
  const ms = (count: number): number => (1000 * count) / sound.sampleRate;
  return { sampleRate: sound.sampleRate, samples, ms: ms(samples.length), fromMs: ms(from) };
}
