import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { WebSocket } from "ws";
import { decodeAlaw, decodeMulaw, encodeAlaw, encodeMulaw } from "../../src/audio/g711.ts";
import { concatPcm, pcmFromBytes, pcmToBytes } from "../../src/audio/pcm.ts";
import { resample } from "../../src/audio/resample.ts";
import { Vad } from "../../src/audio/vad.ts";
import type { PcmChunk } from "../../src/ports/media.ts";
import type { Understand } from "./openai-server.ts";

/** What goes wrong with one conversation, or with its next replies. */
export type ConversationFault =
  /** The upgrade is refused so. */
  | { readonly status: number }
  /** The session is refused. */
  | "no_such_model"
  /** Nothing is ever sent; or no reply; or half a reply, and then nothing. */
  | "mute"
  | "silent"
  | "stall"
  /** The connection is cut in the middle of a reply; or after broken JSON. */
  | "drop"
  | "truncate"
  /** A reply fails; or an error is reported, which changes nothing. */
  | "failed"
  | "error"
  /** A function is called without the end of its arguments. */
  | "half_a_call";

/** What the model says and does. */
export interface SpokenReply {
  readonly text?: string;
  readonly calls?: readonly { readonly name: string; readonly arguments: object | string }[];
}

/** What the model replies to. */
export interface SpokenTurn {
  /** What was said and done before, the oldest first: `user: …`, `assistant: …`, `function: …`. */
  readonly history: readonly string[];
  /** The last of it. */
  readonly last: string;
  /** Instructions of this reply alone. */
  readonly instructions: string | undefined;
}

/** The model and the voice of a conversation. */
export interface Conversationalist {
  readonly answer: (turn: SpokenTurn) => SpokenReply;
  /** The voice. Default: 50 ms of a tone for each character. */
  readonly speak?: (text: string) => Promise<PcmChunk>;
}

/** What a conversation has seen. */
export interface ConversationRecord {
  readonly url: string;
  readonly authorization: string | undefined;
  /** The whole session, as it was last reported. */
  session: Json;
  /** The types of the messages that arrived, without the audio. */
  readonly received: string[];
  /** Each item that was cut: its words and how much was heard, ms. */
  readonly truncated: { readonly text: string; readonly ms: number; readonly lengthMs: number }[];
  readonly history: string[];
  readonly heardMs: number;
  open: boolean;
}

type Json = Record<string, unknown>;
const idOf = (prefix: string): string => `${prefix}_${randomUUID().replaceAll("-", "").slice(0, 20)}`;
const member = (value: unknown): Json => (typeof value === "object" && value !== null ? (value as Json) : {});
/** Silence that ends a turn, and voice that begins one, ms. */
const TURN_MS = 400;
const VOICE_MS = 100;
/** Audio of a piece, bytes: no whole number of samples or frames. */
const PIECE = 4_801;

/** Serves one connection that converses: it listens to real audio, and replies with audio much faster than that lasts. */
export function serveConversation(
  socket: WebSocket,
  request: IncomingMessage,
  faults: (ConversationFault | undefined)[],
  understand: Understand,
  { answer, speak = speakTones }: Conversationalist,
): ConversationRecord {
  const { searchParams } = new URL(request.url ?? "", "http://fake.test");
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
        input: { format: { type: "audio/pcm", rate: 24_000 }, turn_detection: { type: "server_vad" } },
        output: { format: { type: "audio/pcm", rate: 24_000 }, voice: "marin" },
      },
    },
    received: [],
    truncated: [],
    history: [],
    get heardMs() {
      return heardMs;
    },
    open: true,
  };
  const mute = faults[0] === "mute";
  const refused = faults[0] === "no_such_model";
  if (mute || refused) faults.shift();
  const send = (message: Json): void => {
    if (!mute) socket.send(JSON.stringify({ event_id: idOf("event"), ...message }));
  };
  const sendError = (code: string, message: string, eventId: unknown = null): void =>
    send({ type: "error", error: { type: "invalid_request_error", code, message, param: null, event_id: eventId } });

  const items = new Map<string, { text: string; lengthMs: number; place: number }>();
  let previous: string | null = null;
  let active: { id: string; cancelled: boolean } | undefined;

  // Listening.
  const ear = new Ear({
    started: (atMs) => {
      const item_id = idOf("item");
      send({ type: "input_audio_buffer.speech_started", audio_start_ms: atMs, item_id });
      return item_id;
    },
    stopped: (item_id, atMs, samples, rate) => {
      send({ type: "input_audio_buffer.speech_stopped", audio_end_ms: atMs, item_id });
      send({ type: "input_audio_buffer.committed", item_id, previous_item_id: previous });
      void commit(item_id, samples, rate);
    },
  });

  async function commit(item_id: string, samples: Int16Array, rate: number): Promise<void> {
    const transcript = await understand(samples, rate);
    const input = member(member(record.session.audio).input);
    addItem(item_id, { type: "message", role: "user", content: [{ type: "input_audio", transcript: null }] });
    record.history.push(`user: ${transcript}`);
    if (input.transcription)
      send({
        type: "conversation.item.input_audio_transcription.completed",
        ...{ item_id, content_index: 0, transcript },
        usage: { type: "duration", seconds: samples.length / rate },
      });
    if (member(input.turn_detection).create_response === false || active !== undefined) return;
    await reply({}, null);
  }

  function addItem(id: string, item: Json): void {
    const whole = { id, object: "realtime.item", status: "completed", ...item };
    send({ type: "conversation.item.added", previous_item_id: previous, item: whole });
    send({ type: "conversation.item.done", previous_item_id: previous, item: whole });
    previous = id;
  }

  async function reply(wanted: Json, eventId: unknown): Promise<void> {
    if (active !== undefined) {
      sendError("conversation_already_has_active_response", "Conversation already has an active response.", eventId);
      return;
    }
    const fault = faults.shift();
    if (fault === "error") sendError("something_else", "This changes nothing.");
    if (fault === "silent") return;
    const response = { id: idOf("resp"), cancelled: false };
    active = response;
    const shape = { id: response.id, object: "realtime.response", output: [] as Json[], status_details: null };
    send({ type: "response.created", response: { ...shape, status: "in_progress", usage: null } });
    const done = (status: string, details: Json | null = null): void => {
      if (active === response) active = undefined;
      const usage = { total_tokens: 15, input_tokens: 10, output_tokens: 5 };
      send({ type: "response.done", response: { ...shape, status, status_details: details, usage } });
    };
    if (fault === "failed") {
      done("failed", {
        type: "failed",
        error: { type: "server_error", code: "overloaded", message: "It is overloaded." },
      });
      return;
    }
    const instructions = typeof wanted.instructions === "string" ? wanted.instructions : undefined;
    const { text, calls = [] } = answer({ history: record.history, last: record.history.at(-1) ?? "", instructions });
    if (text !== undefined && !(await say(response, text, fault, shape.output))) {
      if (response.cancelled) done("cancelled", { type: "cancelled", reason: "client_cancelled" });
      return;
    }
    for (const call of wanted.tool_choice === "none" ? [] : calls) callFunction(response.id, call, fault, shape.output);
    done("completed");
  }

  /** Returns whether all of it was sent. */
  async function say(
    response: { id: string; cancelled: boolean },
    text: string,
    fault: ConversationFault | undefined,
    output: Json[],
  ): Promise<boolean> {
    const item_id = idOf("item");
    const part = { response_id: response.id, item_id, output_index: output.length, content_index: 0 };
    const item = { id: item_id, object: "realtime.item", type: "message", role: "assistant" };
    send({ type: "response.output_item.added", ...part, item: { ...item, status: "in_progress", content: [] } });
    send({
      type: "conversation.item.added",
      previous_item_id: previous,
      item: { ...item, status: "in_progress", content: [] },
    });
    send({ type: "response.content_part.added", ...part, part: { type: "audio", transcript: "" } });
    const before = previous;
    previous = item_id;
    const spoken = await speak(text);
    const format = member(member(member(record.session.audio).output).format);
    const rate = format.type === "audio/pcm" ? 24_000 : 8_000;
    const bytes = written(resample(spoken.samples, spoken.sampleRate, rate), format.type);
    items.set(item_id, {
      text,
      lengthMs: (spoken.samples.length * 1_000) / spoken.sampleRate,
      place: record.history.push(`assistant: ${text}`) - 1,
    });
    const words = text.split(/(?<= )/);
    for (let at = 0; at < bytes.length; at += PIECE) {
      if (response.cancelled || socket.readyState !== socket.OPEN) return false;
      const delta = words.shift();
      if (delta !== undefined) send({ type: "response.output_audio_transcript.delta", ...part, delta });
      const audio = Buffer.from(bytes.subarray(at, at + PIECE)).toString("base64");
      if (fault === "truncate" && at > 0) socket.send(`{"type":"response.output_audio.delta","delta":"${audio}`);
      if (fault === "drop" && at > 0) socket.terminate();
      if (fault && ["stall", "drop", "truncate"].includes(String(fault)) && at > 0) return false;
      send({ type: "response.output_audio.delta", ...part, delta: audio });
      await new Promise((resolve) => setImmediate(resolve)); // what arrives meanwhile is read
    }
    if (words.length > 0) send({ type: "response.output_audio_transcript.delta", ...part, delta: words.join("") });
    send({ type: "response.output_audio.done", ...part });
    send({ type: "response.output_audio_transcript.done", ...part, transcript: text });
    const whole = { ...item, status: "completed", content: [{ type: "output_audio", transcript: text }] };
    send({ type: "response.content_part.done", ...part, part: { type: "audio", transcript: text } });
    send({ type: "response.output_item.done", ...part, item: whole });
    send({ type: "conversation.item.done", previous_item_id: before, item: whole });
    output.push(whole);
    return true;
  }

  function callFunction(
    response_id: string,
    { name, arguments: given }: NonNullable<SpokenReply["calls"]>[number],
    fault: ConversationFault | undefined,
    output: Json[],
  ): void {
    const call_id = idOf("call");
    const item_id = idOf("item");
    const part = { response_id, item_id, output_index: output.length };
    const text = typeof given === "string" ? given : JSON.stringify(given);
    const item = { id: item_id, object: "realtime.item", type: "function_call", call_id, name };
    send({ type: "response.output_item.added", ...part, item: { ...item, status: "in_progress", arguments: "" } });
    const half = text.slice(0, Math.ceil(text.length / 2));
    send({ type: "response.function_call_arguments.delta", ...part, call_id, delta: half });
    if (fault === "half_a_call") return;
    send({ type: "response.function_call_arguments.delta", ...part, call_id, delta: text.slice(half.length) });
    send({ type: "response.function_call_arguments.done", ...part, call_id, name, arguments: text });
    const whole = { ...item, status: "completed", arguments: text };
    send({ type: "response.output_item.done", ...part, item: whole });
    output.push(whole);
    record.history.push(`call: ${name} ${text}`);
    previous = item_id;
  }

  function update(wanted: Json): void {
    if (wanted.type !== "realtime") return void sendError("invalid_value", "The session must be of type realtime.");
    if (refused) return void sendError("model_not_found", "No such model.");
    // The whole session is reported, whatever was changed: clients read it from there.
    record.session = merged(record.session, wanted);
    ear.format = String(member(member(member(record.session.audio).input).format).type);
    send({ type: "session.updated", session: record.session });
  }

  function create(message: Json): void {
    const item = member(message.item);
    const id = typeof item.id === "string" ? item.id : idOf("item");
    if (item.type === "function_call_output") record.history.push(`function: ${String(item.output)}`);
    else {
      const text = (item.content as Json[]).map((part) => String(part.text ?? "")).join("");
      record.history.push(`${String(item.role)}: ${text}`);
    }
    addItem(id, item);
  }

  function truncate({ item_id, audio_end_ms, event_id }: Json): void {
    const item = items.get(String(item_id));
    const ms = Number(audio_end_ms);
    if (item === undefined) return void sendError("item_truncate_invalid_item_id", "No such item.", event_id);
    if (ms > item.lengthMs + 1)
      return void sendError("invalid_value", `Audio of ${item.lengthMs}ms is too short.`, event_id);
    record.truncated.push({ text: item.text, ms, lengthMs: item.lengthMs });
    record.history[item.place] =
      `assistant: ${item.text.slice(0, Math.round((item.text.length * ms) / item.lengthMs))}…`;
    send({ type: "conversation.item.truncated", item_id, content_index: 0, audio_end_ms: ms });
  }

  function cancel({ event_id }: Json): void {
    if (active === undefined)
      sendError("response_cancel_not_active", "Cancellation failed: no active response.", event_id);
    else if (active.cancelled) return;
    else active.cancelled = true;
  }

  socket.on("message", (data) => {
    const message = JSON.parse(String(data)) as Json;
    const type = String(message.type);
    if (type === "input_audio_buffer.append") {
      const bytes = Buffer.from(String(message.audio), "base64");
      heardMs += ear.hear(bytes, member(member(member(record.session.audio).input).turn_detection).type !== undefined);
      return;
    }
    record.received.push(type);
    if (type === "session.update") update(member(message.session));
    else if (type === "conversation.item.create") create(message);
    else if (type === "conversation.item.truncate") truncate(message);
    else if (type === "response.create") void reply(member(message.response), message.event_id);
    else if (type === "response.cancel") cancel(message);
    else sendError("unknown_event", `Unknown event ${type}.`, message.event_id);
  });
  socket.on("close", () => {
    record.open = false;
    if (active) active.cancelled = true;
  });
  send({ type: "session.created", session: record.session });
  return record;
}

/** Callbacks of an {@link Ear}. */
interface EarReports {
  /** Returns the id of the turn. */
  started(atMs: number): string;
  stopped(item: string, atMs: number, samples: Int16Array, rate: number): void;
}

/** Notices speech in the audio of one connection. */
class Ear {
  format = "audio/pcm";
  readonly #reports: EarReports;
  #vad: Vad | undefined;
  #rate = 0;
  #heard = 0;
  #voiced = 0;
  #quiet = 0;
  #pieces: Int16Array[] = [];
  #item: string | undefined;
  #rest = new Int16Array(0);

  constructor(reports: EarReports) {
    this.#reports = reports;
  }

  /** Returns the length of the audio, ms. */
  hear(bytes: Buffer, detects: boolean): number {
    const pcm = this.format === "audio/pcm";
    const rate = pcm ? 24_000 : 8_000;
    if (rate !== this.#rate) {
      this.#rate = rate;
      this.#vad = new Vad(rate);
      this.#rest = new Int16Array(0);
    }
    const samples = pcm ? pcmFromBytes(bytes) : this.format === "audio/pcmu" ? decodeMulaw(bytes) : decodeAlaw(bytes);
    let at = 0;
    const all = concatPcm([this.#rest, samples]);
    const frame = rate / 50;
    for (; at + frame <= all.length; at += frame) if (detects) this.#frame(all.slice(at, at + frame));
    this.#rest = all.slice(at);
    return (samples.length * 1_000) / rate;
  }

  #frame(samples: Int16Array): void {
    this.#heard += 20;
    this.#pieces.push(samples);
    const speaks = this.#vad!.push(samples);
    this.#voiced = speaks ? this.#voiced + 20 : 0;
    this.#quiet = speaks ? 0 : this.#quiet + 20;
    if (this.#item === undefined) {
      if (this.#pieces.length > 30) this.#pieces.shift(); // what precedes the voice
      if (this.#voiced >= VOICE_MS) this.#item = this.#reports.started(Math.max(0, this.#heard - VOICE_MS));
      return;
    }
    if (this.#quiet < TURN_MS) return;
    this.#reports.stopped(this.#item, this.#heard, concatPcm(this.#pieces), this.#rate);
    this.#item = undefined;
    this.#pieces = [];
  }
}

function written(samples: Int16Array, format: unknown): Uint8Array {
  if (format === "audio/pcmu") return encodeMulaw(samples);
  return format === "audio/pcma" ? encodeAlaw(samples) : pcmToBytes(samples);
}

/** What is changed within what is known; null takes something away. */
function merged(known: Json, change: Json): Json {
  const result = { ...known };
  for (const [name, value] of Object.entries(change)) {
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    // A format is replaced as a whole.
    result[name] = isObject && name !== "format" ? merged(member(known[name]), value as Json) : value;
  }
  return result;
}

async function speakTones(text: string): Promise<PcmChunk> {
  const sampleRate = 24_000;
  const samples = Int16Array.from({ length: text.length * 50 * 24 }, (_, at) =>
    Math.round(8_000 * Math.sin((2 * Math.PI * 440 * at) / sampleRate)),
  );
  return { sampleRate, samples };
}
