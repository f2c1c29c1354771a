import { HTTPError, TimeoutError } from "ky";
import { CodedError } from "../../../src/base/error.ts";
import { engineClient } from "../../provider-http/engine-client.ts";
import { causeOf, refusalText, withoutSecrets } from "../../provider-http/fault-text.ts";
import { eventData, ResponseTimeout, readWithin } from "../../provider-http/response-body.ts";
import type { ChatPart, ChatRequest } from "./chat-messages.ts";
import { ModelCompletion } from "./model-completion.ts";

/**
 * Options of {@link chatClient}, for a server with `POST {baseUrl}/chat/completions`: OpenAI, Ollama, vLLM, LocalAI and
 * others.
 */
export interface ChatOptions {
  /** Base URL including the version, without `/chat/completions`: `http://localhost:11434/v1`. */
  readonly baseUrl: string | URL;
  /** Sent as a bearer token; never part of an error message. */
  readonly apiKey?: string | undefined;
  /** The model. There is no default: hosted models come and go. */
  readonly model: string;
  /** Additional headers for every request. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Longest wait for the start of the response and between its chunks, ms. Default: 10,000. */
  readonly timeoutMs?: number | undefined;
}

/** Longest silence from a server, ms. */
export const REQUEST_MS = 10_000;
/** Time limit for a server to end a complete response, ms. */
const LINGER_MS = 1_000;

/** Completes a chat, part by part. @throws {ChatFault} or the signal's reason */
export type Chat = (request: ChatRequest, signal: AbortSignal) => AsyncGenerator<ChatPart, void>;

/** Failure of a completion; the message is for an operator and has no secrets. */
export class ChatFault extends CodedError {
  override readonly name = "ChatFault";
  readonly code = "chat_fault";
  /** HTTP status of the response; undefined if there was none or it was cut off. */
  readonly status: number | undefined;
  constructor(message: string, status: number | undefined) {
    super(message);
    this.status = status;
  }
}

/**
 * Completions over HTTP, streamed. A request is repeated once if nothing has arrived in time; a 503 or 429 is
 * repeated twice. Throws a TypeError for a malformed base URL.
 */
export function chatClient(options: ChatOptions): Chat {
  const url = new URL(`${String(options.baseUrl).replace(/\/+$/, "")}/chat/completions`);
  const timeoutMs = options.timeoutMs ?? REQUEST_MS;
  const secrets = [options.apiKey, ...Object.values(options.headers ?? {})];
  const client = engineClient({ ...options, timeoutMs });

  async function* attempt(body: object, signal: AbortSignal): AsyncGenerator<ChatPart, void> {
    const connection = new AbortController();
    let isReusable = false;
    try {
      const response = await client.post(url, { json: body, signal: AbortSignal.any([signal, connection.signal]) });
      const completion = new ModelCompletion();
      const events = eventData(readWithin(response, timeoutMs, signal));
      for (let next = await events.next(); !next.done; next = await events.next()) {
        if (next.value === "[DONE]") {
          completion.isDone = isReusable = true;
          void readToEnd(events, connection);
          break;
        }
        yield* completion.read(next.value);
      }
      if (!completion.isDone) throw new Error("its response was cut off");
      yield* completion.calls();
    } finally {
      if (!isReusable) connection.abort();
    }
  }

  return async function* chat({ messages, tools = [], wordsOnly = false, format }, signal) {
    const body = {
      model: options.model,
      messages,
      stream: true,
      stream_options: { include_usage: true },
      ...(tools.length > 0 && { tools }),
      ...(tools.length > 0 && wordsOnly && { tool_choice: "none" }),
      ...(format && { response_format: { type: "json_schema", json_schema: { name: "result", schema: format } } }),
    };
    for (let attempts = 1; ; attempts++) {
      let hasBegun = false;
      try {
        for await (const part of attempt(body, signal)) {
          hasBegun = true;
          yield part;
        }
        return;
      } catch (error) {
        signal.throwIfAborted();
        if (isTimeout(error) && !hasBegun && attempts === 1) continue;
        const status = error instanceof HTTPError ? error.response.status : undefined;
        throw new ChatFault(withoutSecrets(explain(error, timeoutMs), secrets), status);
      }
    }
  };
}

/**
 * Reads the end of a response, so that the connection can be reused; if the server does not end the response, the
 * connection is closed.
 */
async function readToEnd(events: AsyncGenerator<string, void>, connection: AbortController): Promise<void> {
  const timer = setTimeout(() => connection.abort(), LINGER_MS);
  try {
    while (!(await events.next()).done);
  } catch {
    // The reply is already complete.
  } finally {
    clearTimeout(timer);
    connection.abort();
  }
}

/** True if nothing arrived in time. */
function isTimeout(error: unknown): boolean {
  return error instanceof TimeoutError || error instanceof ResponseTimeout;
}

function explain(error: unknown, timeoutMs: number): string {
  if (error instanceof HTTPError)
    return `the model's server ${refusalText(error.response.status, error.data, "RINGPORT_AGENT")}`;
  if (isTimeout(error)) return `the model's server sent nothing for ${timeoutMs} ms`;
  return `the model's server failed: ${causeOf(error)}`;
}
