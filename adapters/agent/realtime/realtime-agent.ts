import type { AudioAgent } from "../../../src/ports/audio-conversation.ts";
import { AgentUnavailable } from "../../../src/ports/conversation.ts";
import { socketUrl } from "../../provider-http/engine-socket.ts";
import { type AgentCallLimits, DEFAULT_TOKENS, DEFAULT_TURNS } from "../call-budget.ts";
import { RealtimeConversation } from "./realtime-conversation.ts";
import { RealtimeFault, type RealtimeServer } from "./realtime-link.ts";
import type { SessionOptions } from "./realtime-session.ts";

/** Options of {@link realtimeAgent}, for a server with the OpenAI realtime protocol. */
export interface RealtimeAgentOptions extends SessionOptions {
  /** Base URL including the version, without `/realtime`: `https://api.openai.com/v1`. */
  readonly baseUrl: string | URL;
  /** Sent as a bearer token; never part of an error message. */
  readonly apiKey?: string | undefined;
  /** The speech-to-speech model. There is no default: hosted models come and go. */
  readonly model: string;
  /** Additional headers for the connection. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /**
   * Longest silence from the server while a reply is due, ms; after that, the request is repeated once. Default:
   * 10,000.
   */
  readonly timeoutMs?: number | undefined;
  /** Maximum number of model replies in one call. Default: 100. */
  readonly maxTurns?: number | undefined;
  /** Maximum number of tokens in all replies of one call, if the server counts them. Default: 200,000. */
  readonly maxTokens?: number | undefined;
}

/**
 * An agent whose model receives the callee's audio and replies with audio, over OpenAI's realtime protocol. It needs
 * neither the transcription nor the speech engine of this server. Throws a TypeError for a malformed base URL.
 */
export function realtimeAgent(options: RealtimeAgentOptions): AudioAgent {
  const { baseUrl, apiKey, model, headers, timeoutMs = 10_000 } = options;
  const server: RealtimeServer = {
    url: socketUrl(baseUrl, `/realtime?model=${encodeURIComponent(model)}`),
    headers: { ...headers, ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }) },
    secrets: [apiKey, ...Object.values(headers ?? {})],
    timeoutMs,
  };
  const limits: AgentCallLimits = {
    turns: options.maxTurns ?? DEFAULT_TURNS,
    tokens: options.maxTokens ?? DEFAULT_TOKENS,
  };
  const scope = new AbortController();
  return {
    kind: "audio",
    name: "realtime",
    transcribes: options.transcriptionModel !== undefined,
    check() {},
    async open(brief, signal) {
      const turns = Math.min(limits.turns, brief.maxTurns ?? limits.turns);
      const conversation = new RealtimeConversation(server, brief, options, { ...limits, turns });
      try {
        await conversation.open(AbortSignal.any([signal, scope.signal]));
      } catch (error) {
        if (error instanceof RealtimeFault) throw new AgentUnavailable(error.message);
        throw error;
      }
      return conversation;
    },
    close: async () => scope.abort(new Error("the agent is closed")),
  };
}
