import { type Kysely, type RawBuilder, type SqlBool, sql } from "kysely";
import type { Database } from "./schema.ts";

/** A position in a list that is sorted by (created_at, id), newest first. */
export interface Position {
  readonly createdAt: number;
  readonly id: string;
  /** The item at this position belongs to the next page. */
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
