import type { IncomingMessage } from "node:http";
import type { WebSocket } from "ws";
import type { PcmChunk } from "../../src/ports/media.ts";
import type { Understand } from "./openai-server.ts";
import { Items } from "./realtime/items.ts";
import { idOf, type Json, member, merge } from "./realtime/json.ts";
import { ResponseStream } from "./realtime/response.ts";
import { SpeechDetector } from "./realtime/speech-detector.ts";

/** Fault of one conversation, or of its next replies. */
export type ConversationFault =
  /** Status with which the upgrade is refused. */
  | { readonly status: number }
  /** Refuses the session. */
  | "no_such_model"
  /** Sends no message at all; or no reply; or stops after half a reply. */
  | "mute"
  | "silent"
  | "stall"
  /** The connection is cut during a reply, or after broken JSON. */
  | "drop"
  | "truncate"
  /** A reply fails; or an error without effect is reported. */
  | "failed"
  | "error"
  /** The reply ends in the middle of a function's arguments. */
  | "half_a_call";

/** The model's speech and tool calls. */
export interface SpokenReply {
  readonly text?: string;
  readonly calls?: readonly { readonly name: string; readonly arguments: object | string }[];
}

/** Input of a reply. */
export interface SpokenTurn {
  /** Earlier items, oldest first: `user: …`, `assistant: …`, `function: …`. */
  readonly history: readonly string[];
  /** The latest item. */
  readonly last: string;
  /** Instructions of this reply alone. */
  readonly instructions: string | undefined;
  /** True for text outside of the conversation. */
  readonly isOutOfBand: boolean;
}

/** The model and the voice of a conversation. */
export interface ConversationBackend {
  readonly answer: (turn: SpokenTurn) => SpokenReply;
  /** The voice. Default: 50 ms of a tone for each character. */
  readonly speak?: (text: string) => Promise<PcmChunk>;
  /** Time between two pieces of a reply, ms. Default: none. */
  readonly pieceMs?: number;
}

/** Observations of a conversation. */
export interface ConversationRecord {
  readonly url: string;
  readonly authorization: string | undefined;
  /** The whole session, as last reported. */
  session: Json;
  /** Types of the received messages, without the audio. */
  readonly receivedTypes: string[];
  /** Each truncated item: its words and the part heard, ms. */
  readonly truncations: { readonly text: string; readonly ms: number; readonly lengthMs: number }[];
  readonly history: readonly string[];
  readonly heardMs: number;
  isOpen: boolean;
}

/** Serves one connection that converses: it analyses real audio, and replies with audio much faster than real time. */
export function serveConversation(
  socket: WebSocket,
  request: IncomingMessage,
  faults: (ConversationFault | undefined)[],
  understand: Understand,
  { answer, speak = speakTones, pieceMs }: ConversationBackend,
): ConversationRecord {
  const { searchParams } = new URL(request.url ?? "", "http://fake.test");
  const items = new Items();
  let heardMs = 0;
  const record: ConversationRecord = {
    url: request.url ?? "",
    authorization: request.headers.authorization,
    session: {
      type: "realtime",
      object: "realtime.session",
      id: idOf("sess"),
      model: searchParams.get("model"),
      output_modalities: ["audio"],
      audio: {
        input: {
          format: { type: "audio/pcm", rate: 24_000 },
          turn_detection: { type: "server_vad", create_response: true, interrupt_response: true },
        },
        output: { format: { type: "audio/pcm", rate: 24_000 }, voice: "marin" },
      },
    },
    receivedTypes: [],
    truncations: [],
    get history() {
      return items.history;
    },
    get heardMs() {
      return heardMs;
    },
    isOpen: true,
  };
  const isMute = faults[0] === "mute";
  const isRefused = faults[0] === "no_such_model";
  if (isMute || isRefused) faults.shift();
  const send = (message: Json): void => {
    if (!isMute) socket.send(JSON.stringify({ event_id: idOf("event"), ...message }));
  };
  const sendError = (code: string, message: string, eventId: unknown = null): void =>
    send({ type: "error", error: { type: "invalid_request_error", code, message, param: null, event_id: eventId } });
  const input = (): Json => member(member(record.session.audio).input);

  /** The response that becomes part of the conversation. */
  let activeStream: ResponseStream | undefined;

  const detector = new SpeechDetector({
    started: (atMs) => {
      const item_id = idOf("item");
      send({ type: "input_audio_buffer.speech_started", audio_start_ms: atMs, item_id });
      if (activeStream && member(input().turn_detection).interrupt_response !== false)
        activeStream.cancelReason ??= "turn_detected";
      return item_id;
    },
    stopped: (item_id, atMs, samples, rate) => {
      send({ type: "input_audio_buffer.speech_stopped", audio_end_ms: atMs, item_id });
      send({ type: "input_audio_buffer.committed", item_id, previous_item_id: items.last });
      void commit(item_id, samples, rate);
    },
  });

  async function commit(item_id: string, samples: Int16Array, rate: number): Promise<void> {
    const transcript = await understand(samples, rate);
    const content = { type: "input_audio", transcript: null as string | null };
    addItem(item_id, { type: "message", role: "user", content: [content] }, `user: ${transcript}`);
    if (input().transcription) {
      content.transcript = transcript;
      send({
        type: "conversation.item.input_audio_transcription.completed",
        ...{ item_id, content_index: 0, transcript },
        usage: { type: "duration", seconds: samples.length / rate },
      });
    }
    if (member(input().turn_detection).create_response === false) return;
    while (activeStream?.cancelReason) await new Promise((resolve) => setImmediate(resolve)); // it is about to end
    if (activeStream !== undefined) return;
    await reply({}, null);
  }

  /** Returns true if the previous item exists. */
  function addItem(id: string, item: Json, line: string, after?: unknown): boolean {
    const storedItem = { id, object: "realtime.item", status: "completed", ...item };
    if (items.add(id, storedItem, line, after) === undefined) return false;
    for (const type of ["conversation.item.added", "conversation.item.done"])
      send({ type, previous_item_id: items.before(id), item: storedItem });
    return true;
  }

  async function reply(responseOptions: Json, eventId: unknown): Promise<void> {
    const isOutOfBand = responseOptions.conversation === "none";
    if (activeStream !== undefined && !isOutOfBand) {
      sendError("conversation_already_has_active_response", "Conversation already has an active response.", eventId);
      return;
    }
    const fault = faults.shift();
    if (fault === "error") sendError("something_else", "This changes nothing.");
    if (fault === "silent") return;
    const response = new ResponseStream(
      { socket, send, items, session: record.session, speak, pieceMs, fault },
      responseOptions,
    );
    if (!isOutOfBand) activeStream = response;
    response.begin();
    if (fault === "failed") {
      const error = { type: "server_error", code: "overloaded", message: "It is overloaded." };
      response.end("failed", { type: "failed", error });
    } else {
      const instructions = typeof responseOptions.instructions === "string" ? responseOptions.instructions : undefined;
      const history = items.history;
      await response.reply(answer({ history, last: history.at(-1) ?? "", instructions, isOutOfBand }));
      if (fault === "stall") return;
    }
    if (activeStream === response) activeStream = undefined;
  }

  function update(sessionUpdate: Json): void {
    if (sessionUpdate.type !== "realtime")
      return void sendError("invalid_value", "The session must be of type realtime.");
    if (isRefused) return void sendError("model_not_found", "No such model.");
    // The whole session is reported after any change: clients read it from there.
    record.session = merge(record.session, sessionUpdate);
    detector.format = String(member(input().format).type);
    send({ type: "session.updated", session: record.session });
  }

  function create({ item: wire, previous_item_id: after, event_id }: Json): void {
    const item = member(wire);
    const id = typeof item.id === "string" ? item.id : idOf("item");
    const text = (Array.isArray(item.content) ? item.content : [])
      .map((part: Json) => String(part.text ?? ""))
      .join("");
    const line = item.type === "function_call_output" ? `function: ${item.output}` : `${item.role}: ${text}`;
    if (!addItem(id, item, line, after))
      sendError("invalid_value", `The previous item ${String(after)} does not exist.`, event_id);
  }

  function retrieve({ item_id, event_id }: Json): void {
    const item = items.find(item_id);
    if (item) send({ type: "conversation.item.retrieved", item: item.wire });
    else sendError("item_retrieve_invalid_item_id", "No such item.", event_id);
  }

  function remove({ item_id, event_id }: Json): void {
    if (items.remove(item_id)) send({ type: "conversation.item.deleted", item_id });
    else sendError("item_delete_invalid_item_id", "No such item.", event_id);
  }

  function truncate({ item_id, content_index, audio_end_ms, event_id }: Json): void {
    const item = items.find(item_id);
    const ms = audio_end_ms as number;
    if (item === undefined || item.totalMs === 0)
      return void sendError("item_truncate_invalid_item_id", "No such item with audio.", event_id);
    if (!Number.isInteger(ms) || ms < 0 || content_index !== 0)
      return void sendError("invalid_value", "audio_end_ms and content_index must be integers.", event_id);
    if (ms > item.sentMs + 1)
      return void sendError("invalid_value", `Audio of ${item.sentMs}ms is already shorter than ${ms}ms.`, event_id);
    const { text, totalMs } = item;
    record.truncations.push({ text, ms, lengthMs: totalMs });
    item.line = `assistant: ${text.slice(0, Math.round((text.length * ms) / totalMs))}…`;
    item.wire = { ...item.wire, content: [{ type: "output_audio" }] }; // the audio is sent with its transcript
    send({ type: "conversation.item.truncated", item_id, content_index: 0, audio_end_ms: ms });
  }

  function cancel({ event_id }: Json): void {
    if (activeStream === undefined)
      sendError("response_cancel_not_active", "Cancellation failed: no active response.", event_id);
    else activeStream.cancelReason ??= "client_cancelled";
  }

  const HANDLERS: Readonly<Record<string, (message: Json) => void>> = {
    "session.update": ({ session }) => update(member(session)),
    "conversation.item.create": create,
    "conversation.item.retrieve": retrieve,
    "conversation.item.delete": remove,
    "conversation.item.truncate": truncate,
    "input_audio_buffer.clear": () => {
      detector.clear();
      send({ type: "input_audio_buffer.cleared" });
    },
    "response.create": ({ response, event_id }) => void reply(member(response), event_id),
    "response.cancel": cancel,
  };

  socket.on("message", (data) => {
    const message = JSON.parse(String(data)) as Json;
    const type = String(message.type);
    if (type === "input_audio_buffer.append") {
      const bytes = Buffer.from(String(message.audio), "base64");
      heardMs += detector.push(bytes, member(input().turn_detection).type !== undefined);
      return;
    }
    record.receivedTypes.push(type);
    const handle = Object.hasOwn(HANDLERS, type) ? HANDLERS[type] : undefined;
    if (handle) handle(message);
    else sendError("unknown_event", `Unknown event ${type}.`, message.event_id);
  });
  socket.on("close", () => {
    record.isOpen = false;
    if (activeStream) activeStream.cancelReason ??= "client_cancelled";
  });
  send({ type: "session.created", session: record.session });
  return record;
}

async function speakTones(text: string): Promise<PcmChunk> {
  const sampleRate = 24_000;
  const samples = Int16Array.from({ length: text.length * 50 * 24 }, (_, at) =>
    Math.round(8_000 * Math.sin((2 * Math.PI * 440 * at) / sampleRate)),
  );
  return { sampleRate, samples };
}
