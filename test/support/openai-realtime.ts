import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { WebSocket } from "ws";
import { concatPcm, pcmFromBytes } from "../../src/audio/samples/pcm.ts";
import type { Understand } from "./openai-server.ts";

/** Fault of one realtime connection. */
export type RealtimeFault =
  /** Status with which the upgrade is refused. */
  | { readonly status: number }
  /** The connection is cut after this many commits, before the response to the last one, or after this many ms. */
  | { readonly dropAtCommit: number }
  | { readonly dropAfterMs: number }
  /** Never responds. */
  | "silent"
  /** Every second turn gets its transcript before the previous one. */
  | "swapped"
  /** Every transcription fails. */
  | "failing"
  /** Refuses the session. */
  | "no_such_model";

/** Observations of a connection. */
export interface RealtimeRecord {
  readonly url: string;
  readonly authorization: string | undefined;
  /** The session as requested. */
  session: Readonly<Record<string, unknown>> | undefined;
  /** The length of each committed turn, ms. */
  readonly turns: number[];
  isOpen: boolean;
}

/** An id such as the vendor's. */
const idOf = (prefix: string): string => `${prefix}_${randomUUID().replaceAll("-", "").slice(0, 20)}`;

type Json = Record<string, unknown>;
const RATE = 24_000;
const MIN_TURN_MS = 100;

/** Serves one connection that transcribes. */
export function serveRealtime(
  socket: WebSocket,
  request: IncomingMessage,
  fault: RealtimeFault | undefined,
  understand: Understand,
): RealtimeRecord {
  const record: RealtimeRecord = {
    url: request.url ?? "",
    authorization: request.headers.authorization,
    session: undefined,
    turns: [],
    isOpen: true,
  };
  let pieces: Int16Array[] = [];
  let previousItemId: string | null = null;
  let release: (() => void) | undefined;
  let session: Json = { type: "transcription", object: "realtime.transcription_session", id: idOf("sess") };

  const send = (message: Json): void => {
    if (fault !== "silent") socket.send(JSON.stringify({ event_id: idOf("event"), ...message }));
  };
  const sendError = (message: string, code: string): void =>
    send({ type: "error", error: { type: "invalid_request_error", code, message, param: null, event_id: null } });

  function update(sessionUpdate: Json): void {
    const input = ((sessionUpdate.audio as Json | undefined)?.input ?? {}) as Json;
    const { type, rate } = (input.format ?? {}) as Json;
    const { model } = (input.transcription ?? {}) as Json;
    if (sessionUpdate.type !== "transcription")
      sendError("The session must be of type transcription.", "invalid_value");
    else if (type !== "audio/pcm" || rate !== RATE)
      sendError("The format must be audio/pcm at 24000.", "invalid_value");
    else if (typeof model !== "string" || fault === "no_such_model") sendError("No such model.", "model_not_found");
    else {
      session = { ...session, ...sessionUpdate };
      record.session = session;
      send({ type: "session.updated", session });
    }
  }

  async function commit(): Promise<void> {
    const samples = concatPcm(pieces);
    const ms = (samples.length * 1_000) / RATE;
    pieces = [];
    if (ms < MIN_TURN_MS) return sendError("The buffer is too small.", "input_audio_buffer_commit_empty");
    record.turns.push(ms);
    if (typeof fault === "object" && "dropAtCommit" in fault && record.turns.length >= fault.dropAtCommit)
      return socket.terminate();
    const item_id = idOf("item");
    send({ type: "input_audio_buffer.committed", item_id, previous_item_id: previousItemId });
    previousItemId = item_id;
    const part = { item_id, content_index: 0 };
    if (fault === "failing") {
      const error = { type: "server_error", code: "overloaded", message: "It is overloaded.", param: null };
      return send({ type: "conversation.item.input_audio_transcription.failed", ...part, error });
    }
    const transcript = await understand(samples, RATE);
    const sendTranscript = (): void => {
      const words = transcript.split(/(?<= )/).filter((word) => word !== "");
      for (const delta of words) send({ type: "conversation.item.input_audio_transcription.delta", ...part, delta });
      const usage = { type: "duration", seconds: ms / 1_000 };
      send({ type: "conversation.item.input_audio_transcription.completed", ...part, transcript, usage });
    };
    if (fault === "swapped" && release === undefined) {
      release = sendTranscript;
      return;
    }
    sendTranscript();
    release?.();
    release = undefined;
  }

  socket.on("message", (data) => {
    const message = JSON.parse(String(data)) as Json;
    if (message.type === "session.update") update(message.session as Json);
    else if (message.type === "input_audio_buffer.append")
      pieces.push(pcmFromBytes(Buffer.from(String(message.audio), "base64")));
    else if (message.type === "input_audio_buffer.commit") void commit();
    else sendError(`Unknown event ${String(message.type)}.`, "unknown_event");
  });
  socket.on("close", () => {
    record.isOpen = false;
  });
  if (typeof fault === "object" && "dropAfterMs" in fault) setTimeout(() => socket.terminate(), fault.dropAfterMs);
  if (new URL(record.url, "http://fake.test").searchParams.get("intent") === "transcription")
    send({ type: "session.created", session });
  else sendError("This server only transcribes: connect with intent=transcription.", "invalid_intent");
  return record;
}
