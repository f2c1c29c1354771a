import { type Kysely, sql } from "kysely";
import type { ColumnTypes } from "./first-tables.ts";

/** Stored bytes, counted per user. Existing records are estimated: their events and transcripts are not read. */
export async function addStoredBytes(db: Kysely<unknown>, { id }: ColumnTypes): Promise<void> {
  const { schema } = db;
  const [calls, instances, usage] = [sql.table("calls"), sql.table("instances"), sql.table("stored_usage")];
  await schema
    .createTable("stored_usage")
    .addColumn("owner", id, (column) => column.notNull())
    .addColumn("kind", id, (column) => column.notNull())
    .addColumn("amount", "bigint", (column) => column.notNull())
    .addPrimaryKeyConstraint("stored_usage_pkey", ["owner", "kind"])
    .execute();
  await schema.alterTable("calls").addColumn("demo_scope", id).execute();
  for (const table of ["calls", "instances"])
    await schema
      .alterTable(table)
      .addColumn("stored_bytes", "bigint", (column) => column.notNull().defaultTo(0))
      .execute();
  await sql`update ${calls} set stored_bytes =
    4096 + length(message) + cast(64 as bigint) * coalesce(recorded_ms, 0)`.execute(db);
  await sql`update ${instances} set stored_bytes = 1024 + length(metadata)`.execute(db);
  await sql`insert into ${usage} (owner, kind, amount) select user_id, 'bytes', sum(stored_bytes) from
    (select user_id, stored_bytes from ${calls} union all select user_id, stored_bytes from ${instances}) as stored
    group by user_id`.execute(db);
}
