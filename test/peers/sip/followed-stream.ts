import type { CallStream, Client, StreamEvent, StreamOptions } from "ringport/client";
import { expect } from "vitest";

/** A stream of the published client, with its events and audio so far. */
export interface FollowedStream {
  readonly stream: CallStream;
  readonly events: readonly StreamEvent[];
  /** The callee's audio. */
  readonly frames: readonly Int16Array[];
  /** Resolves when both have ended. */
  readonly ended: Promise<unknown>;
}

/** Attaches to the stream of a call, and reads it. */
export async function follow(client: Client, callId: string, options: StreamOptions = {}): Promise<FollowedStream> {
  const stream = await client.stream(callId, { audio: "callee", ...options });
  const [events, frames]: [StreamEvent[], Int16Array[]] = [[], []];
  const collect = async <T>(source: AsyncIterable<T>, target: T[]): Promise<void> => {
    for await (const item of source) target.push(item);
  };
  const ended = Promise.all([collect(stream.events(), events), collect(stream.audio(), frames)]);
  ended.catch(() => {}); // without a waiter, a rejection would be unhandled
  return { stream, events, frames, ended };
}

/** Writes bytes in pieces of odd sizes, and waits until they have been heard. */
export async function writePieces({ stream }: FollowedStream, bytes: Uint8Array): Promise<void> {
  const sizes = [1, 77, 1_009, 333];
  for (let offset = 0, i = 0; offset < bytes.length; offset += sizes[i++ % 4]!)
    await stream.write(bytes.subarray(offset, offset + sizes[i % 4]!));
  expect(await stream.mark("said")).toBe("reached");
}

/** Hangs up once everything has been heard, and waits until the call and the stream have ended. */
export async function hangUp({ stream, ended }: FollowedStream): Promise<void> {
  expect(await stream.hangUp()).toEqual({ status: "completed", reason: "stream_closed" });
  await ended;
}

/** Name of a call event, or the type of any other message. */
export const nameOf = (event: StreamEvent): string => (event.type === "call_event" ? event.event : event.type);
/** Time of an event, ms since 1970. */
export const timeOf = (events: readonly StreamEvent[], name: string): number => {
  const match = events.find((event) => nameOf(event) === name);
  return match && "timestamp" in match ? Date.parse(match.timestamp) : Number.NaN;
};
