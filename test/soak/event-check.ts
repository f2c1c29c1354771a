/** A `call_event` from the server. */
export interface CallEvent {
  readonly type: string;
  readonly event: string;
  readonly timestamp: string;
  readonly digit?: string;
  readonly name?: string;
  readonly reason?: string;
}

/** Events about this connection or server instead of the call, which are not replayed. */
const CONNECTION_EVENTS: ReadonlySet<string> = new Set(["buffer_high", "buffer_low", "transcripts_unavailable"]);

/**
 * The events of one call over all of its connections. A client that attaches again gets all of them again: this detects missing and differing ones.
 */
export class EventCheck {
  readonly events: CallEvent[] = [];
  /** Number of events that were replayed with different contents. */
  mismatches = 0;
  readonly #texts: string[] = [];
  #position = 0;

  /** Handles a new connection, on which all events are replayed. */
  restart(): void {
    this.#position = 0;
  }

  /** Takes a message; returns its event if it is new. */
  take(text: string): CallEvent | undefined {
    const event = JSON.parse(text) as CallEvent;
    if (event.type !== "call_event" || CONNECTION_EVENTS.has(event.event)) return undefined;
    const expected = this.#texts[this.#position++];
    if (expected !== undefined) {
      if (expected !== text) this.mismatches++;
      return undefined;
    }
    this.#texts.push(text);
    this.events.push(event);
    return event;
  }

  /** Number of earlier events not yet replayed on this connection. */
  get missingCount(): number {
    return Math.max(0, this.#texts.length - this.#position);
  }
}
