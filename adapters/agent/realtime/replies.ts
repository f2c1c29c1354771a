import type { AudioAgentEvent } from "../../../src/ports/audio-conversation.ts";
import type { RealtimeEvent } from "./realtime-events.ts";
import { responseCreate } from "./realtime-session.ts";
import type { ReconnectingLink } from "./reconnecting-link.ts";
import { ResponseCalls } from "./response-calls.ts";
import type { SpokenHistory } from "./spoken-history.ts";

/** A requested or pending reply. */
export interface ReplyRequest {
  readonly to: Extract<AudioAgentEvent, { type: "reply" }>["to"];
  /** True for a reply that follows a function call. */
  readonly continues?: boolean;
  /** True for a filler sentence while a slow function runs; the conversation does not change. */
  readonly fillsTime?: boolean;
  /** Replaces the session's instructions for this reply. */
  readonly instructions?: string | undefined;
  readonly wordsOnly?: boolean;
}

/** A reply that the server is working on. */
export interface Response {
  readonly id: string;
  readonly reply: ReplyRequest;
  readonly calls: ResponseCalls;
  /** Items that have not ended. */
  readonly items: Set<string>;
  /** True once the reply has produced audio. */
  hasSpoken: boolean;
}

type ReplyPart = Extract<RealtimeEvent, { type: "audio" | "words" | "all_words" | "item_done" }>;

/**
 * Manages the replies of a server that generates one reply at a time: the next one waits, and is dropped if the callee
 * interrupts.
 */
export class RealtimeReplies {
  readonly #link: ReconnectingLink;
  readonly #history: SpokenHistory;
  #current: Response | undefined;
  /** The request that the server has not started yet. */
  #openRequest: { readonly id: string; readonly reply: ReplyRequest; isDropped: boolean } | undefined;
  /** The reply to request as soon as the current one has ended. */
  #pending: ReplyRequest | undefined;
  /** True if the callee's turn has ended and the server should reply automatically. */
  #isTurnDue = false;
  /** Id of the reply whose audio is discarded. */
  #mutedId = "";
  #requestCount = 0;

  /** @param history receives the words of the replies */
  constructor(link: ReconnectingLink, history: SpokenHistory) {
    this.#link = link;
    this.#history = history;
  }

  get current(): Response | undefined {
    return this.#current;
  }

  /** Sets whether the server should reply automatically. */
  expectTurn(isDue: boolean): void {
    this.#isTurnDue = isDue;
    if (isDue) this.#link.expectMessage();
  }

  /** Requests a reply, immediately or as soon as the current one has ended. */
  request(reply: ReplyRequest): void {
    if (this.#current !== undefined || this.#openRequest !== undefined || !this.#link.isOpen) {
      this.#pending = reply;
      return;
    }
    const id = `reply_${++this.#requestCount}`;
    this.#openRequest = { id, reply, isDropped: false };
    this.#link.send(responseCreate(id, reply));
    this.#link.expectMessage();
  }

  /** Requests the pending reply, if any. */
  next(): void {
    const pending = this.takePending();
    if (pending !== undefined) this.request(pending);
  }

  /** Removes and returns the pending reply, so that it is not requested automatically; undefined if there is none. */
  takePending(): ReplyRequest | undefined {
    const pending = this.#pending;
    this.#pending = undefined;
    return pending;
  }

  /** Stops the current reply. */
  cancel(): void {
    const current = this.#current;
    if (current === undefined || current.id === this.#mutedId) return;
    this.#mutedId = current.id;
    this.#link.send({ type: "response.cancel", response_id: current.id });
    this.#link.expectMessage();
  }

  /** Stops the current reply and drops later ones. */
  interrupt(): void {
    this.#pending = undefined;
    if (this.#openRequest) this.#openRequest.isDropped = true;
    this.cancel();
  }

  /** Handles the start of a reply; returns undefined if the reply has already been interrupted. */
  begin(id: string): Response | undefined {
    const request = this.#openRequest;
    this.#openRequest = undefined;
    this.#isTurnDue = false;
    const reply = request?.reply ?? { to: "words" };
    this.#current = { id, reply, calls: new ResponseCalls(), items: new Set(), hasSpoken: false };
    this.#link.expectMessage();
    if (!request?.isDropped) return this.#current;
    this.cancel();
    return undefined;
  }

  /** Returns the agent's event for a part of a reply; undefined if the reply is not played. */
  part(event: ReplyPart): AudioAgentEvent | undefined {
    const { response, item } = event;
    const current = this.#current;
    if (response === this.#mutedId || response !== current?.id) return undefined;
    this.#link.expectMessage(); // the server is working
    current.items.add(item);
    switch (event.type) {
      case "audio":
        current.hasSpoken = true;
        return { type: "audio", item, bytes: event.bytes };
      case "words":
        return { type: "words", item, text: this.#history.extend(item, event.delta) };
      case "all_words":
        return { type: "words", item, text: this.#history.replace(item, event.text) };
      case "item_done":
        current.items.delete(item);
        return { type: "item_end", item };
    }
  }

  /** Adds a part of a function call, which also shows that the server is working. */
  calls({ response, call, name, input }: Extract<RealtimeEvent, { type: "call" }>): void {
    if (response !== this.#current?.id) return;
    this.#link.expectMessage();
    this.#current.calls.add(call, name, input);
  }

  /**
   * Handles the end of a response; returns undefined unless it completes the current reply. If the reply was stopped,
   * the pending one is requested.
   */
  end({ response: id, status }: Extract<RealtimeEvent, { type: "response_done" }>): Response | undefined {
    const current = this.#current;
    if (id !== current?.id) {
      this.next();
      return undefined;
    }
    this.#current = undefined;
    this.#link.stopTimeout();
    if (id === this.#mutedId || status === "cancelled") this.next();
    return id === this.#mutedId ? undefined : current;
  }

  /**
   * Postpones a request that the server refused because it has begun its own reply. The request is repeated when that
   * reply has ended.
   */
  postpone(): void {
    const request = this.#openRequest;
    this.#openRequest = undefined;
    if (request?.isDropped === false) this.#pending = request.reply;
  }

  /** Handles the error for cancelling a reply that the server does not know. */
  notCancelled(): void {
    if (this.#current?.id !== this.#mutedId) return;
    this.#current = undefined;
    this.next();
  }

  /** Handles a refused request; returns the reply that it was for, if any. */
  takeRefused(requestId: string): ReplyRequest | undefined {
    const request = this.#openRequest;
    if (request === undefined || requestId !== request.id) return undefined;
    this.#openRequest = undefined;
    this.#link.stopTimeout();
    return request.reply;
  }

  /** Handles a lost connection; returns the reply that was due and the items that were cut off. */
  lost(): { readonly dueReply: ReplyRequest | undefined; readonly items: readonly string[] } {
    const requestedReply = this.#current?.reply ?? this.#openRequest?.reply ?? this.#pending;
    const dueReply = requestedReply ?? (this.#isTurnDue ? { to: "words" as const } : undefined);
    const items = [...(this.#current?.items ?? [])];
    this.#current = this.#openRequest = this.#pending = undefined;
    this.#isTurnDue = false;
    return { dueReply, items };
  }
}
