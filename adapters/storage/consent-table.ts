import type { Kysely } from "kysely";
import type { ColumnTypes } from "./first-tables.ts";

/** Users' records about the numbers they call. */
export async function consentTable(db: Kysely<unknown>, { id }: ColumnTypes): Promise<void> {
  await db.schema
    .createTable("consents")
    .addColumn("user_id", id, (column) => column.notNull())
    .addColumn("phone", id, (column) => column.notNull())
    .addColumn("status", id, (column) => column.notNull())
    .addColumn("source", "text")
    .addColumn("created_at", "bigint", (column) => column.notNull())
    .addColumn("updated_at", "bigint", (column) => column.notNull())
    .addPrimaryKeyConstraint("consents_pkey", ["user_id", "phone"])
    .execute();
  await db.schema.createIndex("consents_by_status").on("consents").columns(["user_id", "status", "phone"]).execute();
}
