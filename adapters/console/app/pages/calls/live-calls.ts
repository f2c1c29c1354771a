import { type ReadonlySignal, signal } from "@preact/signals";
import { idTime } from "../../../../../src/base/ids.ts";
import type { CallEvent, CallsClient } from "../../../../../src/client/index.ts";
import { type CallListFilter, listQuery } from "./call-filter.ts";
import { CallRows, type ListedCall } from "./call-rows.ts";

/** Number of calls per page. */
const PAGE_SIZE = 100;
/** The HTTP API's maximum page size. */
const MAX_PAGE_SIZE = 200;
/** Minimum time between two renderings of the list, ms. */
const DRAW_INTERVAL_MS = 200;
/** Delay before new calls are read, so that one request reads several, ms. */
const READ_DELAY_MS = 150;
/** Maximum number of pages read to find new calls. */
const MAX_PAGES = 5;

/** Source of a list of calls. */
export interface CallSource {
  readonly page: CallsClient["page"];
  /** Calls the listener with all new events. @returns a function that removes the listener */
  onEvents(listener: (events: readonly CallEvent[]) => void): () => void;
  /** Changes when events may have been missed. */
  readonly streamStarts: ReadonlySignal<number>;
}

/** The calls that match a filter, read page by page and kept up to date by the account's events. */
export class LiveCallList {
  /** Newest first. */
  readonly rows = signal<readonly ListedCall[]>([]);
  /** True once the first page has arrived. */
  readonly isLoaded = signal(false);
  /** True if there are no further pages. */
  readonly isComplete = signal(false);
  /** Error of the latest read. */
  readonly fault = signal<unknown>(undefined);
  readonly #filter: CallListFilter;
  readonly #source: CallSource;
  #calls: CallRows;
  #cursor: string | undefined;
  #pageRead: Promise<void> | undefined;
  readonly #controller = new AbortController();
  /** New calls that have not been read, each with its creation time. */
  readonly #unknownCalls = new Map<string, number>();
  #drawTimer: ReturnType<typeof setTimeout> | undefined;
  #findTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(filter: CallListFilter, source: CallSource) {
    this.#filter = filter;
    this.#source = source;
    this.#calls = new CallRows(filter);
  }

  /** Reads the first page and follows the events. @returns a function that stops both */
  start(): () => void {
    const unfollow = this.#source.onEvents((events) => this.#applyEvents(events));
    // Runs immediately, and again when events may have been missed.
    const unsubscribe = this.#source.streamStarts.subscribe(() => void this.#restart());
    return () => {
      this.#controller.abort();
      clearTimeout(this.#drawTimer);
      clearTimeout(this.#findTimer);
      unfollow();
      unsubscribe();
    };
  }

  /** Reads the next page. */
  loadMore(): Promise<void> {
    this.#pageRead ??= this.#readPage().finally(() => {
      this.#pageRead = undefined;
    });
    return this.#pageRead;
  }

  async #restart(): Promise<void> {
    await this.#pageRead;
    this.#calls = new CallRows(this.#filter);
    this.#cursor = undefined;
    await this.loadMore();
  }

  async #readPage(): Promise<void> {
    const { signal } = this.#controller;
    const calls = this.#calls;
    if (calls.isComplete || signal.aborted) return;
    try {
      const page = await this.#source.page(
        { ...listQuery(this.#filter), limit: PAGE_SIZE, cursor: this.#cursor },
        { signal },
      );
      if (calls !== this.#calls) return;
      calls.addPage(page.items, page.next === undefined);
      this.#cursor = page.next;
      this.fault.value = undefined;
      this.#draw();
      this.isLoaded.value = true;
    } catch (error) {
      if (!signal.aborted) this.fault.value = error;
    }
  }

  #applyEvents(events: readonly CallEvent[]): void {
    let hasChanged = false;
    for (const event of events) {
      const effect = this.#calls.apply(event);
      hasChanged ||= effect === "changed";
      if (effect === "unknown_call" && event.call_id !== null)
        this.#unknownCalls.set(event.call_id, idTime(event.call_id) ?? Date.parse(event.timestamp));
    }
    if (hasChanged) this.#drawTimer ??= setTimeout(() => this.#draw(), DRAW_INTERVAL_MS);
    if (this.#unknownCalls.size > 0) this.#findTimer ??= setTimeout(() => void this.#readUnknownCalls(), READ_DELAY_MS);
  }

  #draw(): void {
    clearTimeout(this.#drawTimer);
    this.#drawTimer = undefined;
    this.rows.value = this.#calls.list;
    this.isComplete.value = this.#calls.isComplete;
  }

  /** Reads the newest pages until every new call has been found, or cannot be on a later page. */
  async #readUnknownCalls(): Promise<void> {
    const { signal } = this.#controller;
    const missingCalls = new Map(this.#unknownCalls);
    this.#unknownCalls.clear();
    let limit = Math.min(MAX_PAGE_SIZE, 10 + 2 * missingCalls.size);
    let cursor: string | undefined;
    try {
      for (let pages = 0; pages < MAX_PAGES && missingCalls.size > 0; pages++) {
        const { items, next } = await this.#source.page({ ...listQuery(this.#filter), limit, cursor }, { signal });
        for (const call of items) {
          missingCalls.delete(call.id);
          this.#calls.put(call);
        }
        const oldestTime = Date.parse(items.at(-1)?.created_at ?? "");
        for (const [id, createdAt] of missingCalls) if (!(createdAt <= oldestTime)) missingCalls.delete(id);
        if (next === undefined) break;
        cursor = next;
        limit = MAX_PAGE_SIZE;
      }
      this.#draw();
    } catch {
      // The call is read again after its next event, or when the event stream restarts.
    }
    this.#findTimer = undefined;
    if (this.#unknownCalls.size > 0 && !signal.aborted)
      this.#findTimer = setTimeout(() => void this.#readUnknownCalls(), READ_DELAY_MS);
  }
}
