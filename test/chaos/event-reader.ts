import { setTimeout as pause } from "node:timers/promises";
import type { EventView } from "../support/server-client.ts";
import type { SequenceContext } from "./sequence-context.ts";

const LIMIT = 4;
const IDLE_MS = 10;

/** Reads GET /v1/events from the first event, by each page's cursor, across all restarts. */
export class EventReader {
  readonly #context: SequenceContext;
  /** Events read, by id, in order of arrival. */
  readonly events: Map<string, EventView> = new Map();
  #cursor: string | undefined;
  /** True if every page has named the next cursor. */
  everyPageHasCursor = true;

  constructor(context: SequenceContext) {
    this.#context = context;
  }

  async readEvents(hasEnded: () => boolean): Promise<void> {
    while (!hasEnded()) if (!(await this.read())) await pause(IDLE_MS);
  }

  /** Reads one page; returns true if it had a new event. */
  async read(limit = LIMIT): Promise<boolean> {
    const { server, journal } = this.#context;
    const cursor = this.#cursor === undefined ? "" : `&cursor=${this.#cursor}`;
    const response = await server.request("GET", `/v1/events?limit=${limit}${cursor}`);
    if (response?.status !== 200) return false;
    const next = response.headers["next-cursor"];
    const linkCursor = /[?&]cursor=([^&>]+)/.exec(response.headers.link ?? "")?.[1];
    let isNew = false;
    for (const event of response.json<EventView[]>()) {
      // Without a next cursor, the last page is polled.
      if (this.events.has(event.id) && this.everyPageHasCursor && next !== undefined)
        journal.reportViolation("a reader sees every event once", event.id, `${event.type} came twice`);
      isNew ||= !this.events.has(event.id);
      this.events.set(event.id, event);
    }
    if (next === undefined) this.everyPageHasCursor = false;
    this.#cursor = next === undefined ? (linkCursor ?? this.#cursor) : encodeURIComponent(next);
    return isNew;
  }
}
