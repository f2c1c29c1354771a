import { type ReadonlySignal, signal } from "@preact/signals";
import { idTime } from "../../../../../src/base/ids.ts";
import type { CallEvent, CallsClient } from "../../../../../src/client/index.ts";
import { type CallListFilter, listQuery } from "./call-filter.ts";
import { CallRows, type ListedCall } from "./call-rows.ts";

/** Calls on the first page, and on each further one. */
const PAGE = 100;
/** The largest page of the HTTP interface. */
const MAX_PAGE = 200;
/** Minimum time between two renderings of the list, ms, regardless of the number of events. */
const DRAWN_EVERY_MS = 200;
/** Delay from the report of a new call until all new calls are read together, ms. */
const READ_AFTER_MS = 150;
/** Pages that are read to find new calls; older calls are on later pages. */
const MAX_PAGES = 5;

/** Source of a list of calls. */
export interface CallSource {
  readonly page: CallsClient["page"];
  /** Calls the listener with all new events. @returns a function that stops it */
  onEvents(listener: (events: readonly CallEvent[]) => void): () => void;
  /** Changes when events may have been missed. */
  readonly beginnings: ReadonlySignal<number>;
}

/** The list of a filter: pages that are read on demand, kept up to date by the events of the account. */
export class CallChanges {
  /** Newest first. */
  readonly rows = signal<readonly ListedCall[]>([]);
  /** True once the first page has arrived. */
  readonly loaded = signal(false);
  /** True if there are no further pages. */
  readonly complete = signal(false);
  /** Fault of reading the latest page. */
  readonly fault = signal<unknown>(undefined);
  readonly #filter: CallListFilter;
  readonly #source: CallSource;
  #calls: CallRows;
  #cursor: string | undefined;
  #reading: Promise<void> | undefined;
  readonly #stop = new AbortController();
  /** New calls that have not been read, each with the time of its creation. */
  readonly #unknown = new Map<string, number>();
  #drawing: ReturnType<typeof setTimeout> | undefined;
  #finding: ReturnType<typeof setTimeout> | undefined;

  constructor(filter: CallListFilter, source: CallSource) {
    this.#filter = filter;
    this.#source = source;
    this.#calls = new CallRows(filter);
  }

  /** Reads the first page and follows the events. @returns a function that stops both */
  start(): () => void {
    const unfollow = this.#source.onEvents((events) => this.#take(events));
    // Runs at once, and again when events may have been missed.
    const unsubscribe = this.#source.beginnings.subscribe(() => void this.#startOver());
    return () => {
      this.#stop.abort();
      clearTimeout(this.#drawing);
      clearTimeout(this.#finding);
      unfollow();
      unsubscribe();
    };
  }

  /** Reads the next page. */
  more(): Promise<void> {
    this.#reading ??= this.#readPage().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #startOver(): Promise<void> {
    await this.#reading;
    this.#calls = new CallRows(this.#filter);
    this.#cursor = undefined;
    await this.more();
  }

  async #readPage(): Promise<void> {
    const { signal } = this.#stop;
    const calls = this.#calls;
    if (calls.complete || signal.aborted) return;
    try {
      const page = await this.#source.page(
        { ...listQuery(this.#filter), limit: PAGE, cursor: this.#cursor },
        { signal },
      );
      if (calls !== this.#calls) return;
      calls.addPage(page.items, page.next === undefined);
      this.#cursor = page.next;
      this.fault.value = undefined;
      this.#draw();
      this.loaded.value = true;
    } catch (error) {
      if (!signal.aborted) this.fault.value = error;
    }
  }

  #take(events: readonly CallEvent[]): void {
    let changed = false;
    for (const event of events) {
      const effect = this.#calls.apply(event);
      changed ||= effect === "changed";
      if (effect === "unknown_call" && event.call_id !== null)
        this.#unknown.set(event.call_id, idTime(event.call_id) ?? Date.parse(event.timestamp));
    }
    if (changed) this.#drawing ??= setTimeout(() => this.#draw(), DRAWN_EVERY_MS);
    if (this.#unknown.size > 0) this.#finding ??= setTimeout(() => void this.#find(), READ_AFTER_MS);
  }

  #draw(): void {
    clearTimeout(this.#drawing);
    this.#drawing = undefined;
    this.rows.value = this.#calls.list;
    this.complete.value = this.#calls.complete;
  }

  /** Reads the newest pages until they have every new call, or are older than all of them. */
  async #find(): Promise<void> {
    const { signal } = this.#stop;
    const missing = new Map(this.#unknown);
    this.#unknown.clear();
    let limit = Math.min(MAX_PAGE, 10 + 2 * missing.size);
    let cursor: string | undefined;
    try {
      for (let pages = 0; pages < MAX_PAGES && missing.size > 0; pages++) {
        const { items, next } = await this.#source.page({ ...listQuery(this.#filter), limit, cursor }, { signal });
        for (const call of items) {
          missing.delete(call.id);
          this.#calls.put(call);
        }
        const oldest = Date.parse(items.at(-1)?.created_at ?? "");
        for (const [id, createdAt] of missing) if (!(createdAt <= oldest)) missing.delete(id);
        if (next === undefined) break;
        cursor = next;
        limit = MAX_PAGE;
      }
      this.#draw();
    } catch {
      // The next event of such a call asks for it again, and so does the next beginning of the events.
    }
    this.#finding = undefined;
    if (this.#unknown.size > 0 && !signal.aborted) this.#finding = setTimeout(() => void this.#find(), READ_AFTER_MS);
  }
}
