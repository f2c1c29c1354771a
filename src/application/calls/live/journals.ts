import type { Call } from "../../../domain/calls/call.ts";

/** Maximum number of events of all journals that may wait for the storage before notes are dropped. */
const MAX_EVENTS = 100_000;

/** A journal that may have unsaved entries. */
interface Journal {
  readonly id: string;
  readonly call: Call;
}

/** The journals of this process with entries that are not stored yet. */
export class Journals {
  /** Number of unsaved events, by journal. */
  readonly #unsavedJournals = new Map<Journal, number>();
  #eventCount = 0;

  /** True if the event limit is reached, so that notes are dropped; moves of calls never are. */
  get isFull(): boolean {
    return this.#eventCount >= MAX_EVENTS;
  }

  /** The journals with unsaved entries, and the number of their events. */
  get unsavedEventCounts(): ReadonlyMap<Journal, number> {
    return this.#unsavedJournals;
  }

  /** Changes the number of a journal's unsaved events by `events`, which may be negative. */
  add(journal: Journal, events: number): void {
    this.#unsavedJournals.set(journal, (this.#unsavedJournals.get(journal) ?? 0) + events);
    this.#eventCount += events;
  }

  /** Removes a journal once it is empty. */
  delete(journal: Journal): void {
    this.#eventCount -= this.#unsavedJournals.get(journal) ?? 0;
    this.#unsavedJournals.delete(journal);
  }
}
