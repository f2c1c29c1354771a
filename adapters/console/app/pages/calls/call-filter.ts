import type { CallEvent, ListCallsQuery } from "../../../../../src/client/index.ts";
import { CALL_STATUSES, CALL_TYPES, type CallStatus, type CallType } from "../../../../../src/domain/calls/call.ts";
import { PHONE_NUMBER } from "../../../../../src/domain/numbers/phone-number.ts";
import type { ListedCall } from "./call-rows.ts";
import { phoneNumberOf } from "./typed-number.ts";

/** Filter for a list of calls; a missing field does not filter. */
export interface CallListFilter {
  readonly statuses?: readonly CallStatus[] | undefined;
  readonly type?: CallType | undefined;
  readonly instanceId?: string | undefined;
  readonly reference?: string | undefined;
  /** E.164. */
  readonly targetPhone?: string | undefined;
  /** The first day, in the browser's time zone: `2026-11-27`. */
  readonly from?: string | undefined;
  /** The last day. */
  readonly to?: string | undefined;
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** Reads the filter from the query of a page's address; leaves out invalid values. */
export function filterOf(search: string): CallListFilter {
  const query = new URLSearchParams(search);
  const text = (name: string): string | undefined => query.get(name)?.trim() || undefined;
  const statuses = text("status")?.split(",") ?? [];
  const knownStatuses = CALL_STATUSES.filter((status) => statuses.includes(status));
  const phone = text("number");
  return {
    ...(knownStatuses.length > 0 && { statuses: knownStatuses }),
    type: CALL_TYPES.find((type) => type === text("type")),
    instanceId: text("instance"),
    reference: text("reference"),
    targetPhone: phone && targetPhoneIn(phone),
    from: dayIn(text("from")),
    to: dayIn(text("to")),
  };
}

/** Parses a complete phone number for a filter; returns undefined for any other text, which the server would reject. */
export function targetPhoneIn(text: string): string | undefined {
  const number = phoneNumberOf(text);
  return PHONE_NUMBER.test(number) ? number : undefined;
}

/** The filter as query parameters of the page; undefined for missing fields. */
export function queryOf(filter: CallListFilter): Readonly<Record<string, string | undefined>> {
  const { statuses, type, instanceId, reference, targetPhone, from, to } = filter;
  return { status: statuses?.join(","), type, instance: instanceId, reference, number: targetPhone, from, to };
}

/** The query string of a list's address with this filter; empty without a filter. */
export function searchOf(filter: CallListFilter): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(queryOf(filter))) if (value) query.set(name, value);
  const text = query.toString();
  return text === "" ? "" : `?${text}`;
}

/** True if the filter may exclude calls. */
export function isFiltered(filter: CallListFilter): boolean {
  return searchOf(filter) !== "";
}

/** The query of the list. */
export function listQuery(filter: CallListFilter): Omit<ListCallsQuery<"outcome" | "reference">, "limit" | "cursor"> {
  const { statuses, type, instanceId, reference, targetPhone, from, to } = filter;
  return {
    status: statuses,
    type,
    instance_id: instanceId,
    reference,
    target_phone: targetPhone,
    // The server's bounds are exclusive.
    created_after: from && new Date(startOfDay(from) - 1).toISOString(),
    created_before: to && new Date(startOfDay(to, 1)).toISOString(),
    expand: ["outcome", "reference"],
  };
}

/** True if the list shows the call. */
export function matchesFilter(call: ListedCall, filter: CallListFilter): boolean {
  const { statuses, type, instanceId, reference, targetPhone, from, to } = filter;
  const createdAt = Date.parse(call.created_at);
  return (
    (statuses === undefined || statuses.includes(call.status)) &&
    (type === undefined || type === call.type) &&
    (instanceId === undefined || instanceId === call.instance_id) &&
    (reference === undefined || reference === call.reference) &&
    (targetPhone === undefined || targetPhone === call.target_phone) &&
    (from === undefined || createdAt >= startOfDay(from)) &&
    (to === undefined || createdAt < startOfDay(to, 1))
  );
}

/** True if the list may have to show the call that an event belongs to; events do not have all the filtered fields. */
export function mayMatch(event: CallEvent, status: CallStatus, filter: CallListFilter): boolean {
  const { statuses, type, instanceId, reference } = filter;
  const data = event.data as { readonly type?: unknown; readonly reference?: unknown };
  return (
    (statuses === undefined || statuses.includes(status)) &&
    (instanceId === undefined || instanceId === event.instance_id) &&
    (type === undefined || data.type === undefined || data.type === type) &&
    (reference === undefined || data.reference === reference)
  );
}

function dayIn(text: string | undefined): string | undefined {
  return text !== undefined && DAY.test(text) && !Number.isNaN(startOfDay(text)) ? text : undefined;
}

/** Midnight in the browser's time zone, ms since 1970; NaN for a day that does not exist. @param daysLater days later */
function startOfDay(day: string, daysLater = 0): number {
  const [year = 0, month = 0, date = 0] = day.split("-").map(Number);
  const start = new Date(year, month - 1, date + daysLater);
  const exists = daysLater > 0 || (start.getMonth() === month - 1 && start.getDate() === date);
  return exists && year >= 1970 ? start.getTime() : Number.NaN;
}
