import { isId } from "../base/ids.ts";

/** Where a reader of a log stands: the position of the last event seen, or, in a cursor of before, its id; `latest`: at the end. */
export type LogPlace = { readonly position: number } | { readonly eventId: string } | "latest";

/** The cursor of a reader that has seen everything up to this position; 0: nothing. */
export function eventCursor(position: number): string {
  return encodeCursor(`log_${position}`);
}

/** The place that a cursor names; undefined if invalid. */
export function logPlace(cursor: string): LogPlace | undefined {
  if (cursor === "latest") return cursor;
  const text = decodeCursor(cursor);
  if (text === undefined) return undefined;
  if (isId("evt", text)) return { eventId: text };
  const [, position] = /^log_(0|[1-9]\d{0,14})$/.exec(text) ?? [];
  return position === undefined ? undefined : { position: Number(position) };
}

/** The cursor that leads to what comes after an item: opaque, and safe in a URL. */
export function encodeCursor(text: string): string {
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** What a cursor was made of; undefined if invalid. */
export function decodeCursor(cursor: string): string | undefined {
  if (!/^[\w-]{1,64}$/.test(cursor)) return undefined;
  try {
    return atob(cursor.replaceAll("-", "+").replaceAll("_", "/"));
  } catch {
    return undefined;
  }
}
