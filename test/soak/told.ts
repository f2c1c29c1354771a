/** A `call_event` as it comes from the server. */
export interface CallEvent {
  readonly type: string;
  readonly event: string;
  readonly timestamp: string;
  readonly digit?: string;
  readonly name?: string;
  readonly reason?: string;
}

/** Events that tell about this connection, or this server, and not about the call: nobody is told them again. */
const NOT_OF_THE_CALL: ReadonlySet<string> = new Set(["buffer_high", "buffer_low", "transcripts_unavailable"]);

/**
 * What a server has told about one call over all of its connections. Whoever attaches himself again is told everything
 * again: this finds what is missing then, and what is different.
 */
export class Told {
  readonly events: CallEvent[] = [];
  /** Told again, and not as before. */
  wrong = 0;
  readonly #texts: string[] = [];
  #at = 0;

  /** A new connection: everything is to come again. */
  again(): void {
    this.#at = 0;
  }

  /** Takes a message; answers the event that is in it, where it is told for the first time. */
  take(text: string): CallEvent | undefined {
    const event = JSON.parse(text) as CallEvent;
    if (event.type !== "call_event" || NOT_OF_THE_CALL.has(event.event)) return undefined;
    const known = this.#texts[this.#at++];
    if (known !== undefined) {
      if (known !== text) this.wrong++;
      return undefined;
    }
    this.#texts.push(text);
    this.events.push(event);
    return event;
  }

  /** How much of what was told before this connection has not been told again on it. */
  get missing(): number {
    return Math.max(0, this.#texts.length - this.#at);
  }
}
