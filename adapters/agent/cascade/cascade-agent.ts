import { type Agent, AgentUnavailable } from "../../../src/ports/conversation.ts";
import { phrasesIn } from "../agent-phrases.ts";
import { DEFAULT_TOKENS, DEFAULT_TURNS } from "../call-budget.ts";
import { type ChatOptions, chatClient, REQUEST_MS } from "./chat-client.ts";
import { ChatConversation, type ChatLimits } from "./chat-conversation.ts";

/** Options of {@link cascadeAgent}. */
export interface CascadeAgentOptions extends ChatOptions {
  /** Maximum number of model replies in one call. Default: 100. */
  readonly maxTurns?: number | undefined;
  /** Maximum number of tokens that all requests in one call use, if the server counts them. Default: 200,000. */
  readonly maxTokens?: number | undefined;
  /** True to ask the model as soon as partial transcripts suggest that the callee's turn is ending. Default: true. */
  readonly preemptive?: boolean | undefined;
}

/**
 * An agent that combines a language model with this server's transcription and speech. The model can come from OpenAI,
 * Ollama, vLLM, LocalAI or any other server with `POST /chat/completions`. Throws a TypeError for a malformed base URL.
 */
export function cascadeAgent(options: CascadeAgentOptions): Agent {
  const chat = chatClient(options);
  const limits: ChatLimits = {
    turns: options.maxTurns ?? DEFAULT_TURNS,
    tokens: options.maxTokens ?? DEFAULT_TOKENS,
    preemptive: options.preemptive,
    // A request's own limits end it earlier: two attempts, each repeated twice if the server is busy.
    replyTimeoutMs: 8 * (options.timeoutMs ?? REQUEST_MS),
  };
  const scope = new AbortController();
  return {
    name: "cascade",
    check({ hearsWords }) {
      if (!hearsWords)
        throw new AgentUnavailable(
          "the agent needs transcription: set RINGPORT_TRANSCRIPTION_ENGINE, or pass `transcription`",
        );
    },
    begin(brief) {
      const scopedChat: typeof chat = (request, signal) => chat(request, AbortSignal.any([signal, scope.signal]));
      const turns = Math.min(limits.turns, brief.maxTurns ?? limits.turns);
      return new ChatConversation(scopedChat, brief, phrasesIn(brief.language), { ...limits, turns });
    },
    close: async () => scope.abort(new Error("the agent is closed")),
  };
}
