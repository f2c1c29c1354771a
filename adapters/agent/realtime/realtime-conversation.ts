import { Queue } from "../../../src/base/queue.ts";
import { fillPlaceholders } from "../../../src/domain/agents/agent-variables.ts";
import type {
  AudioAgentEvent,
  AudioConversation,
  AudioFormat,
  HeardItem,
} from "../../../src/ports/audio-conversation.ts";
import type { AgentBrief } from "../../../src/ports/conversation.ts";
import { type AgentCallLimits, CallBudget } from "../call-budget.ts";
import { CalledTools } from "./called-tools.ts";
import type { RealtimeEvent } from "./realtime-events.ts";
import type { RealtimeServer } from "./realtime-link.ts";
import { Recovery } from "./realtime-recovery.ts";
import {
  audioAppend,
  FORGET_AUDIO,
  formatUpdate,
  itemCreate,
  NO_MORE_TURNS,
  type SessionOptions,
  sayExactly,
  sessionUpdate,
} from "./realtime-session.ts";
import { ReconnectingLink } from "./reconnecting-link.ts";
import { RealtimeReplies, type ReplyRequest } from "./replies.ts";
import { ResultWriter } from "./result-writer.ts";
import { SpokenHistory } from "./spoken-history.ts";

/** Time for which the agent waits for the callee before it asks if anyone is there, ms. */
const IDLE_MS = 10_000;

/**
 * Conducts one call with a speech-to-speech model: translates server events into agent events, and call events into
 * requests.
 */
export class RealtimeConversation implements AudioConversation {
  readonly events = new Queue<AudioAgentEvent>();
  readonly #brief: AgentBrief;
  readonly #link: ReconnectingLink;
  readonly #replies: RealtimeReplies;
  readonly #tools: CalledTools;
  readonly #budget: CallBudget;
  readonly #recovery: Recovery;
  readonly #result: ResultWriter;
  readonly #history = new SpokenHistory();
  readonly #scope = new AbortController();
  #format: AudioFormat | undefined;
  #hasAskedIfPresent = false;
  /** Set once the last reply has begun; contains the reason if it is a limit. */
  #pendingClose: { readonly detail?: string } | undefined;
  /** True if a machine is recording the agent. */
  #leavesMessage = false;
  /** True if the agent has finished speaking. */
  #hasEnded = false;

  constructor(server: RealtimeServer, brief: AgentBrief, options: SessionOptions, limits: AgentCallLimits) {
    this.#brief = brief;
    this.#budget = new CallBudget(limits);
    this.#link = new ReconnectingLink(server, () => sessionUpdate(brief, this.#format ?? "pcm", options), {
      event: (event) => this.#handle(event),
      lost: (fault, isLast) => {
        this.#result.abort(fault);
        this.#recovery.lost(fault, isLast);
      },
      replaced: () => this.#recovery.replaced(),
      replacementFailed: (error) => this.#recovery.notReplaced(error),
    });
    this.#replies = new RealtimeReplies(this.#link, this.#history);
    const emit = (event: AudioAgentEvent): void => this.#emit(event);
    const reports = { emit, hangUp: () => this.#hangUp() };
    this.#tools = new CalledTools(brief, this.#link, this.#replies, reports, this.#scope.signal);
    const parts = { link: this.#link, replies: this.#replies, history: this.#history };
    this.#recovery = new Recovery(parts, brief.language, this, {
      emit,
      onResumed: (dueReply) => this.#resume(dueReply),
      onFailed: () => this.#finish(),
    });
    this.#result = new ResultWriter(brief, this.#link, () => this.#recovery.replayHistory());
  }

  get isClosing(): boolean {
    return this.#pendingClose !== undefined;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Connects. @throws {RealtimeFault} after the second attempt, or the first if its fault is permanent */
  async open(signal: AbortSignal): Promise<void> {
    signal.addEventListener("abort", () => this.#end(), { once: true });
    await this.#link.open(signal);
  }

  report({ fault }: { readonly fault?: string | undefined }, signal: AbortSignal): Promise<unknown> {
    if (!this.#leavesMessage) {
      this.#hasEnded = true;
      this.#link.send(NO_MORE_TURNS);
      this.#replies.interrupt();
    }
    return this.#result.write(fault, signal);
  }

  answered(format: AudioFormat): void {
    this.#format = format;
    this.#link.send(formatUpdate(format));
    const { firstMessage, variables } = this.#brief;
    this.#history.add("[The callee answers the phone.]");
    if (firstMessage === null) this.#emit({ type: "listen", forMs: IDLE_MS });
    else if (firstMessage === undefined) this.#replies.request({ to: "begin" });
    else this.#say("begin", fillPlaceholders(firstMessage, variables));
  }

  hear(audio: Uint8Array): void {
    if (!this.#hasEnded && this.#pendingClose === undefined) this.#link.send(audioAppend(audio));
  }

  key(digit: string): void {
    if (!this.#hasEnded) this.#notify(`[The callee presses the key ${digit}.]`, { to: "key" });
  }

  silence(): void {
    if (this.#hasEnded) return;
    if (this.#hasAskedIfPresent) this.#close();
    else {
      this.#notify("[Nobody has spoken for 10 seconds. Ask whether the callee is still there.]", { to: "silence" });
      this.#hasAskedIfPresent = true;
    }
  }

  transferFailed(detail: string): void {
    if (!this.#hasEnded) this.#tools.transferFailed(detail);
  }

  voicemail(): void {
    this.#leavesMessage = true;
    this.#hasEnded = false;
    this.#pendingClose = {};
    this.#link.send(NO_MORE_TURNS);
    this.#link.send(FORGET_AUDIO);
    this.#replies.expectTurn(false);
    this.#replies.interrupt();
    this.#tools.interrupt();
    const { message } = this.#tools;
    if (message !== undefined) this.#say("voicemail", message);
    else this.#notify("[The beep of a voicemail was heard. Leave your message.]", { to: "voicemail", wordsOnly: true });
    if (!this.#link.isOpen) void this.#recovery.reconnect();
  }

  ending(): void {
    this.#close();
  }

  interrupted(items: readonly HeardItem[]): void {
    this.#tools.interrupt();
    this.#replies.interrupt();
    for (const heard of items) {
      this.#history.cut(heard);
      const { item: item_id, heardMs: audio_end_ms } = heard;
      this.#link.send({ type: "conversation.item.truncate", item_id, content_index: 0, audio_end_ms });
    }
  }

  #emit(event: AudioAgentEvent | undefined): void {
    if (event !== undefined && !this.#hasEnded) this.events.push(event);
  }

  #handle(event: RealtimeEvent): void {
    if (event.type === "response_done") this.#budget.spend(event.tokens);
    if (this.#result.handle(event) || this.#hasEnded) return;
    switch (event.type) {
      case "speech_started":
        this.#history.recordTurn(event.item, { startMs: event.atMs });
        this.#hasAskedIfPresent = false;
        this.#tools.resetSteps();
        if (this.#pendingClose === undefined) this.#emit({ type: "speech_started" });
        break;
      case "speech_stopped":
        this.#history.recordTurn(event.item, { endMs: event.atMs });
        if (this.#pendingClose !== undefined) break;
        this.#emit({ type: "speech_stopped" });
        this.#replies.expectTurn(true);
        break;
      case "callee_words":
        this.#history.add(event.text, event.item);
        this.#emit({ type: "callee_words", text: event.text, ...this.#history.timesOf(event.item) });
        break;
      case "response_created":
        this.#beginReply(event.response);
        break;
      case "call":
        this.#replies.calls(event);
        break;
      case "response_done":
        this.#endReply(event);
        break;
      case "error":
        this.#recovery.error(event);
        break;
      case "audio":
      case "words":
      case "all_words":
      case "item_done":
        this.#emit(this.#replies.part(event));
        break;
      case "text":
      case "ready":
      case "broken":
    }
  }

  #beginReply(id: string): void {
    const response = this.#replies.begin(id);
    if (response === undefined || response.reply.continues) return;
    const { exhausted } = this.#budget;
    if (exhausted !== undefined && this.#pendingClose === undefined) this.#close(exhausted);
    else {
      if (this.#pendingClose === undefined) this.#budget.reply();
      this.#emit({ type: "reply", to: response.reply.to });
    }
  }

  #endReply(event: Extract<RealtimeEvent, { type: "response_done" }>): void {
    const response = this.#replies.end(event);
    if (response === undefined) return;
    for (const item of response.items) this.#emit({ type: "item_end", item });
    const { status } = event;
    if (status === "cancelled") return;
    if (status === "failed") this.#recovery.failed(response.reply, `reports: ${event.fault}`);
    else if (response.reply.fillsTime) this.#replies.next();
    else {
      this.#link.recordSuccess();
      if (this.#pendingClose !== undefined) this.#hangUp();
      else if (status !== "completed" || !this.#tools.carryOut(response)) {
        this.#emit({ type: "listen", forMs: IDLE_MS });
        this.#replies.next();
      }
    }
  }

  /** Has the model say goodbye, and hangs up. @param detail names the limit that has been reached */
  #close(detail?: string): void {
    if (this.#pendingClose !== undefined || this.#hasEnded) return;
    this.#pendingClose = detail === undefined ? {} : { detail };
    this.#link.send(NO_MORE_TURNS);
    this.#replies.expectTurn(false);
    this.#notify("[The call ends now. Say goodbye in one short sentence.]", { to: "silence", wordsOnly: true });
  }

  /** Has the model say text verbatim. */
  #say(to: ReplyRequest["to"], text: string): void {
    this.#replies.request({ to, instructions: sayExactly(text), wordsOnly: true });
  }

  /** Notifies the model of an event, and requests a reply. */
  #notify(text: string, reply: ReplyRequest): void {
    this.#tools.interrupt();
    this.#tools.resetSteps();
    this.#hasAskedIfPresent = false;
    this.#history.add(text);
    this.#link.send(itemCreate({ role: "user", text }));
    this.#replies.cancel();
    this.#replies.request(reply);
  }

  /** @param dueReply the reply that is due */
  #resume(dueReply: ReplyRequest | undefined): void {
    if (dueReply !== undefined) this.#replies.request(dueReply);
    else if (this.#format !== undefined) this.#emit({ type: "listen", forMs: IDLE_MS });
  }

  #hangUp(): void {
    this.#emit({ type: "hang_up", ...this.#pendingClose });
    this.#link.stopTimeout();
    this.#hasEnded = true;
    this.#leavesMessage = false;
  }

  /** Closes the connection when the call has ended. */
  #end(): void {
    this.#scope.abort();
    this.#link.close();
    this.#result.abort(new Error("the call has ended"));
    this.#finish();
  }

  /** Ends the conversation; events already emitted are still carried out. */
  #finish(): void {
    this.#hasEnded = true;
    this.events.close();
  }
}
