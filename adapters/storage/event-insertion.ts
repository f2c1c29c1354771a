import { type Kysely, PostgresAdapter } from "kysely";
import { InternalError } from "../../src/base/error.ts";
import type { Event } from "../../src/domain/events.ts";
import { prepared } from "./prepared.ts";
import { RECORDS } from "./records.ts";
import type { Database, EventRow } from "./schema.ts";

/** Rows per INSERT; both databases limit the parameters of one statement. */
const BATCH = 500;

/** An event without a position. */
type NewRow = Omit<EventRow, "position">;
type Count = { readonly user_id: string; readonly events: number };

const COUNTED = prepared((db, count: Count) => counting(db, count));
const INSERTED = prepared((db, row: EventRow) => inserting(db, [row]));
/** PostgreSQL counts in the same statement, which locks the counter for one round trip less. */
const COUNTED_AND_INSERTED = prepared((db, { events, ...row }: NewRow & Count) =>
  db
    .with("counted", (cte) => counting(cte, { user_id: row.user_id, events }))
    .insertInto("events")
    .values((eb) => ({ ...row, position: eb.selectFrom("counted").select("counted.position") }))
    .onConflict((conflict) => conflict.column("id").doNothing()),
);

/**
 * Appends events to the log, inside the transaction of the change that they report. Events that are stored already stay
 * unchanged. Call it last in a transaction: on PostgreSQL it locks the user's counter until the commit.
 */
export async function insertEvents(tx: Kysely<Database>, events: readonly Event[]): Promise<void> {
  const rows = events.map(RECORDS.events.row);
  const [only, ...more] = rows;
  if (only && more.length === 0) return insertOne(tx, only);
  // Sorted, so that two transactions never wait for each other.
  for (const user of [...new Set(rows.map((row) => row.user_id))].sort()) {
    const own = rows.filter((row) => row.user_id === user);
    const last = await reservePositions(tx, user, own.length);
    const placed = own.map((row, index) => ({ ...row, position: last - own.length + 1 + index }));
    for (let from = 0; from < placed.length; from += BATCH)
      await inserting(tx, placed.slice(from, from + BATCH)).execute();
  }
}

async function insertOne(tx: Kysely<Database>, row: NewRow): Promise<void> {
  if (tx.getExecutor().adapter instanceof PostgresAdapter) await COUNTED_AND_INSERTED(tx, { ...row, events: 1 });
  else await INSERTED(tx, { ...row, position: await reservePositions(tx, row.user_id, 1) });
}

/** The end of a user's log, which stays there until the transaction ends. */
export function lockedPosition(tx: Kysely<Database>, userId: string): Promise<number> {
  return reservePositions(tx, userId, 0);
}

/** Reserves `events` positions in a user's log and returns the last. */
async function reservePositions(tx: Kysely<Database>, userId: string, events: number): Promise<number> {
  const [counter] = await COUNTED(tx, { user_id: userId, events });
  if (!counter) throw new InternalError(`the events of user ${userId} could not be counted`);
  return counter.position;
}

function counting(db: Pick<Kysely<Database>, "insertInto">, { user_id, events }: Count) {
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

function inserting(db: Kysely<Database>, rows: readonly EventRow[]) {
  return db
    .insertInto("events")
    .values(rows)
    .onConflict((conflict) => conflict.column("id").doNothing());
}
