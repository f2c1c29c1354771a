import type { StreamClient, StreamEvent, StreamEventName, Transcript } from "./stream-client.ts";

/** Events that are remembered; of those that come again and again the oldest are forgotten. */
const MOST_REMEMBERED = 1_000;
const PASSING: ReadonlySet<StreamEventName> = new Set(["dtmf", "beep", "mark", "cleared"]);

/** What has happened on a call with a live stream, for clients who attach themselves later. */
export class StreamPast {
  readonly #events: StreamEvent[] = [];
  /** What was said while no client was there. */
  readonly #missed: Transcript[] = [];

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

  /** Something was said and nobody was there to be told. */
  missed(transcript: Transcript): void {
    if (this.#missed.push(transcript) > MOST_REMEMBERED) this.#missed.shift();
  }

  /** Tells every event again, and once what was missed. */
  tell(client: StreamClient): void {
    for (const event of this.#events) client.event(event);
    for (const transcript of this.#missed.splice(0)) client.transcript(transcript);
  }
}
