import { hasWords } from "../../../src/base/has-words.ts";
import { filledIn } from "../../../src/domain/agent-variables.ts";
import type {
  AgentBrief,
  Conversation,
  ConversationAction,
  ConversationInput,
} from "../../../src/ports/conversation.ts";
import type { Phrases } from "../phrases.ts";
import { type Chat, ChatFault } from "./chat-client.ts";
import type { ChatMessage, ToolCall } from "./chat-messages.ts";
import { systemPrompt } from "./prompt.ts";
import { Sentences } from "./sentences.ts";
import { actionOf, TOOLS } from "./tools.ts";

/** How long the agent waits for the callee before it asks whether anybody is there, ms. */
const IDLE_MS = 10_000;
/** Requests for one reply: a call of a tool leads to another one. */
const MOST_STEPS = 3;
/** Longest utterance of the callee that the model gets, characters. */
const LONGEST_WORDS = 4_000;

/** Limits of one call. */
export interface ChatLimits {
  /** Replies of the model. */
  readonly turns: number;
  /** Tokens of all requests, as far as the server counts them. */
  readonly tokens: number;
}

/** Conducts one call by a language model. Its history holds what the callee has heard, not what the model wanted to say. */
export class ChatConversation implements Conversation {
  readonly #chat: Chat;
  readonly #brief: AgentBrief;
  readonly #phrases: Phrases;
  readonly #limits: ChatLimits;
  readonly #history: ChatMessage[];
  #turns = 0;
  #tokens = 0;
  firstTokenMs: number | undefined;
  /** Whether the callee was asked since they were last heard. */
  #askedIfThere = false;
  /** Places in the history of the agent's words since the callee's last. */
  readonly #spoken: number[] = [];

  constructor(chat: Chat, brief: AgentBrief, phrases: Phrases, limits: ChatLimits) {
    this.#chat = chat;
    this.#brief = brief;
    this.#phrases = phrases;
    this.#limits = limits;
    this.#history = [{ role: "system", content: systemPrompt(brief) }];
  }

  /** What the callee has heard of the latest reply. */
  heard(text: string): void {
    const heard = words(text);
    for (const at of this.#spoken.splice(0)) {
      const message = this.#history[at];
      if (message?.role !== "assistant") continue;
      const said = words(message.content ?? "");
      const part = heard.splice(0, said.length);
      if (part.length < said.length) this.#history[at] = { ...message, content: [...part, "…"].join(" ") };
    }
  }

  async *reply(input: ConversationInput, signal: AbortSignal): AsyncGenerator<ConversationAction, void> {
    this.firstTokenMs = undefined;
    if (input.type === "silence") {
      yield* this.#silence();
      return;
    }
    this.#askedIfThere = false;
    const { firstMessage, variables } = this.#brief;
    if (input.type === "begin" && firstMessage !== undefined) {
      yield* this.#first(filledIn(firstMessage ?? "", variables));
      return;
    }
    this.#history.push({ role: "user", content: wordsOf(input) });
    if (++this.#turns > this.#limits.turns || this.#tokens >= this.#limits.tokens) {
      yield* this.#end(this.#phrases.goodbye);
      return;
    }
    try {
      yield* this.#generate(signal);
    } catch (error) {
      if (signal.aborted || !(error instanceof ChatFault)) throw error;
      yield { type: "say", text: this.#phrases.apology, interruptible: false };
      yield { type: "fail", detail: error.message };
    }
  }

  /** The beginning as whoever placed the call wants it. @param text without words: the callee speaks first */
  *#first(text: string): Generator<ConversationAction, void> {
    this.#history.push({ role: "user", content: "[The callee answers the phone.]" });
    if (hasWords(text)) {
      this.#spoken.push(this.#history.push({ role: "assistant", content: text }) - 1);
      yield { type: "say", text, interruptible: true };
    }
    yield { type: "listen", forMs: IDLE_MS };
  }

  *#silence(): Generator<ConversationAction, void> {
    if (this.#askedIfThere) {
      yield* this.#end(this.#phrases.goodbye);
      return;
    }
    this.#askedIfThere = true;
    yield { type: "say", text: this.#phrases.stillThere, interruptible: true };
    yield { type: "listen", forMs: IDLE_MS };
  }

  *#end(text: string): Generator<ConversationAction, void> {
    yield { type: "say", text, interruptible: false };
    yield { type: "hang_up" };
  }

  async *#generate(signal: AbortSignal): AsyncGenerator<ConversationAction, void> {
    const askedAt = performance.now();
    for (let step = 1; step <= MOST_STEPS; step++) {
      const sentences = new Sentences();
      const calls: ToolCall[] = [];
      let text = "";
      const at = this.#history.push({ role: "assistant", content: "" }) - 1;
      this.#spoken.push(at);
      try {
        for await (const part of this.#chat(this.#history.slice(0, -1), TOOLS, signal)) {
          this.firstTokenMs ??= performance.now() - askedAt;
          if (part.type === "usage") this.#tokens += part.tokens;
          else if (part.type === "tool") calls.push(part.call);
          else {
            text += part.text;
            for (const sentence of sentences.push(part.text))
              yield { type: "say", text: sentence, interruptible: true };
          }
        }
      } finally {
        this.#history[at] = {
          role: "assistant",
          content: text,
          ...(calls.length > 0 && { tool_calls: calls }),
        };
      }
      const rest = sentences.finish();
      if (rest !== undefined) yield { type: "say", text: rest, interruptible: true };
      if (calls.length === 0) break;
      for (const call of calls) {
        const action = actionOf(call);
        if (action.do === "hang_up") {
          yield { type: "hang_up" };
          return;
        }
        if (action.do === "press") yield { type: "press", keys: action.keys };
        const content = action.do === "refuse" ? `error: ${action.fault}` : "done";
        this.#history.push({ role: "tool", tool_call_id: call.id, content });
      }
    }
    yield { type: "listen", forMs: IDLE_MS };
  }
}

function words(text: string): string[] {
  return text.split(/\s+/).filter(Boolean);
}

/** What happened, as a message of the user. */
function wordsOf(input: Exclude<ConversationInput, { type: "silence" }>): string {
  if (input.type === "begin") return "[The callee answers the phone. Begin the conversation.]";
  if (input.type === "key") return `[The callee presses the key ${input.digit}.]`;
  // Brackets are for what the callee does.
  return input.text.slice(0, LONGEST_WORDS).replace(/[[\]]/g, "");
}
