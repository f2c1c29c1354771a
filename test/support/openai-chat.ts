import type { ServerResponse } from "node:http";
import { setTimeout as pause } from "node:timers/promises";

/** A received request for a completion. */
export interface ChatRequest {
  readonly authorization: string | undefined;
  /** The client's port: the same for all requests of one connection. */
  readonly port: number | undefined;
  /** The whole body. */
  readonly body: string;
  readonly model: string;
  readonly messages: readonly {
    readonly role: string;
    readonly content: string | null;
    readonly tool_call_id?: string;
  }[];
  readonly tools: readonly string[];
  readonly toolChoice: string | undefined;
  /** The schema that the text should match. */
  readonly format: unknown;
}

/** The model's reply to a request: text and tool calls. */
export interface ChatReply {
  readonly text?: string;
  readonly calls?: readonly {
    readonly name: string;
    readonly arguments?: unknown;
    /** Raw text instead of the arguments, JSON or not. */
    readonly rawArguments?: string;
  }[];
}

/** Fault of one completion request. */
export type ChatFault =
  | { readonly status: number; readonly headers?: Record<string, string> }
  /** Never responds; sends half and stalls; sends half and ends; sends broken JSON; reports an error in the stream. */
  | "silent"
  | "stall"
  | "truncate"
  | "garbage"
  | "error_in_stream";

/** Streams a reply as the public reference describes it, in pieces that split characters and arguments. */
export async function streamCompletion(
  response: ServerResponse,
  model: string,
  { text = "", calls = [] }: ChatReply,
  fault: ChatFault | undefined,
): Promise<void> {
  const head = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1_700_000_000, model };
  const chunk = (delta: object, finishReason: string | null = null): string =>
    `data: ${JSON.stringify({ ...head, choices: [{ index: 0, delta, finish_reason: finishReason }] })}\n\n`;
  const deltas = [
    chunk({ role: "assistant", content: "" }),
    ...(text.match(/\S+\s*/g) ?? []).map((content) => chunk({ content })),
    ...calls.flatMap(({ name, arguments: input = {}, rawArguments }, index) => {
      const json = rawArguments ?? JSON.stringify(input);
      const middle = Math.floor(json.length / 2);
      const id = `call_${index}`;
      return [
        chunk({ tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] }),
        chunk({ tool_calls: [{ index, function: { arguments: json.slice(0, middle) } }] }),
        chunk({ tool_calls: [{ index, function: { arguments: json.slice(middle) } }] }),
      ];
    }),
  ];
  const sentDeltas = fault === "stall" || fault === "truncate" ? deltas.slice(0, deltas.length / 2) : deltas;
  const end = [
    chunk({}, calls.length > 0 ? "tool_calls" : "stop"),
    `data: ${JSON.stringify({ ...head, choices: [], usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } })}\n\n`,
    "data: [DONE]\n\n",
  ];
  const stream = [...sentDeltas, ...(sentDeltas === deltas && fault === undefined ? end : [])].join("");
  const bytes = Buffer.from(fault === "garbage" ? "data: {\n\n" : stream);
  for (let at = 0; at < bytes.length; at += 101) {
    response.write(bytes.subarray(at, at + 101));
    await pause(0);
  }
  if (fault === "error_in_stream") response.write(`data: ${errorBody("the model is overloaded")}\n\n`);
  if (fault !== "stall") response.end();
}

export function errorBody(message: string, code: string | null = null): string {
  return JSON.stringify({ error: { message, type: "invalid_request_error", param: null, code } });
}
