import type { StreamClient, StreamEvent, StreamEventName, Transcript } from "./stream-client.ts";

/** Maximum number of events kept; a further event drops the oldest repeatable event. */
const MAX_ENTRIES = 1_000;
const REPEATABLE: ReadonlySet<StreamEventName> = new Set(["dtmf", "beep", "mark", "cleared"]);
/** Time before a sign of life within which a sent transcript may still be in transit, ms. */
const IN_TRANSIT_MS = 2_000;
/** Longest time until a silent disconnect is noticed, ms. */
const SILENT_MS = 15_000;

/** Events and transcripts of a call with a live stream, for clients that attach later. */
export class StreamHistory {
  readonly #events: StreamEvent[] = [];
  /** Final transcripts that clients may have missed. */
  #missedTranscripts: Transcript[] = [];
  /** Final transcripts sent to the attached client since its last sign of life. */
  #sentTranscripts: { readonly transcript: Transcript; readonly at: number }[] = [];

  /** True if there has been no event yet. */
  get isEmpty(): boolean {
    return this.#events.length === 0 && this.#missedTranscripts.length === 0;
  }

  add(event: StreamEvent): void {
    this.#events.push(event);
    if (this.#events.length <= MAX_ENTRIES) return;
    const oldest = this.#events.findIndex(({ event: name }) => REPEATABLE.has(name));
    this.#events.splice(Math.max(0, oldest), 1);
  }

  /** Keeps a final transcript for the next client. */
  recordMissed(transcript: Transcript): void {
    if (this.#missedTranscripts.push(transcript) > MAX_ENTRIES) this.#missedTranscripts.shift();
  }

  /** Records that a final transcript was sent to the client at this time, ms. */
  recordDelivered(transcript: Transcript, at: number): void {
    if (this.#sentTranscripts.push({ transcript, at }) > MAX_ENTRIES) this.#sentTranscripts.shift();
  }

  /** Records that the client gave a sign of life at this time, ms. */
  recordSignOfLife(at: number): void {
    while (this.#sentTranscripts[0] && this.#sentTranscripts[0].at < at - IN_TRANSIT_MS) this.#sentTranscripts.shift();
  }

  /** Records that the client has disconnected at this time, ms, possibly as early as its last sign of life. */
  recordDisconnect(at: number): void {
    for (const entry of this.#sentTranscripts.splice(0))
      if (entry.at >= at - SILENT_MS) this.recordMissed(entry.transcript);
  }

  /** Sends a new client every event, and the transcripts that were missed, at this time, ms. */
  replay(client: StreamClient, at: number): void {
    for (const event of this.#events) client.event(event);
    this.#sentTranscripts = this.#missedTranscripts.map((transcript) => ({ transcript, at }));
    this.#missedTranscripts = [];
    for (const { transcript } of [...this.#sentTranscripts]) client.transcript(transcript);
  }
}
