import { type Kysely, type RawBuilder, type SqlBool, sql } from "kysely";
import type { Database } from "./schema.ts";

/** A place in a list that is sorted by (created_at, id), newest first. */
export interface Position {
  readonly createdAt: number;
  readonly id: string;
  /** The item at this place is itself part of what follows. */
  readonly inclusive: boolean;
}

/**
 * Where the list goes on after the item `after`; undefined where nothing can follow.
 * An item that is gone stands where its id would: ids sort by time, so its next older neighbour by id comes next.
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
  return row && { createdAt: row.created_at, id: row.id, inclusive: row.id !== after };
}

/** The condition that an item stands at the place or after it. */
export function follows({ createdAt, id, inclusive }: Position): RawBuilder<SqlBool> {
  return inclusive
    ? sql<SqlBool>`(created_at, id) <= (${createdAt}, ${id})`
    : sql<SqlBool>`(created_at, id) < (${createdAt}, ${id})`;
}
