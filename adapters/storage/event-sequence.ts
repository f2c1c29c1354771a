import { type Compilable, type Kysely, type RawBuilder, type SelectQueryBuilder, sql } from "kysely";
import type { Database, EventRow } from "./schema.ts";

/** A row of a page. The first event of each call there has the number of the call's events before the page. */
export interface PageRow extends EventRow {
  readonly earlier: number | null;
}

/** An event with its number. */
export interface NumberedRow extends EventRow {
  readonly sequence: number | null;
}

/**
 * The number of an event within its call. It is never stored: positions only rise, and the events of a call are deleted
 * together, so the number of events up to a position never changes.
 */
export const SEQUENCE: RawBuilder<number | null> = sql`case when call_id is not null then (${eventsOfCall("events")}
  and earlier.position <= ${sql.ref("events.position")}) end`;

/** A page with its event sequence numbers, counting each call once. @param after the page starts after this position */
export function countedPage(
  db: Kysely<Database>,
  page: SelectQueryBuilder<Database, "events", EventRow>,
  after: number,
): Compilable<PageRow> {
  const counted = sql<PageRow>`with page as ${page}
    select page.*, case when call_id is not null
        and row_number() over (partition by call_id order by position) = 1 then (${eventsOfCall("page")}
        and earlier.position <= ${after}) end as earlier
    from page order by position`;
  return { compile: () => counted.compile(db) };
}

/** The numbers of the events of a page, which has all events of a call between its first one and its last one. */
export function numbered(rows: readonly PageRow[]): NumberedRow[] {
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
