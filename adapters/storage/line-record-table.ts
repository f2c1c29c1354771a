import type { Kysely } from "kysely";
import type { ColumnTypes } from "./first-tables.ts";

/** Sealed records of lines. */
export async function lineRecordTable(db: Kysely<unknown>, { id, bytes }: ColumnTypes): Promise<void> {
  await db.schema
    .createTable("line_records")
    .addColumn("instance_id", id, (column) => column.notNull())
    .addColumn("key", id, (column) => column.notNull())
    .addColumn("sealed", bytes, (column) => column.notNull())
    .addPrimaryKeyConstraint("line_records_pkey", ["instance_id", "key"])
    .execute();
}
