import type { AudioAgentEvent } from "../../../src/ports/audio-conversation.ts";
import type { LastingLink } from "./lasting-link.ts";
import type { RealtimeEvent } from "./realtime-events.ts";
import { responseCreate } from "./realtime-session.ts";
import { ResponseCalls } from "./response-calls.ts";
import type { SpokenHistory } from "./spoken-history.ts";

/** A requested or pending reply. */
export interface Wanted {
  readonly to: Extract<AudioAgentEvent, { type: "reply" }>["to"];
  /** True for a reply that follows a function call. */
  readonly continues?: boolean;
  /** A filler sentence while a slow function runs; the conversation does not change. */
  readonly fillsTime?: boolean;
  /** Replaces the instructions of the session for this reply. */
  readonly instructions?: string | undefined;
  readonly wordsOnly?: boolean;
}

/** A reply that the server works on. */
export interface Response {
  readonly id: string;
  readonly reply: Wanted;
  readonly calls: ResponseCalls;
  /** Items that have not ended. */
  readonly items: Set<string>;
  /** True once it has produced audio. */
  spoke: boolean;
}

type ReplyPart = Extract<RealtimeEvent, { type: "audio" | "words" | "all_words" | "item_done" }>;

/** The replies of a server, which makes one at a time: the next one waits, and is dropped if the callee interrupts. */
export class RealtimeReplies {
  readonly #link: LastingLink;
  readonly #history: SpokenHistory;
  #current: Response | undefined;
  /** The request that the server has not begun yet. */
  #requested: { readonly id: string; readonly wanted: Wanted; dropped: boolean } | undefined;
  /** The reply to request as soon as the current one has ended. */
  #pending: Wanted | undefined;
  /** True if the callee's turn has ended and the server should reply automatically. */
  #owesTurn = false;
  /** The reply whose audio is discarded. */
  #muted = "";
  #requests = 0;

  /** @param history gets the words of the replies */
  constructor(link: LastingLink, history: SpokenHistory) {
    this.#link = link;
    this.#history = history;
  }

  get current(): Response | undefined {
    return this.#current;
  }

  /** Sets whether the server should reply automatically. */
  expectTurn(isDue: boolean): void {
    this.#owesTurn = isDue;
    if (isDue) this.#link.expect();
  }

  /** Requests a reply, at once or as soon as the current one has ended. */
  request(reply: Wanted): void {
    if (this.#current !== undefined || this.#requested !== undefined || !this.#link.isOpen) {
      this.#pending = reply;
      return;
    }
    const id = `reply_${++this.#requests}`;
    this.#requested = { id, wanted: reply, dropped: false };
    this.#link.send(responseCreate(id, reply));
    this.#link.expect();
  }

  /** Requests the pending reply, if any. */
  next(): void {
    const pending = this.takeWaiting();
    if (pending !== undefined) this.request(pending);
  }

  /** Takes the pending reply, which is then no longer requested automatically; undefined if there is none. */
  takeWaiting(): Wanted | undefined {
    const pending = this.#pending;
    this.#pending = undefined;
    return pending;
  }

  /** Stops the current reply. */
  cancel(): void {
    const current = this.#current;
    if (current === undefined || current.id === this.#muted) return;
    this.#muted = current.id;
    this.#link.send({ type: "response.cancel", response_id: current.id });
    this.#link.expect();
  }

  /** Stops the current reply and drops later ones. */
  interrupt(): void {
    this.#pending = undefined;
    if (this.#requested) this.#requested.dropped = true;
    this.cancel();
  }

  /** Handles the start of a reply; undefined if it was interrupted before. */
  begins(id: string): Response | undefined {
    const requested = this.#requested;
    this.#requested = undefined;
    this.#owesTurn = false;
    const reply = requested?.wanted ?? { to: "words" };
    this.#current = { id, reply, calls: new ResponseCalls(), items: new Set(), spoke: false };
    this.#link.expect();
    if (!requested?.dropped) return this.#current;
    this.cancel();
    return undefined;
  }

  /** Returns the agent's event for a part of a reply; undefined if the reply is not played. */
  part(event: ReplyPart): AudioAgentEvent | undefined {
    const { response, item } = event;
    const current = this.#current;
    if (response === this.#muted || response !== current?.id) return undefined;
    this.#link.expect(); // the server is working
    current.items.add(item);
    switch (event.type) {
      case "audio":
        current.spoke = true;
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
    this.#link.expect();
    this.#current.calls.add(call, name, input);
  }

  /**
   * Handles the end of a response; undefined unless it completes the current reply. Requests the pending reply after a
   * stopped one.
   */
  ends({ response: id, status }: Extract<RealtimeEvent, { type: "response_done" }>): Response | undefined {
    const current = this.#current;
    if (id !== current?.id) {
      this.next();
      return undefined;
    }
    this.#current = undefined;
    this.#link.settle();
    if (id === this.#muted || status === "cancelled") this.next();
    return id === this.#muted ? undefined : current;
  }

  /**
   * Postpones a request that the server refused because it has begun a reply on its own: ours follows when that one
   * ends.
   */
  postpone(): void {
    const requested = this.#requested;
    this.#requested = undefined;
    if (requested?.dropped === false) this.#pending = requested.wanted;
  }

  /** Handles the error for cancelling a reply that the server does not know. */
  notCancelled(): void {
    if (this.#current?.id !== this.#muted) return;
    this.#current = undefined;
    this.next();
  }

  /** Handles a refused request; returns the reply that it was for, if any. */
  refused(request: string): Wanted | undefined {
    const requested = this.#requested;
    if (requested === undefined || request !== requested.id) return undefined;
    this.#requested = undefined;
    this.#link.settle();
    return requested.wanted;
  }

  /** Handles a lost connection; returns the reply that was due and the items that were cut off. */
  lost(): { readonly owed: Wanted | undefined; readonly items: readonly string[] } {
    const due = this.#current?.reply ?? this.#requested?.wanted ?? this.#pending;
    const owed = due ?? (this.#owesTurn ? { to: "words" as const } : undefined);
    const items = [...(this.#current?.items ?? [])];
    this.#current = this.#requested = this.#pending = undefined;
    this.#owesTurn = false;
    return { owed, items };
  }
}
