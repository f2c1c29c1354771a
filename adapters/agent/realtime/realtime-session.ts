import { Buffer } from "node:buffer";
import type { AudioFormat } from "../../../src/ports/audio-conversation.ts";
import type { AgentBrief } from "../../../src/ports/conversation.ts";
import { toolsOf } from "../cascade/tools.ts";
import { systemPrompt } from "../prompts.ts";

/** Options of a session. */
export interface SessionOptions {
  /** The provider's name of the voice; default: the provider's own choice. */
  readonly voice?: string | undefined;
  /** A model that transcribes the callee's words on the provider's side. Default: none. */
  readonly transcriptionModel?: string | undefined;
  /** Method by which the provider detects the end of the callee's turn. Default: `{ type: "server_vad" }`. */
  readonly turnDetection?: Readonly<Record<string, unknown>> | undefined;
}

/** A message of the conversation, to be sent again on a connection that replaces a broken one. */
export interface HistoryMessage {
  readonly role: "user" | "assistant";
  readonly text: string;
}

const FORMATS: Readonly<Record<AudioFormat, object>> = {
  pcmu: { type: "audio/pcmu" },
  pcma: { type: "audio/pcma" },
  pcm: { type: "audio/pcm", rate: 24_000 },
};

/**
 * Requests the session for a call. The provider replies to each of the callee's turns, but does not stop automatically:
 * only this side knows how much was heard.
 */
export function sessionUpdate(brief: AgentBrief, format: AudioFormat, options: SessionOptions): object {
  const { voice, transcriptionModel, turnDetection } = options;
  const [language] = brief.language.split("-");
  return {
    type: "session.update",
    session: {
      type: "realtime",
      output_modalities: ["audio"],
      instructions: systemPrompt(brief, "voice"),
      audio: {
        input: {
          format: FORMATS[format],
          turn_detection: {
            type: "server_vad",
            ...turnDetection,
            create_response: true,
            interrupt_response: false,
          },
          ...(transcriptionModel !== undefined && { transcription: { model: transcriptionModel, language } }),
        },
        output: { format: FORMATS[format], ...(voice !== undefined && { voice }) },
      },
      tools: toolsOf(brief).map(({ name, description, parameters }) => ({
        type: "function",
        name,
        description,
        parameters,
      })),
      tool_choice: "auto",
    },
  };
}

/** Changes the audio format in both directions. */
export function formatUpdate(format: AudioFormat): object {
  const direction = { format: FORMATS[format] };
  return { type: "session.update", session: { type: "realtime", audio: { input: direction, output: direction } } };
}

/** Stops replies to the callee's turns. */
export const NO_MORE_TURNS: object = {
  type: "session.update",
  session: { type: "realtime", audio: { input: { turn_detection: null } } },
};

/** Drops the callee's audio that is not part of a turn yet. */
export const FORGET_AUDIO: object = { type: "input_audio_buffer.clear" };

/** Instructions for a reply with exactly this text. */
export function sayExactly(text: string): string {
  return `Say exactly these words, and nothing else: ${JSON.stringify(text)}`;
}

/** Requests a reply. */
export function responseCreate(
  id: string,
  { instructions, wordsOnly }: { readonly instructions?: string | undefined; readonly wordsOnly?: boolean },
): object {
  return {
    type: "response.create",
    event_id: id,
    response: {
      ...(instructions !== undefined && { instructions }),
      ...(wordsOnly === true && { tool_choice: "none" }),
    },
  };
}

/** Requests text about the conversation that does not become part of it. */
export function textCreate(id: string, purpose: string, instructions: string): object {
  return {
    type: "response.create",
    event_id: id,
    response: {
      conversation: "none",
      output_modalities: ["text"],
      tool_choice: "none",
      instructions,
      metadata: { purpose },
    },
  };
}

/** Adds a message to the conversation. */
export function itemCreate({ role, text }: HistoryMessage): object {
  const content = [{ type: role === "user" ? "input_text" : "output_text", text }];
  return { type: "conversation.item.create", item: { type: "message", role, content } };
}

/** Adds a function's result. */
export function functionOutput(call: string, output: string): object {
  return { type: "conversation.item.create", item: { type: "function_call_output", call_id: call, output } };
}

/** Appends the callee's audio, as JSON. */
export function audioAppend(audio: Uint8Array): string {
  const base64 = Buffer.from(audio.buffer, audio.byteOffset, audio.byteLength).toString("base64");
  return `{"type":"input_audio_buffer.append","audio":"${base64}"}`;
}
