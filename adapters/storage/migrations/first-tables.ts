import { type Kysely, sql } from "kysely";
import type { ColumnTypes } from "./migrate.ts";

/** The tables of the first version: history, never to be changed. */
export async function firstTables(db: Kysely<unknown>, { id, bytes }: ColumnTypes): Promise<void> {
  const { schema } = db;

  await schema
    .createTable("users")
    .addColumn("id", id, (column) => column.primaryKey())
    .addColumn("name", "text", (column) => column.notNull().unique())
    .addColumn("created_at", "bigint", (column) => column.notNull())
    .execute();
  await schema
    .createTable("tokens")
    .addColumn("id", id, (column) => column.primaryKey())
    .addColumn("user_id", id, (column) => column.notNull())
    .addColumn("label", "text", (column) => column.notNull())
    .addColumn("hash", id, (column) => column.notNull().unique())
    .addColumn("demo_instance_id", id)
    .addColumn("created_at", "bigint", (column) => column.notNull())
    .addColumn("expires_at", "bigint")
    .addColumn("revoked_at", "bigint")
    .execute();
  await schema.createIndex("tokens_of_user").on("tokens").columns(["user_id", "created_at", "id"]).execute();

  await schema
    .createTable("instances")
    .addColumn("id", id, (column) => column.primaryKey())
    .addColumn("user_id", id, (column) => column.notNull())
    .addColumn("name", "text", (column) => column.notNull())
    .addColumn("status", id, (column) => column.notNull())
    .addColumn("metadata", "text", (column) => column.notNull())
    .addColumn("provider", "text", (column) => column.notNull())
    .addColumn("phone", "text")
    .addColumn("created_at", "bigint", (column) => column.notNull())
    .addColumn("updated_at", "bigint", (column) => column.notNull())
    .addColumn("version", "integer", (column) => column.notNull())
    .execute();
  await partialIndex(db, "instances_of_user", "instances", ["user_id", "created_at", "id"], "status <> 'DELETED'");
  await partialIndex(db, "instances_linked", "instances", ["id"], "status in ('CONFIGURED', 'ACTIVE')");
  await schema
    .createTable("credentials")
    .addColumn("instance_id", id, (column) => column.primaryKey())
    .addColumn("sealed", bytes, (column) => column.notNull())
    .execute();

  await schema
    .createTable("calls")
    .addColumn("id", id, (column) => column.primaryKey())
    .addColumn("instance_id", id, (column) => column.notNull())
    .addColumn("user_id", id, (column) => column.notNull())
    .addColumn("status", id, (column) => column.notNull())
    .addColumn("type", id, (column) => column.notNull())
    .addColumn("target_phone", "text", (column) => column.notNull())
    .addColumn("message", "text", (column) => column.notNull())
    .addColumn("outcome", "text")
    .addColumn("created_at", "bigint", (column) => column.notNull())
    .addColumn("started_at", "bigint")
    .addColumn("ended_at", "bigint")
    .addColumn("slot", "integer", (column) => column.notNull())
    .addColumn("owner", id)
    .addColumn("version", "integer", (column) => column.notNull())
    .execute();
  await callIndexes(db);
  await schema
    .createTable("call_audio")
    .addColumn("call_id", id, (column) => column.primaryKey())
    .addColumn("bytes", bytes, (column) => column.notNull())
    .execute();
  await schema
    .createTable("finished_counts")
    .addColumn("instance_id", id, (column) => column.notNull())
    .addColumn("status", id, (column) => column.notNull())
    .addColumn("calls", "bigint", (column) => column.notNull())
    .addPrimaryKeyConstraint("finished_counts_pkey", ["instance_id", "status"])
    .execute();

  await schema
    .createTable("events")
    .addColumn("id", id, (column) => column.primaryKey())
    .addColumn("type", id, (column) => column.notNull())
    .addColumn("at", "bigint", (column) => column.notNull())
    .addColumn("call_id", id)
    .addColumn("instance_id", id, (column) => column.notNull())
    .addColumn("user_id", id, (column) => column.notNull())
    .addColumn("data", "text", (column) => column.notNull())
    .execute();
  await partialIndex(db, "events_of_call", "events", ["call_id", "id"], "call_id is not null");
  await schema.createIndex("events_of_user").on("events").columns(["user_id", "id"]).execute();
  await schema.createIndex("events_of_instance").on("events").columns(["user_id", "instance_id", "id"]).execute();

  await schema
    .createTable("receipts")
    .addColumn("user_id", id, (column) => column.notNull())
    .addColumn("key", id, (column) => column.notNull())
    .addColumn("fingerprint", id, (column) => column.notNull())
    .addColumn("result", "text")
    .addColumn("created_at", "bigint", (column) => column.notNull())
    .addPrimaryKeyConstraint("receipts_pkey", ["user_id", "key"])
    .execute();
  await schema.createIndex("receipts_by_age").on("receipts").columns(["created_at"]).execute();
  await partialIndex(db, "receipts_unfinished", "receipts", ["user_id", "key"], "result is null");
}

async function callIndexes(db: Kysely<unknown>): Promise<void> {
  // The queue rule, enforced by the database.
  await partialIndex(
    db,
    "calls_slot",
    "calls",
    ["instance_id", "slot"],
    "status in ('QUEUED', 'RINGING', 'IN_PROGRESS')",
    { unique: true },
  );
  await partialIndex(db, "calls_on_line", "calls", ["instance_id"], "status in ('RINGING', 'IN_PROGRESS')", {
    unique: true,
  });

  // The dispatcher's queries. Both indexes contain only active calls and stay small.
  await partialIndex(db, "calls_queued", "calls", ["instance_id", "created_at", "id"], "status = 'QUEUED'");
  await partialIndex(db, "calls_waiting", "calls", ["created_at", "id"], "status = 'QUEUED' and owner is null");

  // Lists: call-lists.ts explains how four indexes serve every combination of filters.
  const lists = {
    calls_of_user: ["user_id", "created_at", "id"],
    calls_of_user_by_kind: ["user_id", "status", "type", "created_at", "id"],
    calls_of_instance: ["user_id", "instance_id", "created_at", "id"],
    calls_of_instance_by_kind: ["user_id", "instance_id", "status", "type", "created_at", "id"],
  };
  for (const [name, columns] of Object.entries(lists))
    await db.schema.createIndex(name).on("calls").columns(columns).execute();

  await partialIndex(db, "calls_ended", "calls", ["ended_at", "id"], "status in ('COMPLETED', 'FAILED')");
}

/** Transcripts, one row for each line. */
export async function transcriptTable(db: Kysely<unknown>, { id }: ColumnTypes): Promise<void> {
  await db.schema
    .createTable("transcripts")
    .addColumn("call_id", id, (column) => column.notNull())
    .addColumn("position", "integer", (column) => column.notNull())
    .addColumn("speaker", id, (column) => column.notNull())
    .addColumn("text", "text", (column) => column.notNull())
    .addColumn("at", "bigint", (column) => column.notNull())
    .addColumn("start_ms", "bigint", (column) => column.notNull())
    .addColumn("end_ms", "bigint", (column) => column.notNull())
    .addColumn("confidence", "double precision")
    .addPrimaryKeyConstraint("transcripts_pkey", ["call_id", "position"])
    .execute();
}

interface IndexKind {
  readonly unique?: boolean;
}

/** Creates an index of the rows that meet a condition, SQL without parameters. */
export async function partialIndex(
  db: Kysely<unknown>,
  name: string,
  table: string,
  columns: string[],
  condition: string,
  { unique = false }: IndexKind = {},
): Promise<void> {
  const index = db.schema.createIndex(name).on(table).columns(columns).where(sql.raw<boolean>(condition));
  await (unique ? index.unique() : index).execute();
}
