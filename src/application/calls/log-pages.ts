import { eventCursor, logPlace } from "../../domain/cursor.ts";
import { type LoggedEvent, withoutPosition } from "../../domain/events.ts";
import { Refusal } from "../../domain/refusal.ts";
import type { EventStore, LogPage } from "../../ports/storage.ts";
import { shortened } from "../instances/owned-instance.ts";
import type { EventPage, EventQuery } from "../use-cases.ts";

type Places = Pick<EventStore, "positionOf" | "lastPosition">;

/**
 * Reads one page of a log from a cursor on.
 * @param read the log, by position
 * @throws {Refusal} `invalid_request`: the cursor is invalid
 */
export async function readLog(
  events: Places,
  userId: string,
  { cursor, limit }: EventQuery,
  read: (page: LogPage) => Promise<readonly LoggedEvent[]>,
): Promise<EventPage> {
  const after = cursor === undefined ? 0 : await positionAt(events, userId, cursor);
  // One more than the page has, to know whether there is another page.
  const found = await read({ after, limit: limit === undefined ? undefined : limit + 1 });
  const page = limit === undefined ? found : found.slice(0, limit);
  return {
    events: page.map(withoutPosition),
    cursors: page.map(({ position }) => eventCursor(position)),
    cursor: eventCursor(page.at(-1)?.position ?? after),
    more: found.length > page.length,
  };
}

async function positionAt(events: Places, userId: string, cursor: string): Promise<number> {
  const place = logPlace(cursor);
  if (!place) {
    const detail = `cursor is "${shortened(cursor)}": it must come from a page of events; omit it to start at the first event`;
    throw new Refusal("invalid_request", detail, { errors: [{ pointer: "/cursor", code: "value_invalid", detail }] });
  }
  if (place === "latest") return events.lastPosition(userId);
  return "position" in place ? place.position : events.positionOf(userId, place.eventId);
}
