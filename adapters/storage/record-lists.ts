import { type Kysely, type RawBuilder, type SelectQueryBuilder, type SqlBool, sql } from "kysely";
import type { Page } from "../../src/ports/storage.ts";
import type { Session } from "./connected-database.ts";
import type { Database } from "./tables/all-tables.ts";

/** The part of a stored record that turns a row into it. */
interface Mapping<Row, Rec> {
  record(row: Row): Rec;
}

/** Reads records, one for each row of a query. */
export function readRecords<Row, Rec>(
  session: Session,
  { record }: Mapping<Row, Rec>,
  query: (db: Kysely<Database>) => { execute(): Promise<Row[]> },
): Promise<Rec[]> {
  return session.read(async (db) => (await query(db).execute()).map((row) => record(row)));
}

/** Reads the record of the first row of a query; undefined if there is none. */
export function readRecord<Row, Rec>(
  session: Session,
  { record }: Mapping<Row, Rec>,
  query: (db: Kysely<Database>) => { executeTakeFirst(): Promise<Row | undefined> },
): Promise<Rec | undefined> {
  return session.read(async (db) => {
    const row = await query(db).executeTakeFirst();
    return row && record(row);
  });
}

/** A page of rows sorted by id, which is their age: the newest first, unless `order` is ascending. */
export function pageById<Table extends keyof Database, Row>(
  query: SelectQueryBuilder<Database, Table, Row>,
  { after, limit }: Page,
  order: "asc" | "desc" = "desc",
): SelectQueryBuilder<Database, Table, Row> {
  const rows = query as unknown as SelectQueryBuilder<Database, "events", Row>;
  const page = rows
    .$if(after !== undefined, (rest) => rest.where("id", order === "asc" ? ">" : "<", after ?? ""))
    .orderBy("id", order)
    .$if(limit !== undefined, (rest) => rest.limit(limit ?? 0));
  return page as unknown as typeof query;
}

/** Rows of a table that are counted. */
type Rows<Table extends keyof Database> = SelectQueryBuilder<Database, Table, object>;

/** The number of rows of a table. @param chosen narrows the rows */
export async function countRows<Table extends keyof Database>(
  db: Kysely<Database>,
  table: Table,
  chosen: (query: Rows<Table>) => Rows<Table>,
): Promise<number> {
  const rows = chosen(db.selectFrom(table as "events") as unknown as Rows<Table>) as unknown as Rows<"events">;
  const { count } = await rows.select((eb) => eb.fn.countAll().as("count")).executeTakeFirstOrThrow();
  return Number(count);
}

/** A position in a list that is sorted by (created_at, id), newest first. */
export interface Position {
  readonly createdAt: number;
  readonly id: string;
  /** True if the item at this position belongs to the next page. */
  readonly isInclusive: boolean;
}

/**
 * The position at which the list continues after the item `after`; undefined at its end. If that item was deleted, the
 * list continues with the next older id: ids are sorted by time.
 */
export async function positionAfter(
  db: Kysely<Database>,
  table: "calls" | "instances",
  after: string,
): Promise<Position | undefined> {
  const row = await db
    .selectFrom(table)
    .select(["created_at", "id"])
    .where("id", "<=", after)
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirst();
  return row && { createdAt: row.created_at, id: row.id, isInclusive: row.id !== after };
}

/** The condition that an item is at the position (if inclusive) or after it. */
export function follows({ createdAt, id, isInclusive }: Position): RawBuilder<SqlBool> {
  return isInclusive
    ? sql<SqlBool>`(created_at, id) <= (${createdAt}, ${id})`
    : sql<SqlBool>`(created_at, id) < (${createdAt}, ${id})`;
}
