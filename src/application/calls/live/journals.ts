import type { Call } from "../../../domain/calls/call.ts";

/** Events of all journals that may wait for the storage before notes are dropped. */
const MAX_EVENTS = 100_000;

/** A journal that may hold something unsaved. */
interface Journal {
  readonly id: string;
  readonly call: Call;
}

/** The journals of this process that hold something the storage has not taken yet. */
export class Journals {
  /** Called with the number of pending events. */
  readonly #unsaved = new Map<Journal, number>();
  #events = 0;

  /** True if the event limit is reached, so that notes are dropped; moves of calls never are. */
  get full(): boolean {
    return this.#events >= MAX_EVENTS;
  }

  /** The journals that hold something unsaved, with the number of their events. */
  get unsaved(): ReadonlyMap<Journal, number> {
    return this.#unsaved;
  }

  /** The journal holds something: its number of events has changed by `events`, which may be negative. */
  add(journal: Journal, events: number): void {
    this.#unsaved.set(journal, (this.#unsaved.get(journal) ?? 0) + events);
    this.#events += events;
  }

  /** The journal is empty. */
  delete(journal: Journal): void {
    this.#events -= this.#unsaved.get(journal) ?? 0;
    this.#unsaved.delete(journal);
  }
}
