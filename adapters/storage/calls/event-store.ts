import { type Compilable, type Kysely, PostgresAdapter, type RawBuilder, type SelectQueryBuilder, sql } from "kysely";
import { InternalError } from "../../../src/base/error.ts";
import type { Event, LoggedEvent } from "../../../src/domain/events.ts";
import type { EventStore, LogPage } from "../../../src/ports/storage.ts";
import { preparedQuery, type Session } from "../connected-database.ts";
import type { Database, EventRow } from "../tables/all-tables.ts";
import { RECORDS } from "../tables/stored-fields.ts";

/** Parameters of a page. */
interface PageKeys {
  readonly after: number;
  readonly limit?: number;
}
type UserPage = PageKeys & { readonly user_id: string; readonly instance_id?: string };
type EventKey = { readonly user_id: string; readonly id: string };
type PositionRange = { readonly user_id: string; readonly after: number; readonly last: number };

const CALL_EVENTS = preparedQuery((db, { call_id, ...page }: PageKeys & { readonly call_id: string }) =>
  countedPage(db, onPage(db.selectFrom("events").selectAll().where("call_id", "=", call_id), page), page.after),
);
const USER_EVENTS = preparedQuery((db, { user_id, instance_id, ...page }: UserPage) => {
  const userEvents = db.selectFrom("events").selectAll().where("user_id", "=", user_id);
  const selectedEvents = instance_id === undefined ? userEvents : userEvents.where("instance_id", "=", instance_id);
  return countedPage(db, onPage(selectedEvents, page), page.after);
});

const EVENT_POSITION = preparedQuery((db, { user_id, id }: EventKey) =>
  db.selectFrom("events").select("position").where("id", "=", id).where("user_id", "=", user_id),
);
const NUMBERED_UNTIL = preparedQuery((db, { user_id }: { readonly user_id: string }) =>
  db.selectFrom("event_counters").select("numbered").where("user_id", "=", user_id),
);
const LAST_ENTRY = preparedQuery((db, { user_id }: { readonly user_id: string }) => entryOf(db, user_id));
const ENTRY_AT = preparedQuery((db, { user_id, position }: { readonly user_id: string; readonly position: number }) =>
  entryOf(db, user_id, position),
);
const LAST_IN_RANGE = preparedQuery((db, { user_id, after, last }: PositionRange) =>
  db
    .selectFrom("events")
    .select(["id", "position"])
    .where("user_id", "=", user_id)
    .where("position", ">", after)
    .where("position", "<=", last)
    .orderBy("position", "desc")
    .limit(1),
);

/** The append-only log, in the order of its positions. */
export function eventStore(session: Session): EventStore {
  return {
    append: (events) => session.transaction((tx) => insertEvents(tx, events)),
    async ofCall(callId, page) {
      const rows = await session.query(CALL_EVENTS, { call_id: callId, ...keysOf(page) });
      return withSequences(rows).map(eventOf);
    },
    async ofUser(userId, { instanceId }, page) {
      const instance = instanceId === undefined ? {} : { instance_id: instanceId };
      const rows = await session.query(USER_EVENTS, { user_id: userId, ...instance, ...keysOf(page) });
      return withSequences(rows).map(eventOf);
    },
    async positionOf(userId, eventId) {
      const [row] = await session.query(EVENT_POSITION, { user_id: userId, id: eventId });
      if (row) return row.position;
      // The event was deleted. Only the events that a migration numbered are in the order of their ids.
      const [counter] = await session.query(NUMBERED_UNTIL, { user_id: userId });
      return lastBefore(session, userId, eventId, counter?.numbered ?? 0);
    },
    async positionBefore(userId, eventId) {
      const [entry] = await session.query(LAST_ENTRY, { user_id: userId });
      return lastBefore(session, userId, eventId, entry?.last ?? 0);
    },
    async lookUp(userId, position) {
      const key = { user_id: userId };
      const [entry] = await (position === undefined
        ? session.query(LAST_ENTRY, key)
        : session.query(ENTRY_AT, { ...key, position }));
      return entry ?? { last: 0, eventId: null };
    },
    newestId: () => session.read(newestId),
  };
}

/** Reads the last entry of each primary key. SQLite needs a condition to seek it. */
async function newestId(db: Kysely<Database>): Promise<string | undefined> {
  const newestIds: string[] = [];
  for (const table of ["events", "calls", "instances"] as const) {
    const row = await db
      .selectFrom(table)
      .select("id")
      .where("id", ">", "")
      .orderBy("id", "desc")
      .limit(1)
      .executeTakeFirst();
    if (row) newestIds.push(row.id);
  }
  const withoutPrefix = (id: string): string => id.slice(id.indexOf("_") + 1);
  return newestIds.sort((a, b) => (withoutPrefix(a) < withoutPrefix(b) ? -1 : 1)).at(-1);
}

/**
 * A position up to `last` whose event is not newer than this id, while the next event is newer; 0 if there is none. It
 * reads only a few events, by binary search.
 */
async function lastBefore(session: Session, userId: string, eventId: string, last: number): Promise<number> {
  let low = 0;
  let high = last;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    const [event] = await session.query(LAST_IN_RANGE, { user_id: userId, after: low, last: middle });
    if (event && event.id > eventId) high = event.position - 1;
    else low = middle; // all events up to here are older, or deleted
  }
  return low;
}

/** A log's length, and the event at a position in it. @param position undefined for the last one */
function entryOf(db: Kysely<Database>, userId: string, position?: number) {
  return db
    .selectFrom("event_counters")
    .leftJoin("events", (join) =>
      join
        .onRef("events.user_id", "=", "event_counters.user_id")
        .on("events.position", "=", position ?? sql.ref("event_counters.position")),
    )
    .select(["event_counters.position as last", "events.id as eventId"])
    .where("event_counters.user_id", "=", userId);
}

function onPage<O>(
  query: SelectQueryBuilder<Database, "events", O>,
  page: PageKeys,
): SelectQueryBuilder<Database, "events", O> {
  const orderedQuery = query.where("position", ">", page.after).orderBy("position");
  return page.limit === undefined ? orderedQuery : orderedQuery.limit(page.limit);
}

function keysOf({ after = 0, limit }: LogPage): PageKeys {
  return limit === undefined ? { after } : { after, limit };
}

/** The event in a row. */
export function eventOf(row: NumberedRow): LoggedEvent {
  const { instanceId, ...event } = RECORDS.events.record(row);
  const { sequence, position } = row;
  return { ...event, instanceId: instanceId === "" ? null : instanceId, sequence, position } as LoggedEvent;
}

/** A row on a page. Each call's first event there has the number of the call's events before the page. */
interface PageRow extends EventRow {
  readonly earlier: number | null;
}

/** An event with its number. */
interface NumberedRow extends EventRow {
  readonly sequence: number | null;
}

/**
 * The number of an event within its call. It is never stored: positions only rise, and the events of a call are deleted
 * together, so the number of events up to a position never changes.
 */
export const SEQUENCE: RawBuilder<number | null> = sql`case when call_id is not null then (${eventsOfCall("events")}
  and earlier.position <= ${sql.ref("events.position")}) end`;

/** A page with its event sequence numbers, counting each call once. @param after the page starts after this position */
function countedPage(
  db: Kysely<Database>,
  page: SelectQueryBuilder<Database, "events", EventRow>,
  after: number,
): Compilable<PageRow> {
  const numberedPage = sql<PageRow>`with page as ${page}
    select page.*, case when call_id is not null
        and row_number() over (partition by call_id order by position) = 1 then (${eventsOfCall("page")}
        and earlier.position <= ${after}) end as earlier
    from page order by position`;
  return { compile: () => numberedPage.compile(db) };
}

/** Numbers a page's events; the page has all of a call's events between the first and the last one in it. */
function withSequences(rows: readonly PageRow[]): NumberedRow[] {
  const sequences = new Map<string | null, number>();
  return rows.map(({ earlier, ...row }) => {
    if (row.call_id === null) return { ...row, sequence: null };
    const sequence = (earlier ?? sequences.get(row.call_id) ?? 0) + 1;
    sequences.set(row.call_id, sequence);
    return { ...row, sequence };
  });
}

function eventsOfCall(table: "events" | "page"): RawBuilder<number> {
  return sql`select cast(count(*) as bigint) from ${sql.table("events")} as earlier
    where earlier.call_id is not null and earlier.call_id = ${sql.ref(`${table}.call_id`)}`;
}

/** Maximum number of rows per INSERT; both databases limit the parameters of one statement. */
const BATCH = 500;

/** An event without a position. */
type NewRow = Omit<EventRow, "position">;
type Count = { readonly user_id: string; readonly events: number };

const RESERVE_POSITIONS = preparedQuery((db, count: Count) => reserveQuery(db, count));
const INSERT_EVENT = preparedQuery((db, row: EventRow) => insertQuery(db, [row]));
/** PostgreSQL counts in the same statement, which locks the counter for one round trip less. */
const RESERVE_AND_INSERT = preparedQuery((db, { events, ...row }: NewRow & Count) =>
  db
    .with("counted", (cte) => reserveQuery(cte, { user_id: row.user_id, events }))
    .insertInto("events")
    .values((eb) => ({ ...row, position: eb.selectFrom("counted").select("counted.position") }))
    .onConflict((conflict) => conflict.column("id").doNothing()),
);

/**
 * Appends events to the log, inside the transaction of the change that they report. Events that are already stored stay
 * unchanged. Call this last in a transaction: on PostgreSQL it locks the user's counter until the commit.
 */
export async function insertEvents(tx: Kysely<Database>, events: readonly Event[]): Promise<void> {
  const rows = events.map((event) => RECORDS.events.row({ ...event, instanceId: event.instanceId ?? "" }));
  const [first, ...others] = rows;
  if (first && others.length === 0) return insertOne(tx, first);
  // Sorted, so that two transactions never wait for each other.
  for (const user of [...new Set(rows.map((row) => row.user_id))].sort()) {
    const userRows = rows.filter((row) => row.user_id === user);
    const last = await reservePositions(tx, user, userRows.length);
    const positionedRows = userRows.map((row, index) => ({ ...row, position: last - userRows.length + 1 + index }));
    for (let from = 0; from < positionedRows.length; from += BATCH)
      await insertQuery(tx, positionedRows.slice(from, from + BATCH)).execute();
  }
}

async function insertOne(tx: Kysely<Database>, row: NewRow): Promise<void> {
  if (tx.getExecutor().adapter instanceof PostgresAdapter) await RESERVE_AND_INSERT(tx, { ...row, events: 1 });
  else await INSERT_EVENT(tx, { ...row, position: await reservePositions(tx, row.user_id, 1) });
}

/** Reads the end of a user's log, and locks it until the transaction ends. */
export function lockPosition(tx: Kysely<Database>, userId: string): Promise<number> {
  return reservePositions(tx, userId, 0);
}

/** Reserves `events` positions in a user's log and returns the last. */
async function reservePositions(tx: Kysely<Database>, userId: string, events: number): Promise<number> {
  const [counter] = await RESERVE_POSITIONS(tx, { user_id: userId, events });
  if (!counter) throw new InternalError(`the events of user ${userId} could not be counted`);
  return counter.position;
}

function reserveQuery(db: Pick<Kysely<Database>, "insertInto">, { user_id, events }: Count) {
  return db
    .insertInto("event_counters")
    .values({ user_id, position: events, numbered: 0 })
    .onConflict((conflict) =>
      conflict
        .column("user_id")
        .doUpdateSet((eb) => ({ position: eb("event_counters.position", "+", eb.ref("excluded.position")) })),
    )
    .returning("position");
}

function insertQuery(db: Kysely<Database>, rows: readonly EventRow[]) {
  return db
    .insertInto("events")
    .values(rows)
    .onConflict((conflict) => conflict.column("id").doNothing());
}
