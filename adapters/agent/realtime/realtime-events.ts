import { Buffer } from "node:buffer";
import { jsonOf, quoteOf } from "../../provider-http/fault-text.ts";
import { membersOf, numberOf, textOf } from "../../provider-http/json-members.ts";

/** Maximum length of a function's arguments and of an item's words, characters. */
const MAX_TEXT = 20_000;
/** Maximum length of a piece of audio, Base64 characters. */
const MAX_AUDIO = 1 << 20;

/** Server messages that are used here. */
export type RealtimeEvent =
  | { readonly type: "ready" }
  | { readonly type: "speech_started" | "speech_stopped"; readonly item: string; readonly atMs: number | undefined }
  | { readonly type: "callee_words"; readonly item: string; readonly text: string }
  /** `purpose`: as given in the request. */
  | { readonly type: "response_created"; readonly response: string; readonly purpose: string }
  | { readonly type: "audio"; readonly response: string; readonly item: string; readonly bytes: Uint8Array }
  /** More words of an item, or all its words. */
  | { readonly type: "words"; readonly response: string; readonly item: string; readonly delta: string }
  | { readonly type: "all_words"; readonly response: string; readonly item: string; readonly text: string }
  /** A complete text, which is not spoken. */
  | { readonly type: "text"; readonly response: string; readonly text: string }
  | { readonly type: "item_done"; readonly response: string; readonly item: string }
  /** A function call; its name or arguments may arrive later. */
  | {
      readonly type: "call";
      readonly response: string;
      readonly call: string;
      readonly name: string;
      readonly input: string | undefined;
    }
  | {
      readonly type: "response_done";
      readonly response: string;
      readonly status: string;
      readonly tokens: number;
      readonly fault: string;
    }
  | { readonly type: "error"; readonly code: string; readonly request: string; readonly fault: string }
  | { readonly type: "broken" };

type Json = Readonly<Record<string, unknown>>;
type Reader = (message: Json) => RealtimeEvent | undefined;

/** Readers by event type. Older servers name some events without `output_`. */
const READERS: ReadonlyMap<string, Reader> = new Map(
  Object.entries<Reader>({
    "session.updated": () => ({ type: "ready" }),
    "input_audio_buffer.speech_started": (m) => ({
      type: "speech_started",
      item: textOf(m.item_id),
      atMs: numberOf(m.audio_start_ms),
    }),
    "input_audio_buffer.speech_stopped": (m) => ({
      type: "speech_stopped",
      item: textOf(m.item_id),
      atMs: numberOf(m.audio_end_ms),
    }),
    "conversation.item.input_audio_transcription.completed": (m) => ({
      type: "callee_words",
      item: textOf(m.item_id),
      text: textOf(m.transcript).slice(0, MAX_TEXT),
    }),
    "response.created": (m) => {
      const { id, metadata } = membersOf(m.response);
      return { type: "response_created", response: textOf(id), purpose: textOf(membersOf(metadata).purpose) };
    },
    "response.output_audio.delta": audio,
    "response.audio.delta": audio,
    "response.output_audio_transcript.delta": words,
    "response.audio_transcript.delta": words,
    "response.output_audio_transcript.done": allWords,
    "response.audio_transcript.done": allWords,
    "response.output_text.done": writtenText,
    "response.text.done": writtenText,
    "response.output_item.added": (m) => call(m, false),
    "response.output_item.done": (m) =>
      call(m, true) ?? { type: "item_done", response: textOf(m.response_id), item: textOf(membersOf(m.item).id) },
    "response.function_call_arguments.done": (m) => ({
      type: "call",
      response: textOf(m.response_id),
      call: textOf(m.call_id),
      name: textOf(m.name),
      input: textOf(m.arguments).slice(0, MAX_TEXT),
    }),
    "response.done": (m) => {
      const { id, status, status_details: details, usage } = membersOf(m.response);
      return {
        type: "response_done",
        response: textOf(id),
        status: textOf(status),
        tokens: Math.max(0, numberOf(membersOf(usage).total_tokens) ?? 0),
        fault: quoteOf(details),
      };
    },
    error: (m) => {
      const { code, event_id: request } = membersOf(m.error);
      return { type: "error", code: textOf(code), request: textOf(request), fault: quoteOf(m) };
    },
  }),
);

/** Reads a message from the server; returns undefined if it has no effect here. Never throws. */
export function realtimeEvent(text: string): RealtimeEvent | undefined {
  const message = membersOf(jsonOf(text));
  const type = textOf(message.type);
  if (type === "") return { type: "broken" };
  return READERS.get(type)?.(message);
}

function audio(m: Json): RealtimeEvent | undefined {
  const delta = textOf(m.delta);
  if (delta === "" || delta.length > MAX_AUDIO) return undefined;
  const bytes = Buffer.from(delta, "base64");
  return { type: "audio", response: textOf(m.response_id), item: textOf(m.item_id), bytes };
}

function words(m: Json): RealtimeEvent {
  const delta = textOf(m.delta).slice(0, MAX_TEXT);
  return { type: "words", response: textOf(m.response_id), item: textOf(m.item_id), delta };
}

function allWords(m: Json): RealtimeEvent {
  const text = textOf(m.transcript).slice(0, MAX_TEXT);
  return { type: "all_words", response: textOf(m.response_id), item: textOf(m.item_id), text };
}

function writtenText(m: Json): RealtimeEvent {
  return { type: "text", response: textOf(m.response_id), text: textOf(m.text).slice(0, MAX_TEXT) };
}

/** @param isComplete true if its arguments have arrived */
function call(m: Json, isComplete: boolean): RealtimeEvent | undefined {
  const { type, call_id: id, name, arguments: input, status } = membersOf(m.item);
  if (type !== "function_call") return undefined;
  const hasInput = isComplete && status !== "incomplete";
  return {
    type: "call",
    response: textOf(m.response_id),
    call: textOf(id),
    name: textOf(name),
    input: hasInput ? textOf(input).slice(0, MAX_TEXT) : undefined,
  };
}
