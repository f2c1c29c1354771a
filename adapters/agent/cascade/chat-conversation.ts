import { hasWords } from "../../../src/base/has-words.ts";
import { fillPlaceholders } from "../../../src/domain/agents/agent-variables.ts";
import type {
  AgentBrief,
  Conversation,
  ConversationAction,
  ConversationInput,
} from "../../../src/ports/conversation.ts";
import type { Phrases } from "../agent-phrases.ts";
import { type AgentCallLimits, CallBudget } from "../call-budget.ts";
import { systemPrompt } from "../prompts.ts";
import { TOOL_WAIT_MS } from "../tool-wait.ts";
import { type Chat, ChatFault } from "./chat-client.ts";
import { ChatHistory } from "./chat-history.ts";
import type { ToolCall, ToolSpec } from "./chat-messages.ts";
import { PreparedReply } from "./prepared-reply.ts";
import { reportOf } from "./report.ts";
import { Sentences } from "./sentences.ts";
import { ToolRound } from "./tool-round.ts";
import { toolSpecs } from "./tools.ts";

/** Time for which the agent waits for the callee before it asks if anyone is there, ms. */
const IDLE_MS = 10_000;
/** Maximum number of requests per reply: each tool call causes another request, and the last one allows only text. */
const MAX_STEPS = 4;
/** Maximum number of turns in a row whose words may be lost. */
const MAX_LOST_TURNS = 1;

/** Limits of one call. */
export interface ChatLimits extends AgentCallLimits {
  /** True if replies are prepared before it is certain that the callee's turn has ended. Default: true. */
  readonly preemptive?: boolean | undefined;
  /** Longest time without any output in a reply, ms. Default: the core's limit. */
  readonly replyTimeoutMs?: number | undefined;
}

/** Conducts one call with a language model. */
export class ChatConversation implements Conversation {
  readonly #chat: Chat;
  readonly #brief: AgentBrief;
  readonly #phrases: Phrases;
  readonly #isPreemptive: boolean;
  readonly #budget: CallBudget;
  readonly #history: ChatHistory;
  readonly #tools: readonly ToolSpec[];
  /** The tool round with the pending transfer. */
  #transferRound: ToolRound | undefined;
  firstTokenMs: number | undefined;
  readonly replyTimeoutMs: number | undefined;
  /** Number of turns in a row whose words have been lost. */
  #lostTurnCount = 0;
  /** The reply that is being prepared. */
  #preparedReply: PreparedReply | undefined;
  /** True if the agent has asked whether the callee is present since it last heard them. */
  #hasAskedIfPresent = false;

  constructor(chat: Chat, brief: AgentBrief, phrases: Phrases, limits: ChatLimits) {
    this.#chat = chat;
    this.#brief = brief;
    this.#phrases = phrases;
    this.#isPreemptive = limits.preemptive !== false;
    this.#budget = new CallBudget(limits);
    this.replyTimeoutMs = limits.replyTimeoutMs;
    this.#tools = toolSpecs(brief);
    this.#history = new ChatHistory(systemPrompt(brief));
  }

  report({ fault }: { readonly fault?: string | undefined }, signal: AbortSignal): Promise<unknown> {
    const countTokens = (tokens: number): void => this.#budget.spend(tokens);
    return reportOf(this.#chat, this.#brief, this.#history.messages, fault, countTokens, signal);
  }

  /** Records the part of the latest reply that the callee has heard. */
  heard(text: string): void {
    this.#history.trimToHeard(text);
  }

  async *reply(input: ConversationInput, signal: AbortSignal): AsyncGenerator<ConversationAction, void> {
    this.firstTokenMs = undefined;
    const preparedReply = this.#preparedReply;
    this.#preparedReply = undefined;
    if (preparedReply !== undefined && !(input.type === "words" && preparedReply.matches(input)))
      preparedReply.cancel();
    if (input.type === "silence") {
      yield* this.#silence();
      return;
    }
    if (input.type === "ending") {
      yield* this.#end(this.#phrases.timeIsUp);
      return;
    }
    if (input.type === "fault") {
      yield* this.#fail(input.detail);
      return;
    }
    this.#hasAskedIfPresent = false;
    if (input.type === "unheard") {
      if (++this.#lostTurnCount > MAX_LOST_TURNS) yield* this.#fail(input.detail);
      else yield* this.#sayAndListen(this.#phrases.sayAgain);
      return;
    }
    this.#lostTurnCount = 0;
    const { firstMessage, variables } = this.#brief;
    if (input.type === "begin" && firstMessage !== undefined) {
      yield* this.#firstMessage(fillPlaceholders(firstMessage ?? "", variables));
      return;
    }
    if (input.type === "transfer_failed") this.#transferRound?.transferFailed(input.detail);
    else this.#history.add(input);
    const { exhausted } = this.#budget;
    this.#budget.reply();
    if (exhausted !== undefined) {
      yield* this.#end(this.#phrases.goodbye, exhausted);
      return;
    }
    try {
      yield* this.#generate(signal, preparedReply?.isCancelled === false ? preparedReply : undefined);
    } catch (error) {
      if (signal.aborted || !(error instanceof ChatFault)) throw error;
      yield* this.#fail(error.message);
    }
  }

  prepare(input: Extract<ConversationInput, { type: "words" }>, signal: AbortSignal): void {
    if (this.#preparedReply?.matches(input)) return;
    this.#preparedReply?.cancel();
    this.#preparedReply = undefined;
    if (!this.#isPreemptive || this.#budget.exhausted !== undefined) return;
    const request = { messages: this.#history.messagesWith(input), tools: this.#tools };
    this.#preparedReply = new PreparedReply(input, (replySignal) => this.#chat(request, replySignal), signal);
  }

  *#fail(detail: string): Generator<ConversationAction, void> {
    yield { type: "say", text: this.#phrases.apology, interruptible: false };
    yield { type: "fail", detail };
  }

  *#sayAndListen(text: string): Generator<ConversationAction, void> {
    yield { type: "say", text, interruptible: true };
    yield { type: "listen", forMs: IDLE_MS };
  }

  /** Opens the call with the caller's first message. @param text if it has no words, the callee speaks first */
  *#firstMessage(text: string): Generator<ConversationAction, void> {
    this.#history.addAnswer();
    if (hasWords(text)) {
      this.#history.addWords(text);
      yield { type: "say", text, interruptible: true };
    }
    yield { type: "listen", forMs: IDLE_MS };
  }

  *#silence(): Generator<ConversationAction, void> {
    if (this.#hasAskedIfPresent) {
      yield* this.#end(this.#phrases.goodbye);
      return;
    }
    this.#hasAskedIfPresent = true;
    yield* this.#sayAndListen(this.#phrases.stillThere);
  }

  *#end(text: string, detail?: string): Generator<ConversationAction, void> {
    yield { type: "say", text, interruptible: false };
    yield { type: "hang_up", ...(detail !== undefined && { detail }) };
  }

  async *#generate(signal: AbortSignal, preparedReply?: PreparedReply): AsyncGenerator<ConversationAction, void> {
    const requestedAt = performance.now();
    let mayFillTime = true;
    for (let step = 1; step <= MAX_STEPS; step++) {
      const sentences = new Sentences();
      const calls: ToolCall[] = [];
      let text = "";
      const index = this.#history.addWords("");
      const request = {
        messages: this.#history.messages.slice(0, -1),
        tools: this.#tools,
        wordsOnly: step === MAX_STEPS,
      };
      try {
        const parts = step === 1 ? preparedReply?.parts(signal) : undefined;
        for await (const part of parts ?? this.#chat(request, signal)) {
          this.firstTokenMs ??= performance.now() - requestedAt;
          if (part.type === "usage") this.#budget.spend(part.tokens);
          else if (part.type === "tool") calls.push(part.call);
          else {
            text += part.text;
            for (const sentence of sentences.push(part.text))
              yield { type: "say", text: sentence, interruptible: true };
          }
        }
      } finally {
        this.#history.replaceWords(index, text, calls);
      }
      const remainder = sentences.finish();
      if (remainder !== undefined) yield { type: "say", text: remainder, interruptible: true };
      if (calls.length === 0) break;
      const round = new ToolRound(this.#history.messages, calls, this.#brief, !signal.aborted);
      signal.throwIfAborted();
      if (round.isRunning) {
        if (mayFillTime && !hasWords(text) && (await round.isSlow(TOOL_WAIT_MS, signal))) {
          mayFillTime = false;
          this.#history.replaceWords(index, this.#phrases.oneMoment, calls);
          yield { type: "say", text: this.#phrases.oneMoment, interruptible: true };
        }
        await round.whenFinished(signal);
      }
      for (const action of round.actions()) {
        if (action.type === "transfer") this.#transferRound = round;
        yield action;
        if (action.type !== "press") return;
      }
    }
    yield { type: "listen", forMs: IDLE_MS };
  }
}
