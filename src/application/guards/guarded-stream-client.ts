import type { StreamClient } from "../call-audio/streams/stream-client.ts";
import { sampleRate } from "./accepted.ts";
import { type Guarded, type GuardParts, guarded, type Rules } from "./guarded.ts";
import { notifies, reads } from "./rules.ts";

const STREAM_CLIENT: Rules<StreamClient> = {
  calleeRate: reads(sampleRate),
  event: notifies(),
  transcript: notifies(),
  callee: notifies(),
  over: notifies(),
};

/** The client of a live stream: a WebSocket, or an embedding program. */
export const guardedStreamClient = (client: StreamClient, parts: GuardParts): Guarded<StreamClient> =>
  guarded(client, STREAM_CLIENT, "stream", parts);
