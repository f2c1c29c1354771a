import { setTimeout as pause } from "node:timers/promises";
import type { WebSocket } from "ws";
import { encodeAlaw, encodeMulaw } from "../../../src/audio/samples/g711-companding.ts";
import { pcmToBytes } from "../../../src/audio/samples/pcm.ts";
import { resample } from "../../../src/audio/samples/resample.ts";
import type { PcmChunk } from "../../../src/ports/media.ts";
import type { ConversationFault, SpokenReply } from "../openai-conversation.ts";
import type { Items } from "./items.ts";
import { idOf, type Json, member } from "./json.ts";

/** Size of a piece of audio, bytes: not a whole number of samples or frames. */
const PIECE = 4_801;
/** Faults in the middle of a reply. */
const BREAKING_FAULTS: readonly (ConversationFault | undefined)[] = ["stall", "drop", "truncate"];

/** Dependencies of a response. */
export interface ResponseParts {
  readonly socket: WebSocket;
  readonly send: (message: Json) => void;
  readonly items: Items;
  /** The session of the conversation. */
  readonly session: Json;
  readonly speak: (text: string) => Promise<PcmChunk>;
  /** Time between two pieces, ms; undefined: none. */
  readonly pieceMs: number | undefined;
  readonly fault: ConversationFault | undefined;
}

/** One response of the model: sends its items piece by piece, and their ends even if it is cancelled. */
export class ResponseStream {
  readonly id = idOf("resp");
  /** Reason for an early end; undefined if there is none. */
  cancelReason: "client_cancelled" | "turn_detected" | undefined;
  readonly #parts: ResponseParts;
  readonly #options: Json;
  readonly #outputItems: Json[] = [];

  /** @param options options in the client's request */
  constructor(parts: ResponseParts, options: Json) {
    this.#parts = parts;
    this.#options = options;
  }

  /** True if its items do not become part of the conversation. */
  get isOutOfBand(): boolean {
    return this.#options.conversation === "none";
  }

  begin(): void {
    this.#parts.send({ type: "response.created", response: { ...this.#asJson, status: "in_progress", usage: null } });
  }

  end(status: string, details: Json | null = null): void {
    const usage = { total_tokens: 15, input_tokens: 10, output_tokens: 5 };
    this.#parts.send({ type: "response.done", response: { ...this.#asJson, status, status_details: details, usage } });
  }

  /** Sends the model's speech and tool calls, and the end. */
  async reply({ text, calls = [] }: SpokenReply): Promise<void> {
    if (text !== undefined && !(await (this.#isTextOnly ? this.#sendText(text) : this.#sendSpeech(text)))) return;
    if (this.#options.tool_choice !== "none") for (const call of calls) if (!this.#call(call)) return;
    this.end("completed");
  }

  /** True if the model replies in text only. */
  get #isTextOnly(): boolean {
    const { output_modalities: requestedModalities } = this.#options;
    const modalities = requestedModalities ?? this.#parts.session.output_modalities;
    return Array.isArray(modalities) && modalities.includes("text");
  }

  get #asJson(): Json {
    return {
      id: this.id,
      object: "realtime.response",
      output: this.#outputItems,
      status_details: null,
      conversation_id: this.isOutOfBand ? null : "conv_1",
      metadata: this.#options.metadata ?? null,
      audio: { output: member(member(this.#parts.session.audio).output) },
    };
  }

  /** Speaks a text; returns true if the response continues. */
  async #sendSpeech(text: string): Promise<boolean> {
    const { send, speak, session, socket } = this.#parts;
    const { part, item, close } = this.#message({ type: "audio", transcript: "" });
    const samples = await speak(text);
    const format = member(member(member(session.audio).output).format);
    const rate = format.type === "audio/pcm" ? 24_000 : 8_000;
    const bytes = encode(resample(samples.samples, samples.sampleRate, rate), format.type);
    const totalMs = (samples.samples.length * 1_000) / samples.sampleRate;
    if (item) Object.assign(item, { text, totalMs });
    const words = text.split(/(?<= )/);
    let sentText = "";
    const sendDelta = (delta: string): void => {
      sentText += delta;
      if (item) item.line = `assistant: ${sentText}`;
      send({ type: "response.output_audio_transcript.delta", ...part, delta });
    };
    const finish = (status: "completed" | "incomplete"): void => {
      send({ type: "response.output_audio.done", ...part });
      send({ type: "response.output_audio_transcript.done", ...part, transcript: sentText });
      close(status, { type: "audio", transcript: sentText }, { type: "output_audio", transcript: sentText });
    };
    for (let at = 0; at < bytes.length; at += PIECE) {
      if (socket.readyState !== socket.OPEN) return false;
      if (this.cancelReason !== undefined) return this.#stop(finish);
      const delta = words.shift();
      if (delta !== undefined) sendDelta(delta);
      const piece = bytes.subarray(at, at + PIECE);
      const audio = Buffer.from(piece).toString("base64");
      if (at > 0 && this.#shouldBreak(`{"type":"response.output_audio.delta","delta":"${audio}`)) return false;
      if (item) item.sentMs += (piece.length / bytes.length) * totalMs;
      send({ type: "response.output_audio.delta", ...part, delta: audio });
      await this.#pause();
    }
    if (words.length > 0) sendDelta(words.join(""));
    finish("completed");
    return true;
  }

  /** Writes a text; returns true if the response continues. */
  async #sendText(text: string): Promise<boolean> {
    const { send, socket } = this.#parts;
    const { part, item, close } = this.#message({ type: "text", text: "" });
    let sentText = "";
    const finish = (status: "completed" | "incomplete"): void => {
      send({ type: "response.output_text.done", ...part, text: sentText });
      close(status, { type: "text", text: sentText }, { type: "output_text", text: sentText });
    };
    for (const delta of text.match(/.{1,20}/gs) ?? []) {
      if (socket.readyState !== socket.OPEN) return false;
      if (this.cancelReason !== undefined) return this.#stop(finish);
      if (sentText !== "" && this.#shouldBreak(`{"type":"response.output_text.delta","delta":"${delta}`)) return false;
      sentText += delta;
      if (item) item.line = `assistant: ${sentText}`;
      send({ type: "response.output_text.delta", ...part, delta });
      await this.#pause();
    }
    finish("completed");
    return true;
  }

  /** Calls a function; returns true if the response continues. */
  #call({ name, arguments: input }: NonNullable<SpokenReply["calls"]>[number]): boolean {
    const { send, fault } = this.#parts;
    const text = typeof input === "string" ? input : JSON.stringify(input);
    const firstHalf = text.slice(0, Math.ceil(text.length / 2));
    const isWhole = fault !== "half_a_call";
    const call_id = idOf("call");
    const { part, close } = this.#item(
      { type: "function_call", call_id, name, arguments: "" },
      `call: ${name} ${text}`,
    );
    send({ type: "response.function_call_arguments.delta", ...part, call_id, delta: firstHalf });
    if (isWhole)
      send({ type: "response.function_call_arguments.delta", ...part, call_id, delta: text.slice(firstHalf.length) });
    const sentArguments = isWhole ? text : firstHalf;
    send({ type: "response.function_call_arguments.done", ...part, call_id, name, arguments: sentArguments });
    close(isWhole ? "completed" : "incomplete", { arguments: sentArguments });
    if (!isWhole) this.end("incomplete", { type: "incomplete", reason: "max_output_tokens" });
    return isWhole;
  }

  /** Ends an item, and the response, because it is cancelled; returns false. */
  #stop(finish: (status: "incomplete") => void): false {
    finish("incomplete");
    this.end("cancelled", { type: "cancelled", reason: this.cancelReason });
    return false;
  }

  /** True if the response breaks off here because of its fault. @param cutAt truncated JSON */
  #shouldBreak(cutAt: string): boolean {
    const { socket, fault } = this.#parts;
    if (fault === "truncate") socket.send(cutAt);
    if (fault === "drop") socket.terminate();
    return BREAKING_FAULTS.includes(fault);
  }

  /** Waits until pending messages have been read. */
  async #pause(): Promise<void> {
    const { pieceMs } = this.#parts;
    await (pieceMs === undefined ? new Promise((resolve) => setImmediate(resolve)) : pause(pieceMs));
  }

  /** Starts a message with one part. */
  #message(first: Json) {
    const { part, item, close } = this.#item({ type: "message", role: "assistant", content: [] }, "");
    const position = { ...part, content_index: 0 };
    this.#parts.send({ type: "response.content_part.added", ...position, part: first });
    return {
      part: position,
      item,
      close: (status: "completed" | "incomplete", last: Json, content: Json): void => {
        this.#parts.send({ type: "response.content_part.done", ...position, part: last });
        close(status, { content: [content] });
      },
    };
  }

  /** Starts an item. */
  #item(wire: Json, line: string) {
    const { send, items } = this.#parts;
    const id = idOf("item");
    const startedItem = { id, object: "realtime.item", status: "in_progress", ...wire };
    const part = { response_id: this.id, item_id: id, output_index: this.#outputItems.length };
    const item = this.isOutOfBand ? undefined : items.add(id, startedItem, line);
    send({
      type: "response.output_item.added",
      response_id: this.id,
      output_index: part.output_index,
      item: startedItem,
    });
    if (item) send({ type: "conversation.item.added", previous_item_id: items.before(id), item: startedItem });
    const close = (status: "completed" | "incomplete", content: Json): void => {
      const finishedItem = { ...startedItem, ...content, status };
      if (item) {
        item.wire = finishedItem;
        send({ type: "conversation.item.done", previous_item_id: items.before(id), item: finishedItem });
      }
      send({
        type: "response.output_item.done",
        response_id: this.id,
        output_index: part.output_index,
        item: finishedItem,
      });
      this.#outputItems.push(finishedItem);
    };
    return { part, item, close };
  }
}

function encode(samples: Int16Array, format: unknown): Uint8Array {
  if (format === "audio/pcmu") return encodeMulaw(samples);
  return format === "audio/pcma" ? encodeAlaw(samples) : pcmToBytes(samples);
}
