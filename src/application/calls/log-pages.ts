import { eventCursor, type LogMark, type LogPlace, logPlace } from "../../domain/cursor.ts";
import { type LoggedEvent, withoutPosition } from "../../domain/events.ts";
import { Refusal } from "../../domain/refusal.ts";
import type { EventStore, LogPage } from "../../ports/storage.ts";
import { shortenedId } from "../instances/owned-instance.ts";
import type { EventPage, EventQuery } from "../use-cases.ts";

type EventPositions = Pick<EventStore, "positionOf" | "positionBefore" | "lookUp">;

const START: LogMark = { position: 0, eventId: null };

/**
 * Reads one page of a log from a cursor on.
 * @param read the log, by position
 * @throws {Refusal} `invalid_request`: the cursor is invalid; `log_reset`: the log no longer has the event that it
 *   names
 */
export async function readLog(
  events: EventPositions,
  userId: string,
  { cursor, limit }: EventQuery,
  read: (page: LogPage) => Promise<readonly LoggedEvent[]>,
): Promise<EventPage> {
  const place = cursor === undefined ? START : placeOf(cursor);
  const mark = await markOf(events, userId, place);
  // Reads one event more than the page size, to detect a further page.
  const entries = await read({ after: mark.position, limit: limit === undefined ? undefined : limit + 1 });
  // Checked after the page, so that the cursor matches it. Other marks were just read from the log.
  if (mark === place) await assertNotReset(events, userId, mark);
  const page = limit === undefined ? entries : entries.slice(0, limit);
  const cursors = page.map(({ position, id }) => eventCursor({ position, eventId: id }));
  return {
    events: page.map(withoutPosition),
    cursors,
    cursor: cursors.at(-1) ?? eventCursor(mark),
    more: entries.length > page.length,
  };
}

/** @throws {Refusal} `invalid_request` */
function placeOf(cursor: string): LogPlace {
  const place = logPlace(cursor);
  if (place) return place;
  const detail = `cursor is "${shortenedId(cursor)}": it must come from a page of events; omit it to start at the first event`;
  throw new Refusal("invalid_request", detail, { errors: [{ pointer: "/cursor", code: "value_invalid", detail }] });
}

async function markOf(events: EventPositions, userId: string, place: LogPlace): Promise<LogMark> {
  if (place === "latest") {
    const { last, eventId } = await events.lookUp(userId);
    return { position: last, eventId };
  }
  if (place.position !== undefined) return place;
  return { position: await events.positionOf(userId, place.eventId), eventId: null };
}

/**
 * Compares what a reader has seen with the log. A database that was restored to an earlier state, from a copy or by a
 * failover to a replica that lagged, is shorter or has a different event there.
 * @throws {Refusal} `log_reset`, with a cursor after which every event is newer than the reader's latest
 */
async function assertNotReset(events: EventPositions, userId: string, { position, eventId }: LogMark): Promise<void> {
  if (position === 0) return;
  const entry = await events.lookUp(userId, position);
  const isReplaced = entry.eventId !== null && eventId !== null && entry.eventId !== eventId;
  if (position <= entry.last && !isReplaced) return;
  const start = eventId === null ? 0 : await events.positionBefore(userId, eventId);
  const previousId = start === 0 ? null : (await events.lookUp(userId, start)).eventId;
  const cursor = eventCursor({ position: start, eventId: previousId });
  const detail =
    `the database was restored to an earlier state, and the event that your cursor refers to is no longer there; ` +
    `continue from the cursor ${cursor} and skip the events whose ids you have seen`;
  throw new Refusal("log_reset", detail, { cursor });
}
