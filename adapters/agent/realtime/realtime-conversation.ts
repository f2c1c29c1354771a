import { Queue } from "../../../src/base/queue.ts";
import { filledIn } from "../../../src/domain/agent-variables.ts";
import type {
  AudioAgentEvent,
  AudioConversation,
  AudioFormat,
  HeardItem,
} from "../../../src/ports/audio-conversation.ts";
import type { AgentBrief } from "../../../src/ports/conversation.ts";
import { withoutSecrets } from "../../engine-http/fault-text.ts";
import { phrasesIn } from "../phrases.ts";
import type { RealtimeEvent } from "./realtime-events.ts";
import { isPermanentCode, type RealtimeFault, RealtimeLink, type RealtimeServer } from "./realtime-link.ts";
import {
  audioAppend,
  formatUpdate,
  functionOutput,
  itemCreate,
  NO_MORE_TURNS,
  type SessionOptions,
  sessionUpdate,
} from "./realtime-session.ts";
import { ResponseCalls, runCalls } from "./response-calls.ts";
import { SpokenHistory } from "./spoken-history.ts";

/** How long the agent waits for the callee before it asks whether anybody is there, ms. */
const IDLE_MS = 10_000;
/** Replies in a row without anything from the callee, of which the last one gets words alone. */
const MOST_STEPS = 4;

/** Limits of one call. */
export interface RealtimeLimits {
  /** Replies of the model. */
  readonly turns: number;
  /** Tokens of all replies, as far as the server counts them. */
  readonly tokens: number;
}

type Reply = Extract<AudioAgentEvent, { type: "reply" }>["to"];

/** A reply that is requested, or to be requested. */
interface Wanted {
  readonly to: Reply;
  /** It goes on after a function was called. */
  readonly continues?: boolean;
  /** Replaces the instructions of the session for this reply. */
  readonly instructions?: string | undefined;
  readonly wordsOnly?: boolean;
}

/** A reply that the server works on. */
interface Response {
  readonly id: string;
  readonly reply: Wanted;
  readonly calls: ResponseCalls;
  readonly items: Set<string>;
}

/** Conducts one call by a speech-to-speech model: the server's events become what the agent does, and the other way round. */
export class RealtimeConversation implements AudioConversation {
  readonly events = new Queue<AudioAgentEvent>();
  readonly #server: RealtimeServer;
  readonly #brief: AgentBrief;
  readonly #options: SessionOptions;
  readonly #limits: RealtimeLimits;
  readonly #history = new SpokenHistory();
  #link: RealtimeLink | undefined;
  #format: AudioFormat | undefined;
  #response: Response | undefined;
  /** Requested, and not begun by the server yet. */
  #requested: { readonly id: string; readonly wanted: Wanted; dropped: boolean } | undefined;
  /** Requested as soon as the current reply is over. */
  #wanted: Wanted | undefined;
  /** A turn of the callee is over, and the server is to begin its reply by itself. */
  #owesTurn = false;
  /** Replies whose audio is no longer played. */
  #muted = "";
  #requests = 0;
  #turns = 0;
  #tokens = 0;
  #steps = 0;
  /** Counts what has happened on the call: a function's result is followed by a reply only if nothing has meanwhile. */
  #moment = 0;
  #askedIfThere = false;
  /** A call of `transfer` without a result. */
  #transfer = "";
  /** The last reply is on its way; with the reason, if it is a limit. */
  #closing: { readonly detail?: string } | undefined;
  #isOver = false;
  /** The connection, or a reply, has failed once since the latest complete reply. */
  #failedOnce = false;
  #due: ReturnType<typeof setTimeout> | undefined;

  constructor(server: RealtimeServer, brief: AgentBrief, options: SessionOptions, limits: RealtimeLimits) {
    this.#server = server;
    this.#brief = brief;
    this.#options = options;
    this.#limits = limits;
  }

  /** Connects. @throws {RealtimeFault} at the second attempt, unless that makes no difference */
  async open(signal: AbortSignal): Promise<void> {
    signal.addEventListener("abort", () => this.#end(), { once: true });
    signal.throwIfAborted();
    try {
      this.#link = await this.#connect();
    } catch (error) {
      signal.throwIfAborted();
      if ((error as RealtimeFault).isPermanent) throw error;
      this.#link = await this.#connect();
    }
    if (!signal.aborted) return;
    this.#link.close();
    throw signal.reason;
  }

  answered(format: AudioFormat): void {
    this.#format = format;
    this.#link?.send(formatUpdate(format));
    const { firstMessage, variables } = this.#brief;
    this.#history.add("[The callee answers the phone.]");
    if (firstMessage === null) this.#emit({ type: "listen", forMs: IDLE_MS });
    else if (firstMessage === undefined) this.#create({ to: "begin" });
    else {
      const text = JSON.stringify(filledIn(firstMessage, variables));
      this.#create({
        to: "begin",
        instructions: `Say exactly these words, and nothing else: ${text}`,
        wordsOnly: true,
      });
    }
  }

  hear(audio: Uint8Array): void {
    if (!this.#isOver && this.#closing === undefined) this.#link?.send(audioAppend(audio));
  }

  key(digit: string): void {
    this.#happens(`[The callee presses the key ${digit}.]`, { to: "key" });
  }

  silence(): void {
    if (this.#askedIfThere) this.#close();
    else {
      this.#happens("[Nobody has spoken for 10 seconds. Ask whether the callee is still there.]", { to: "silence" });
      this.#askedIfThere = true;
    }
  }

  transferFailed(detail: string): void {
    this.#link?.send(functionOutput(this.#transfer, `error: ${detail}`));
    this.#create({ to: "words", continues: true });
  }

  ending(): void {
    this.#close();
  }

  interrupted(items: readonly HeardItem[]): void {
    this.#moment++;
    this.#wanted = undefined;
    if (this.#requested) this.#requested.dropped = true;
    this.#cancel();
    for (const heard of items) {
      this.#history.cut(heard);
      const { item: item_id, heardMs: audio_end_ms } = heard;
      this.#link?.send({ type: "conversation.item.truncate", item_id, content_index: 0, audio_end_ms });
    }
  }

  #emit(event: AudioAgentEvent): void {
    if (!this.#isOver) this.events.push(event);
  }

  #connect(): Promise<RealtimeLink> {
    return RealtimeLink.open(this.#server, sessionUpdate(this.#brief, this.#format ?? "pcm", this.#options), {
      event: (event) => this.#event(event),
      lost: (fault) => this.#lost(fault),
    });
  }

  #event(event: RealtimeEvent): void {
    if (this.#isOver) return;
    switch (event.type) {
      case "speech_started":
        this.#history.turn(event.item, { startMs: event.atMs });
        this.#askedIfThere = false;
        this.#steps = 0;
        if (this.#closing === undefined) this.#emit({ type: "speech_started" });
        break;
      case "speech_stopped":
        this.#history.turn(event.item, { endMs: event.atMs });
        if (this.#closing !== undefined) break;
        this.#owesTurn = true;
        this.#emit({ type: "speech_stopped" });
        this.#expect();
        break;
      case "callee_words":
        this.#history.add(event.text, event.item);
        this.#emit({ type: "callee_words", text: event.text, ...this.#history.timesOf(event.item) });
        break;
      case "response_created":
        this.#begins(event.response);
        break;
      case "audio":
        if (!this.#speaks(event)) break;
        this.#emit({ type: "audio", item: event.item, bytes: event.bytes });
        break;
      case "words":
        if (this.#speaks(event))
          this.#emit({ type: "words", item: event.item, text: this.#history.extend(event.item, event.delta) });
        break;
      case "all_words":
        if (!this.#speaks(event)) break;
        this.#history.replace(event.item, event.text);
        this.#emit({ type: "words", item: event.item, text: event.text });
        break;
      case "item_done":
        if (this.#speaks(event)) this.#endItem(event.item);
        break;
      case "call":
        if (event.response !== this.#response?.id) break;
        this.#expect();
        this.#response.calls.add(event.call, event.name, event.input);
        break;
      case "response_done":
        this.#ends(event);
        break;
      case "error":
        this.#error(event);
        break;
      case "ready":
      case "broken":
    }
  }

  /** Whether an item belongs to the reply that is played; then the server is at work. */
  #speaks({ response, item }: { readonly response: string; readonly item: string }): boolean {
    if (response === this.#muted || response !== this.#response?.id) return false;
    this.#expect();
    this.#response.items.add(item);
    return true;
  }

  #endItem(item: string): void {
    this.#response?.items.delete(item);
    this.#emit({ type: "item_end", item });
  }

  #begins(id: string): void {
    const requested = this.#requested;
    this.#requested = undefined;
    this.#owesTurn = false;
    this.#response = { id, reply: requested?.wanted ?? { to: "words" }, calls: new ResponseCalls(), items: new Set() };
    this.#expect();
    const { reply } = this.#response;
    const limit = this.#limit;
    if (requested?.dropped) this.#cancel();
    else if (!reply.continues && limit !== undefined && this.#closing === undefined) this.#close(limit);
    else if (!reply.continues) {
      if (this.#closing === undefined) this.#turns++;
      this.#emit({ type: "reply", to: reply.to });
    }
  }

  /** The limit of the call that is reached; undefined if none is. */
  get #limit(): string | undefined {
    const { turns, tokens } = this.#limits;
    if (this.#turns >= turns) return `${turns} replies (maxTurns)`;
    return this.#tokens >= tokens ? `${tokens} tokens (maxTokens)` : undefined;
  }

  #ends(event: Extract<RealtimeEvent, { type: "response_done" }>): void {
    this.#tokens += event.tokens;
    const response = this.#response;
    if (response === undefined || event.response !== response.id) {
      this.#next();
      return;
    }
    this.#response = undefined;
    this.#settle();
    const played = event.response !== this.#muted;
    if (played) for (const item of response.items) this.#emit({ type: "item_end", item });
    if (!played || event.status === "cancelled") this.#next();
    else if (event.status === "failed") this.#failed(response.reply, `reports: ${event.fault}`);
    else {
      this.#failedOnce = false;
      const calls = event.status === "completed" ? response.calls.whole(this.#brief) : [];
      if (this.#closing !== undefined) this.#hangUp();
      else if (calls.length > 0) void this.#carryOut(calls);
      else {
        this.#emit({ type: "listen", forMs: IDLE_MS });
        this.#next();
      }
    }
  }

  /** Carries out what the model calls, then lets it go on. */
  async #carryOut(calls: readonly { readonly call: string; readonly action: Action }[]): Promise<void> {
    const moment = this.#moment;
    for (const { action } of calls) if (action.do === "press") this.#emit({ type: "press", keys: action.keys });
    const transfer = calls.find(({ action }) => action.do === "transfer");
    const { outputs, hangsUp } = await runCalls(calls.filter((one) => one !== transfer));
    if (this.#isOver) return;
    if (hangsUp && moment === this.#moment) {
      this.#hangUp();
      return;
    }
    for (const [call, output] of outputs) this.#link?.send(functionOutput(call, output));
    if (moment !== this.#moment) {
      if (transfer) this.#link?.send(functionOutput(transfer.call, "error: not done, because the callee interrupted"));
      return;
    }
    if (transfer?.action.do === "transfer") {
      this.#transfer = transfer.call;
      this.#emit({ type: "transfer", to: transfer.action.to });
      return;
    }
    this.#create({ to: "words", continues: true, wordsOnly: ++this.#steps >= MOST_STEPS - 1 });
  }

  #hangUp(): void {
    this.#emit({ type: "hang_up", ...this.#closing });
    this.#end();
  }

  /** Lets the model say goodbye, and hangs up. @param limit that is reached */
  #close(limit?: string): void {
    if (this.#closing !== undefined || this.#isOver) return;
    this.#closing = limit === undefined ? {} : { detail: `the agent was at its limit of ${limit}` };
    this.#link?.send(NO_MORE_TURNS);
    this.#owesTurn = false;
    this.#happens("[The call ends now. Say goodbye in one short sentence.]", { to: "silence", wordsOnly: true });
  }

  /** Notifies the model of what has happened, and requests a reply. */
  #happens(text: string, wanted: Wanted): void {
    this.#moment++;
    this.#steps = 0;
    this.#askedIfThere = false;
    this.#history.add(text);
    this.#link?.send(itemCreate({ role: "user", text }));
    this.#cancel();
    this.#create(wanted);
  }

  /** Stops the current reply. */
  #cancel(): void {
    const response = this.#response;
    if (response === undefined || response.id === this.#muted) return;
    this.#muted = response.id;
    this.#link?.send({ type: "response.cancel", response_id: response.id });
    this.#expect();
  }

  /** Requests a reply, at once or as soon as the current one is over. */
  #create(wanted: Wanted): void {
    if (this.#response !== undefined || this.#requested !== undefined || this.#link === undefined) {
      this.#wanted = wanted;
      return;
    }
    const { instructions, wordsOnly } = wanted;
    const id = `reply_${++this.#requests}`;
    this.#requested = { id, wanted, dropped: false };
    this.#link.send({
      type: "response.create",
      event_id: id,
      response: {
        ...(instructions !== undefined && { instructions }),
        ...(wordsOnly === true && { tool_choice: "none" }),
      },
    });
    this.#expect();
  }

  /** Requests the reply that waits, if there is one. */
  #next(): void {
    const wanted = this.#wanted;
    if (wanted === undefined) return;
    this.#wanted = undefined;
    this.#create(wanted);
  }

  #error({ code, request, fault }: Extract<RealtimeEvent, { type: "error" }>): void {
    const requested = this.#requested;
    if (code === "conversation_already_has_active_response") {
      // The server has begun a reply by itself; the end of that one is the moment for ours.
      if (requested === undefined) return;
      this.#requested = undefined;
      if (!requested.dropped) this.#wanted = requested.wanted;
      return;
    }
    if (code === "response_cancel_not_active") {
      if (this.#response?.id !== this.#muted) return;
      this.#response = undefined;
      this.#next();
      return;
    }
    const why = `reports: ${fault}`;
    if (isPermanentCode(code)) this.#giveUp(why);
    else if (requested !== undefined && request === requested.id) {
      this.#requested = undefined;
      this.#settle();
      this.#failed(requested.wanted, why);
    } else this.#emit({ type: "fault", detail: this.#faultText(why) });
  }

  /** A reply has failed: it is requested once more. */
  #failed(reply: Wanted, why: string): void {
    if (this.#failedOnce) {
      this.#giveUp(why);
      return;
    }
    this.#failedOnce = true;
    this.#emit({ type: "fault", detail: this.#faultText(why) });
    this.#create({ ...reply, continues: reply.continues ?? false });
  }

  /** Something is due from the server: its silence is noticed from now on. */
  #expect(): void {
    clearTimeout(this.#due);
    const { timeoutMs } = this.#server;
    this.#due = setTimeout(() => this.#link?.drop(`sent nothing for ${timeoutMs} ms`), timeoutMs);
  }

  #settle(): void {
    clearTimeout(this.#due);
    this.#due = undefined;
  }

  /** The connection is gone, or useless: another one continues the conversation, once. */
  #lost(fault: RealtimeFault): void {
    if (this.#isOver) return;
    const due = this.#response?.reply ?? this.#requested?.wanted ?? this.#wanted;
    const owed = due ?? (this.#owesTurn ? { to: "words" as const } : undefined);
    if (this.#response) for (const item of this.#response.items) this.#emit({ type: "item_end", item });
    this.#link = undefined;
    this.#response = this.#requested = this.#wanted = undefined;
    this.#owesTurn = false;
    this.#settle();
    if (this.#failedOnce || fault.isPermanent) this.#fail(fault.message);
    else {
      this.#failedOnce = true;
      this.#emit({ type: "fault", detail: fault.message });
      void this.#reconnect(owed);
    }
  }

  async #reconnect(owed: Wanted | undefined): Promise<void> {
    try {
      const link = await this.#connect();
      if (this.#isOver) {
        link.close();
        return;
      }
      this.#link = link;
      if (this.#closing) link.send(NO_MORE_TURNS);
      for (const remark of this.#history.remarks) link.send(itemCreate(remark));
      const wanted = this.#wanted ?? owed;
      this.#wanted = undefined;
      if (wanted !== undefined) this.#create(wanted);
      else if (this.#format !== undefined) this.#emit({ type: "listen", forMs: IDLE_MS });
    } catch (error) {
      if (!this.#isOver) this.#fail((error as Error).message);
    }
  }

  #giveUp(why: string): void {
    this.#fail(this.#faultText(why));
  }

  #fail(detail: string): void {
    if (this.#isOver) return;
    this.#emit({ type: "say", text: phrasesIn(this.#brief.language).apology });
    this.#emit({ type: "fail", detail });
    this.#end();
  }

  #faultText(why: string): string {
    return withoutSecrets(`the model's server ${why}`, this.#server.secrets);
  }

  /** Nothing follows; what has been emitted is still carried out. */
  #end(): void {
    this.#isOver = true;
    this.#settle();
    this.#link?.close();
    this.events.close();
  }
}

type Action = ReturnType<ResponseCalls["whole"]>[number]["action"];
