import type { Storage } from "../../../src/ports/storage.ts";

const PAGE = 5;

/** One page of a user's events after a cursor, with the next cursor. */
async function pageOf(storage: Storage, userId: string, after: number) {
  const events = await storage.events.ofUser(userId, {}, { limit: PAGE, after });
  return { ids: events.map(({ id }) => id), cursor: events.at(-1)?.position ?? after };
}

/** A reader that follows a user's events by cursor, page by page. */
export class EventReader {
  readonly #storage: Storage;
  readonly #userId: string;
  /** Ids of the events read so far, in order. */
  readonly seenIds: string[] = [];
  #cursor = 0;

  constructor(storage: Storage, userId: string) {
    this.#storage = storage;
    this.#userId = userId;
  }

  /** Reads until no events are left. */
  async readNewEvents(): Promise<void> {
    for (;;) {
      const { ids, cursor } = await pageOf(this.#storage, this.#userId, this.#cursor);
      this.seenIds.push(...ids);
      this.#cursor = cursor;
      if (ids.length < PAGE) return;
    }
  }

  /** Ids of all events, read from the beginning. */
  async readAllIds(): Promise<string[]> {
    const reader = new EventReader(this.#storage, this.#userId);
    await reader.readNewEvents();
    return reader.seenIds;
  }
}
