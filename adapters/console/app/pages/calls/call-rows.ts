import { idTime } from "../../../../../src/base/ids.ts";
import type { Call, CallEvent } from "../../../../../src/client/index.ts";
import type { CallStatus } from "../../../../../src/domain/calls/call.ts";
import type { CallListFilter } from "./call-filter.ts";
import { matchesFilter, mayMatch } from "./call-filter.ts";

/** A call in the list, with its outcome and reference. */
export type ListedCall = Call;

/** Rank of a status; a call's rank never decreases. */
const RANK: Readonly<Record<CallStatus, number>> = { QUEUED: 0, RINGING: 1, IN_PROGRESS: 2, COMPLETED: 3, FAILED: 3 };

/** A call's status after an event; undefined if the event does not change it. */
const STATUS_AFTER: Readonly<Partial<Record<CallEvent["type"], CallStatus>>> = {
  queued: "QUEUED",
  ringing: "RINGING",
  answered: "IN_PROGRESS",
  completed: "COMPLETED",
  failed: "FAILED",
};

/** Effect of an event on the list: a changed row, no change, or a call that has to be read first. */
export type EventEffect = "changed" | "unchanged" | "unknown_call";

/**
 * The calls in a list, newest first: read from the server page by page, and kept up to date by events. Rows are
 * replaced, never changed, so an identical object means an identical row.
 */
export class CallRows {
  readonly #filter: CallListFilter;
  readonly #rows = new Map<string, ListedCall>();
  /** The oldest call that has been read so far; older ones are on pages that have not been requested. */
  #oldestCall: ListedCall | undefined;
  #isComplete = false;
  #sortedRows: readonly ListedCall[] | undefined = [];

  constructor(filter: CallListFilter) {
    this.#filter = filter;
  }

  /** The rows, newest first; the same array until something changes. */
  get list(): readonly ListedCall[] {
    this.#sortedRows ??= [...this.#rows.values()].sort(newestFirst);
    return this.#sortedRows;
  }

  /** True if the last page has been read. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  get(id: string): ListedCall | undefined {
    return this.#rows.get(id);
  }

  /** Adds the next page. @param isLastPage true for the last page */
  addPage(calls: readonly ListedCall[], isLastPage: boolean): void {
    for (const call of calls) this.put(call);
    this.#oldestCall = calls.at(-1) ?? this.#oldestCall;
    this.#isComplete = isLastPage;
  }

  /** Adds a call or updates it; drops a call that does not match the filter. */
  put(call: ListedCall): void {
    const previous = this.#rows.get(call.id);
    if (previous !== undefined && RANK[previous.status] > RANK[call.status]) return;
    if (matchesFilter(call, this.#filter)) this.#rows.set(call.id, call);
    else if (!this.#rows.delete(call.id)) return;
    this.#sortedRows = undefined;
  }

  /** Applies an event about any call. */
  apply(event: CallEvent): EventEffect {
    const status = STATUS_AFTER[event.type];
    if (status === undefined || event.call_id === null) return "unchanged";
    const row = this.#rows.get(event.call_id);
    if (row === undefined) return this.#mayBelong(event, event.call_id, status) ? "unknown_call" : "unchanged";
    if (RANK[row.status] >= RANK[status]) return "unchanged";
    this.put(afterEvent(row, event, status));
    return "changed";
  }

  /** True if an unknown call may belong in the list: it may match the filter, and is not on a later page. */
  #mayBelong(event: CallEvent, id: string, status: CallStatus): boolean {
    if (!mayMatch(event, status, this.#filter)) return false;
    if (this.#isComplete) return true;
    const createdAt = idTime(id);
    return (
      this.#oldestCall !== undefined && createdAt !== undefined && createdAt >= Date.parse(this.#oldestCall.created_at)
    );
  }
}

function afterEvent(call: ListedCall, { timestamp, data }: CallEvent, status: CallStatus): ListedCall {
  switch (status) {
    case "QUEUED":
    case "RINGING":
      return { ...call, status };
    case "IN_PROGRESS":
      return { ...call, status, started_at: call.started_at ?? timestamp };
    case "COMPLETED":
    case "FAILED":
      return { ...call, status, ended_at: timestamp, outcome: outcomeIn(data) ?? call.outcome ?? null };
  }
}

/** The outcome in a final event's data, which has other fields too. */
function outcomeIn(data: object): ListedCall["outcome"] | undefined {
  if (!("reason" in data)) return undefined;
  const { reference: _, metadata: __, ...outcome } = data as Record<string, unknown>;
  return outcome as unknown as ListedCall["outcome"];
}

function newestFirst(a: ListedCall, b: ListedCall): number {
  if (a.created_at !== b.created_at) return a.created_at < b.created_at ? 1 : -1;
  return a.id < b.id ? 1 : -1;
}
