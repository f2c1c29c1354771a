import type { Kysely } from "kysely";
import type { Event } from "../../src/domain/events.ts";
import type { EventStore } from "../../src/ports/storage.ts";
import { prepared } from "./prepared.ts";
import type { Database, EventRow } from "./schema.ts";
import type { Session } from "./session.ts";

/** Rows per INSERT; both databases limit the parameters of one statement. */
const BATCH = 500;

const INSERTED = prepared((db, row: EventRow) =>
  db
    .insertInto("events")
    .values(row)
    .onConflict((conflict) => conflict.column("id").doNothing()),
);

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
  };
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
      .onConflict((conflict) => conflict.column("id").doNothing())
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
