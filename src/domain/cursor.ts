import { isId } from "../base/ids.ts";

/** The last event that a reader of a log has seen. */
export interface LogMark {
  /** Position of the latest event that the reader has seen; 0 if there is none. */
  readonly position: number;
  /** Id of that event; null if unknown. */
  readonly eventId: string | null;
}

/** Position of a reader in a log: after an event, of which an old cursor has only the id; `latest`: at the end. */
export type LogPlace = LogMark | { readonly position?: undefined; readonly eventId: string } | "latest";

const PREFIX = "evt_";

/** The cursor of a reader that has seen everything up to this event. */
export function eventCursor({ position, eventId }: LogMark): string {
  return encodeCursor(eventId === null ? `log_${position}` : `log_${position}_${eventId.slice(PREFIX.length)}`);
}

/** The place that a cursor names; undefined if invalid. */
export function logPlace(cursor: string): LogPlace | undefined {
  if (cursor === "latest") return cursor;
  const text = decodeCursor(cursor);
  if (text === undefined) return undefined;
  if (isId("evt", text)) return { eventId: text };
  const [, position, id] = /^log_(0|[1-9]\d{0,14})(?:_(.+))?$/.exec(text) ?? [];
  if (position === undefined) return undefined;
  if (id === undefined) return { position: Number(position), eventId: null };
  const eventId = PREFIX + id;
  return isId("evt", eventId) ? { position: Number(position), eventId } : undefined;
}

/** The cursor for the items after this one: opaque and URL-safe. */
export function encodeCursor(text: string): string {
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** Contents of a cursor; undefined if invalid. */
export function decodeCursor(cursor: string): string | undefined {
  if (!/^[\w-]{1,64}$/.test(cursor)) return undefined;
  try {
    return atob(cursor.replaceAll("-", "+").replaceAll("_", "/"));
  } catch {
    return undefined;
  }
}
