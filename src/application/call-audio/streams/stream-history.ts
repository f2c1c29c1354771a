import type { StreamClient, StreamEvent, StreamEventName, Transcript } from "./stream-client.ts";

/** Events that are remembered; of those that come again and again the oldest are forgotten. */
const MOST_REMEMBERED = 1_000;
const PASSING: ReadonlySet<StreamEventName> = new Set(["dtmf", "beep", "mark", "cleared"]);
/** What was told so short a time before a sign of life may still be on its way, ms. */
const ON_ITS_WAY_MS = 2_000;
/** A client that is gone without a word is noticed earlier than this, ms. */
const NOTICED_MS = 15_000;

/** What has happened on a call with a live stream, for clients who attach themselves later. */
export class StreamHistory {
  readonly #events: StreamEvent[] = [];
  /** What was said, final, and nobody was told, or only one who may not have got it. */
  #missed: Transcript[] = [];
  /** What was said and told to the client that is there, since its last sign of life. */
  #told: { readonly transcript: Transcript; readonly at: number }[] = [];

  /** Whether nothing has happened yet. */
  get empty(): boolean {
    return this.#events.length === 0 && this.#missed.length === 0;
  }

  add(event: StreamEvent): void {
    this.#events.push(event);
    if (this.#events.length <= MOST_REMEMBERED) return;
    const oldest = this.#events.findIndex(({ event: name }) => PASSING.has(name));
    this.#events.splice(Math.max(0, oldest), 1);
  }

  /** Something was said, is final, and nobody was there to be told. */
  missed(transcript: Transcript): void {
    if (this.#missed.push(transcript) > MOST_REMEMBERED) this.#missed.shift();
  }

  /** Something was said, is final, and the client has been told at this time, ms. */
  told(transcript: Transcript, at: number): void {
    if (this.#told.push({ transcript, at }) > MOST_REMEMBERED) this.#told.shift();
  }

  /** The client has given a sign of life at this time, ms. */
  alive(at: number): void {
    while (this.#told[0] && this.#told[0].at < at - ON_ITS_WAY_MS) this.#told.shift();
  }

  /** The client is gone at this time, ms, and may be so since its last sign of life. */
  gone(at: number): void {
    for (const told of this.#told.splice(0)) if (told.at >= at - NOTICED_MS) this.missed(told.transcript);
  }

  /** Tells every event again, and what was missed; at this time, ms. */
  tell(client: StreamClient, at: number): void {
    for (const event of this.#events) client.event(event);
    this.#told = this.#missed.map((transcript) => ({ transcript, at }));
    this.#missed = [];
    for (const { transcript } of [...this.#told]) client.transcript(transcript);
  }
}
