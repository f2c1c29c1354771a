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
import type { ChatMessage, ToolCall, ToolSpec } from "./chat-messages.ts";
import { PreparedReply } from "./prepared-reply.ts";
import { systemPrompt } from "./prompt.ts";
import { reportOf } from "./report.ts";
import { Sentences } from "./sentences.ts";
import { ToolRound } from "./tool-round.ts";
import { toolSpecs } from "./tools.ts";

/** How long the agent waits for the callee before it asks whether anybody is there, ms. */
const IDLE_MS = 10_000;
/** Requests for one reply, of which the last one gets words alone: a call of a tool leads to another request. */
const MOST_STEPS = 4;
/** Silence in which a tool works before the agent says that it takes a moment, ms. */
const PATIENCE_MS = 1_500;
/** Turns in a row whose words may be lost. */
const MOST_UNHEARD = 1;
/** Longest utterance of the callee that the model gets, characters. */
const LONGEST_WORDS = 4_000;

/** Limits of one call. */
export interface ChatLimits {
  /** Replies of the model. */
  readonly turns: number;
  /** Tokens of all requests, as far as the server counts them. */
  readonly tokens: number;
  /** Whether replies are prepared before the callee's turn is certainly over. Default: true. */
  readonly preemptive?: boolean | undefined;
}

/** Conducts one call by a language model. Its history holds what the callee has heard, not what the model wanted to say. */
export class ChatConversation implements Conversation {
  readonly #chat: Chat;
  readonly #brief: AgentBrief;
  readonly #phrases: Phrases;
  readonly #limits: ChatLimits;
  readonly #history: ChatMessage[];
  readonly #tools: readonly ToolSpec[];
  /** The tools among which is the transfer under way. */
  #transferring: ToolRound | undefined;
  #turns = 0;
  #tokens = 0;
  firstTokenMs: number | undefined;
  /** Turns in a row whose words were lost. */
  #unheard = 0;
  /** The reply that is being prepared. */
  #prepared: PreparedReply | undefined;
  /** Whether the callee was asked since they were last heard. */
  #askedIfThere = false;
  /** Places in the history of the agent's words since the callee's last. */
  readonly #spoken: number[] = [];

  constructor(chat: Chat, brief: AgentBrief, phrases: Phrases, limits: ChatLimits) {
    this.#chat = chat;
    this.#brief = brief;
    this.#phrases = phrases;
    this.#limits = limits;
    this.#tools = toolSpecs(brief);
    this.#history = [{ role: "system", content: systemPrompt(brief) }];
  }

  report({ fault }: { readonly fault?: string | undefined }, signal: AbortSignal): Promise<unknown> {
    const used = (tokens: number): void => {
      this.#tokens += tokens;
    };
    return reportOf(this.#chat, this.#brief, this.#history, fault, used, signal);
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
    const prepared = this.#prepared;
    this.#prepared = undefined;
    if (prepared !== undefined && !(input.type === "words" && prepared.fits(input))) prepared.cancel();
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
    this.#askedIfThere = false;
    if (input.type === "unheard") {
      if (++this.#unheard > MOST_UNHEARD) yield* this.#fail(input.detail);
      else yield* this.#sayAndListen(this.#phrases.sayAgain);
      return;
    }
    this.#unheard = 0;
    const { firstMessage, variables } = this.#brief;
    if (input.type === "begin" && firstMessage !== undefined) {
      yield* this.#first(filledIn(firstMessage ?? "", variables));
      return;
    }
    if (input.type === "transfer_failed") this.#transferring?.notTransferred(input.detail);
    else {
      const message = this.#messageOf(input);
      this.#history.splice(message.at, Number.POSITIVE_INFINITY, message.user);
    }
    const limit = this.#limit;
    this.#turns++;
    if (limit !== undefined) {
      yield* this.#end(this.#phrases.goodbye, `the agent was at its limit of ${limit}`);
      return;
    }
    try {
      yield* this.#generate(signal, prepared?.cancelled === false ? prepared : undefined);
    } catch (error) {
      if (signal.aborted || !(error instanceof ChatFault)) throw error;
      yield* this.#fail(error.message);
    }
  }

  prepare(input: Extract<ConversationInput, { type: "words" }>, signal: AbortSignal): void {
    if (this.#prepared?.fits(input)) return;
    this.#prepared?.cancel();
    this.#prepared = undefined;
    if (this.#limits.preemptive === false || this.#limit !== undefined) return;
    const { at, user } = this.#messageOf(input);
    const request = { messages: [...this.#history.slice(0, at), user], tools: this.#tools };
    this.#prepared = new PreparedReply(input, (stop) => this.#chat(request, stop), signal);
  }

  /** The message of an input, and its place in the history: words that go on take the place of those before. */
  #messageOf(input: ChatInput): { at: number; user: ChatMessage } {
    const content = wordsOf(input);
    const end = this.#history.length;
    if (input.type !== "words" || !input.continued) return { at: end, user: { role: "user", content } };
    const before = this.#history.findLastIndex(({ role }) => role === "user");
    // What a tool has done cannot be undone.
    const acted = this.#history.slice(before).some(({ role }) => role === "tool");
    if (before > 0 && !acted) return { at: before, user: { role: "user", content } };
    const known = this.#history[before]?.content ?? "";
    return { at: end, user: { role: "user", content: content.slice(known.length).trim() || content } };
  }

  /** The limit of the call that is reached; undefined if none is. */
  get #limit(): string | undefined {
    const { turns, tokens } = this.#limits;
    if (this.#turns >= turns) return `${turns} replies (maxTurns)`;
    return this.#tokens >= tokens ? `${tokens} tokens (maxTokens)` : undefined;
  }

  *#fail(detail: string): Generator<ConversationAction, void> {
    yield { type: "say", text: this.#phrases.apology, interruptible: false };
    yield { type: "fail", detail };
  }

  *#sayAndListen(text: string): Generator<ConversationAction, void> {
    yield { type: "say", text, interruptible: true };
    yield { type: "listen", forMs: IDLE_MS };
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
    yield* this.#sayAndListen(this.#phrases.stillThere);
  }

  *#end(text: string, detail?: string): Generator<ConversationAction, void> {
    yield { type: "say", text, interruptible: false };
    yield { type: "hang_up", ...(detail !== undefined && { detail }) };
  }

  async *#generate(signal: AbortSignal, prepared?: PreparedReply): AsyncGenerator<ConversationAction, void> {
    const askedAt = performance.now();
    let patient = true;
    for (let step = 1; step <= MOST_STEPS; step++) {
      const sentences = new Sentences();
      const calls: ToolCall[] = [];
      let text = "";
      const at = this.#history.push({ role: "assistant", content: "" }) - 1;
      this.#spoken.push(at);
      const request = { messages: this.#history.slice(0, -1), tools: this.#tools, wordsOnly: step === MOST_STEPS };
      try {
        const parts = step === 1 ? prepared?.parts(signal) : undefined;
        for await (const part of parts ?? this.#chat(request, signal)) {
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
      const round = new ToolRound(this.#history, calls, this.#brief, !signal.aborted);
      signal.throwIfAborted();
      if (round.runs) {
        if (patient && !hasWords(text) && (await round.isSlow(PATIENCE_MS, signal))) {
          patient = false;
          this.#history[at] = { role: "assistant", content: this.#phrases.oneMoment, tool_calls: calls };
          yield { type: "say", text: this.#phrases.oneMoment, interruptible: true };
        }
        await round.finished(signal);
      }
      for (const action of round.actions()) {
        if (action.type === "transfer") this.#transferring = round;
        yield action;
        if (action.type !== "press") return;
      }
    }
    yield { type: "listen", forMs: IDLE_MS };
  }
}

function words(text: string): string[] {
  return text.split(/\s+/).filter(Boolean);
}

/** What becomes a message of the user. */
type ChatInput = Extract<ConversationInput, { type: "begin" | "key" | "words" | "voicemail" }>;

/** What happened, as a message of the user. */
function wordsOf(input: ChatInput): string {
  if (input.type === "begin") return "[The callee answers the phone. Begin the conversation.]";
  if (input.type === "voicemail") return "[The beep of a voicemail was heard. Leave your message and hang up.]";
  if (input.type === "key") return `[The callee presses the key ${input.digit}.]`;
  // Brackets are for what the callee does.
  return input.text.slice(0, LONGEST_WORDS).replace(/[[\]]/g, "");
}
