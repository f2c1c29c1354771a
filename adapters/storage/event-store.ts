import type { Kysely } from "kysely";
import type { Event } from "../../src/domain/events.ts";
import type { EventStore } from "../../src/ports/storage.ts";
import { prepared } from "./prepared.ts";
import type { Database, EventRow } from "./schema.ts";
import type { Session } from "./session.ts";

/** Rows per INSERT; both databases limit the parameters of one statement. */
const BATCH = 500;

const INSERTED = prepared((db, row: EventRow) => db.insertInto("events").values(row));

/** The append-only log. Ids sort by time, so they alone are the order. */
export function eventStore(session: Session): EventStore {
  return {
    append: (events) => session.transaction((tx) => insertEvents(tx, events)),
    ofCall: (callId, page) =>
      session.read(async (db) => {
        const rows = await db
          .selectFrom("events")
          .selectAll()
          .where("call_id", "=", callId)
          .$if(page.after !== undefined, (query) => query.where("id", ">", page.after ?? ""))
          .orderBy("id")
          .$if(page.limit !== undefined, (query) => query.limit(page.limit ?? 0))
          .execute();
        return rows.map(eventOf);
      }),
    ofUser: (userId, { instanceId }, page) =>
      session.read(async (db) => {
        const rows = await db
          .selectFrom("events")
          .selectAll()
          .where("user_id", "=", userId)
          .$if(instanceId !== undefined, (query) => query.where("instance_id", "=", instanceId ?? ""))
          .$if(page.after !== undefined, (query) => query.where("id", ">", page.after ?? ""))
          .orderBy("id")
          .$if(page.limit !== undefined, (query) => query.limit(page.limit ?? 0))
          .execute();
        return rows.map(eventOf);
      }),
    newestId: () => session.read(newestId),
  };
}

/** Each of them is the last entry of a primary key, which SQLite seeks only behind a condition. */
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
  const behindPrefix = (id: string): string => id.slice(id.indexOf("_") + 1);
  return newest.sort((one, other) => (behindPrefix(one) < behindPrefix(other) ? -1 : 1)).at(-1);
}

/** Appends to the log inside the transaction of what the events tell. */
export async function insertEvents(tx: Kysely<Database>, events: readonly Event[]): Promise<void> {
  const [only, ...more] = events;
  if (only && more.length === 0) {
    await INSERTED(tx, rowOf(only));
    return;
  }
  for (let from = 0; from < events.length; from += BATCH)
    await tx
      .insertInto("events")
      .values(events.slice(from, from + BATCH).map(rowOf))
      .execute();
}

function rowOf(event: Event): EventRow {
  return {
    id: event.id,
    type: event.type,
    at: event.timestamp,
    call_id: event.callId,
    instance_id: event.instanceId,
    user_id: event.userId,
    data: JSON.stringify(event.data),
  };
}

function eventOf(row: EventRow): Event {
  return {
    id: row.id,
    type: row.type,
    timestamp: row.at,
    callId: row.call_id,
    instanceId: row.instance_id,
    userId: row.user_id,
    data: JSON.parse(row.data),
  };
}
