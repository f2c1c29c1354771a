import { setTimeout as pause } from "node:timers/promises";
import type { EventView } from "../support/server-client.ts";
import type { Stage } from "./stage.ts";

const LIMIT = 4;
const IDLE_MS = 10;

/** Follows GET /v1/events from the first event on, by the cursor that each page names, across all restarts. */
export class EventReader {
  readonly #stage: Stage;
  /** Events read, by id, in order of arrival. */
  readonly seen: Map<string, EventView> = new Map();
  #cursor: string | undefined;
  /** True if every page has named the next cursor. */
  everyPageNamesItsCursor = true;

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  async follow(hasEnded: () => boolean): Promise<void> {
    while (!hasEnded()) if (!(await this.read())) await pause(IDLE_MS);
  }

  /** Reads one page; returns true if it had a new event. */
  async read(limit = LIMIT): Promise<boolean> {
    const { server, journal } = this.#stage;
    const cursor = this.#cursor === undefined ? "" : `&cursor=${this.#cursor}`;
    const answer = await server.ask("GET", `/v1/events?limit=${limit}${cursor}`);
    if (answer?.status !== 200) return false;
    const next = answer.headers["next-cursor"];
    const linked = /[?&]cursor=([^&>]+)/.exec(answer.headers.link ?? "")?.[1];
    let isNew = false;
    for (const event of answer.json<EventView[]>()) {
      // Without a next cursor, the last page is polled.
      if (this.seen.has(event.id) && this.everyPageNamesItsCursor && next !== undefined)
        journal.violated("a reader sees every event once", event.id, `${event.type} came twice`);
      isNew ||= !this.seen.has(event.id);
      this.seen.set(event.id, event);
    }
    if (next === undefined) this.everyPageNamesItsCursor = false;
    this.#cursor = next === undefined ? (linked ?? this.#cursor) : encodeURIComponent(next);
    return isNew;
  }
}
