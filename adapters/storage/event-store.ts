import { type Kysely, type SelectQueryBuilder, sql } from "kysely";
import type { LoggedEvent } from "../../src/domain/events.ts";
import type { EventStore, LogPage } from "../../src/ports/storage.ts";
import { insertEvents } from "./event-insertion.ts";
import { countedPage, type NumberedRow, numbered } from "./event-sequence.ts";
import { prepared } from "./prepared.ts";
import { RECORDS } from "./records.ts";
import type { Database } from "./schema.ts";
import type { Session } from "./session.ts";

/** Parameters of a page. */
interface PageKeys {
  readonly after: number;
  readonly limit?: number;
}
type OfUser = PageKeys & { readonly user_id: string; readonly instance_id?: string };
type Named = { readonly user_id: string; readonly id: string };
type Between = { readonly user_id: string; readonly after: number; readonly last: number };

const OF_CALL = prepared((db, { call_id, ...page }: PageKeys & { readonly call_id: string }) =>
  countedPage(db, onPage(db.selectFrom("events").selectAll().where("call_id", "=", call_id), page), page.after),
);
const OF_USER = prepared((db, { user_id, instance_id, ...page }: OfUser) => {
  const ofUser = db.selectFrom("events").selectAll().where("user_id", "=", user_id);
  const found = instance_id === undefined ? ofUser : ofUser.where("instance_id", "=", instance_id);
  return countedPage(db, onPage(found, page), page.after);
});

const PLACE = prepared((db, { user_id, id }: Named) =>
  db.selectFrom("events").select("position").where("id", "=", id).where("user_id", "=", user_id),
);
const NUMBERED = prepared((db, { user_id }: { readonly user_id: string }) =>
  db.selectFrom("event_counters").select("numbered").where("user_id", "=", user_id),
);
const LAST = prepared((db, { user_id }: { readonly user_id: string }) => entryOf(db, user_id));
const AT = prepared((db, { user_id, position }: { readonly user_id: string; readonly position: number }) =>
  entryOf(db, user_id, position),
);
const LAST_BETWEEN = prepared((db, { user_id, after, last }: Between) =>
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
      const rows = await session.query(OF_CALL, { call_id: callId, ...keysOf(page) });
      return numbered(rows).map(eventOf);
    },
    async ofUser(userId, { instanceId }, page) {
      const instance = instanceId === undefined ? {} : { instance_id: instanceId };
      const rows = await session.query(OF_USER, { user_id: userId, ...instance, ...keysOf(page) });
      return numbered(rows).map(eventOf);
    },
    async positionOf(userId, eventId) {
      const [found] = await session.query(PLACE, { user_id: userId, id: eventId });
      if (found) return found.position;
      // Calls that a migration numbered: it did so by id.
      const [counter] = await session.query(NUMBERED, { user_id: userId });
      return lastBefore(session, userId, eventId, counter?.numbered ?? 0);
    },
    async positionBefore(userId, eventId) {
      const [entry] = await session.query(LAST, { user_id: userId });
      return lastBefore(session, userId, eventId, entry?.last ?? 0);
    },
    async lookUp(userId, position) {
      const of = { user_id: userId };
      const [entry] = await (position === undefined ? session.query(LAST, of) : session.query(AT, { ...of, position }));
      return entry ?? { last: 0, eventId: null };
    },
    newestId: () => session.read(newestId),
  };
}

/** Reads the last entry of each primary key. SQLite needs a condition to seek it. */
async function newestId(db: Kysely<Database>): Promise<string | undefined> {
  const newest: string[] = [];
  for (const table of ["events", "calls", "instances"] as const) {
    const row = await db
      .selectFrom(table)
      .select("id")
      .where("id", ">", "")
      .orderBy("id", "desc")
      .limit(1)
      .executeTakeFirst();
    if (row) newest.push(row.id);
  }
  const withoutPrefix = (id: string): string => id.slice(id.indexOf("_") + 1);
  return newest.sort((one, other) => (withoutPrefix(one) < withoutPrefix(other) ? -1 : 1)).at(-1);
}

/**
 * A position up to `last` such that the event there is not newer than this id and the next one is; 0 if there is none. It
 * reads only a few events, by binary search.
 */
async function lastBefore(session: Session, userId: string, eventId: string, last: number): Promise<number> {
  let low = 0;
  let high = last;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    const [event] = await session.query(LAST_BETWEEN, { user_id: userId, after: low, last: middle });
    if (event && event.id > eventId) high = event.position - 1;
    else low = middle; // everything up to here is older, or deleted
  }
  return low;
}

/** The length of a log with the event at a position. @param position undefined: the last one */
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
  const following = query.where("position", ">", page.after).orderBy("position");
  return page.limit === undefined ? following : following.limit(page.limit);
}

function keysOf({ after = 0, limit }: LogPage): PageKeys {
  return limit === undefined ? { after } : { after, limit };
}

/** The event of a row. */
export function eventOf(row: NumberedRow): LoggedEvent {
  return { ...RECORDS.events.record(row), sequence: row.sequence, position: row.position } as LoggedEvent;
}
