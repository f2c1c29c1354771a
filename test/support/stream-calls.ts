import { readFile } from "node:fs/promises";
import type { Server } from "./server.ts";
import { type CallView, type Client, expected, type InstanceView, until } from "./server-client.ts";
import { send } from "./server-http.ts";
import { loudPart, type Sound } from "./server-sound.ts";
import { type OpenStreamOptions, openStream, type StreamClient } from "./stream-client.ts";

/** Time that these servers wait for a client, ms. */
export const ATTACH_MS = 1_000;

/** Settings of a server with live streams that waits only briefly for a client that has left. */
export const STREAMS = { RINGPORT_STREAM_PREVIEW: "1", RINGPORT_STREAM_ATTACH_MS: String(ATTACH_MS) };

/** A server in this process or in another. */
export type StreamServer = Pick<Server, "as" | "base">;

/** A call with a stream, on a new instance. */
export interface StreamCall {
  readonly call: CallView;
  readonly instance: InstanceView;
  readonly client: Client;
  /** Links the instance, so that the call is dialled: a client attached before that misses no event. */
  dial(): Promise<void>;
  open(options?: Omit<OpenStreamOptions, "token">): Promise<StreamClient>;
}

/** Creates a call with a stream, which waits in the queue until it is dialled. */
export async function streamCall(
  server: StreamServer,
  { to, client: givenClient }: { to?: string; client?: Client } = {},
): Promise<StreamCall> {
  const client = givenClient ?? (await server.as("ada"));
  const instance = await client.createInstance();
  const target = to === undefined ? {} : { target: { phoneNumber: to } };
  const call = await client.call(instance.id, { type: "DYNAMIC_STREAM", ...target });
  const open = (options: Omit<OpenStreamOptions, "token"> = {}) =>
    openStream(server.base, call.id, { token: client.token, ...options });
  return { call, instance, client, open, dial: () => linkByAddress(client, instance.id) };
}

/** A call with a stream whose client is attached and whose callee has answered. */
export async function answeredStream(server: StreamServer): Promise<StreamCall & { readonly stream: StreamClient }> {
  const call = await streamCall(server);
  const stream = await call.open();
  await call.dial();
  await stream.event("answered");
  return { ...call, stream };
}

/** Links an instance by the address in the message: codes rotate fast here, and reading one from a picture is slow. */
async function linkByAddress(client: Client, instanceId: string): Promise<void> {
  await until(
    async () => {
      const { message } = expected(200, await client.get(`/v1/instances/${instanceId}/configure`)).json<{
        message: string;
      }>();
      return (await send("POST", /https?:\S+\w/.exec(message)![0])).status;
    },
    (status) => status === 200,
    10_000,
    "the instance to be linked",
  );
}

/** A file of test/fixtures. */
export async function fixture(name: string): Promise<Uint8Array> {
  return new Uint8Array(await readFile(new URL(`../fixtures/${name}`, import.meta.url)));
}

/** Loud part of a sound, and its length. */
export function loudSound(sound: Sound, level?: number): Sound & { readonly ms: number; readonly fromMs: number } {
  const { from, to } = loudPart(sound, level);
  const samples = from < 0 ? new Int16Array(0) : sound.samples.slice(from, to);
  const ms = (count: number): number => (1000 * count) / sound.sampleRate;
  return { sampleRate: sound.sampleRate, samples, ms: ms(samples.length), fromMs: ms(from) };
}
