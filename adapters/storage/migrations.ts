import { type ColumnDataType, type Kysely, type RawBuilder, sql } from "kysely";
import type { Migration } from "kysely/migration";
import { partialIndex, remadeTable } from "./table-changes.ts";

/** Column types that the two databases spell differently. */
export interface ColumnTypes {
  /** Text that sorts byte by byte. */
  readonly id: ColumnDataType | RawBuilder<unknown>;
  readonly bytes: ColumnDataType;
}

/** Every step from an empty database to the current tables, by name; names sort by age and are never reused. */
export function migrations(types: ColumnTypes): Record<string, Migration> {
  return {
    "0001_first_tables": { up: (db) => firstTables(db, types) },
    "0002_media_statistics": { up: mediaStatistics },
    "0003_unlinked_instances": { up: unlinkedInstances },
    "0004_recordings": { up: recordings },
    "0005_transcripts": { up: (db) => transcripts(db, types) },
    "0006_dialing": { up: dialing },
    "0007_event_positions": { up: (db) => eventPositions(db, types) },
    "0008_deletions": { up: deletions },
    "0009_retention": { up: retention },
    "0010_owners": { up: (db) => owners(db, types) },
    "0011_receipt_scopes": { up: (db) => receiptScopes(db, types) },
    "0012_token_limits": { up: (db) => tokenLimits(db, types) },
    "0013_call_prefixes": { up: callPrefixes },
    "0014_audio_parts": { up: (db) => audioParts(db, types) },
    "0015_caller_ids": { up: callerIds },
  };
}

async function firstTables(db: Kysely<unknown>, { id, bytes }: ColumnTypes): Promise<void> {
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

async function mediaStatistics(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("calls").addColumn("media_statistics", "text").execute();
}

/** Networks that link by themselves look for their instances at the start. */
async function unlinkedInstances(db: Kysely<unknown>): Promise<void> {
  await partialIndex(db, "instances_unlinked", "instances", ["provider", "id"], "status = 'CREATED'");
}

async function recordings(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("calls").addColumn("recorded_ms", "integer").execute();
  await partialIndex(db, "calls_recorded", "calls", ["ended_at", "id"], "recorded_ms > 0");
}

async function transcripts(db: Kysely<unknown>, { id }: ColumnTypes): Promise<void> {
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

/** Before this step a claim left no time; the phone of a claimed call may have rung, so it counts as dialing. */
async function dialing(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("calls").addColumn("dialing_at", "bigint").execute();
  await sql`update ${sql.table("calls")} set dialing_at = created_at
    where status = 'QUEUED' and owner is not null`.execute(db);
  await partialIndex(db, "calls_dialing", "calls", ["id"], "status = 'QUEUED' and dialing_at is not null");
}

/** Deletions are finished step by step; those of before were done in one. */
async function deletions(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("instances").addColumn("erased_at", "bigint").execute();
  await sql`update ${sql.table("instances")} set erased_at = updated_at where status = 'DELETED'`.execute(db);
  await partialIndex(db, "instances_half_deleted", "instances", ["id"], "status = 'DELETED' and erased_at is null");
}

/** The log is ordered by when its events were committed; what was stored before is numbered by its ids. */
async function eventPositions(db: Kysely<unknown>, { id }: ColumnTypes): Promise<void> {
  const { schema } = db;
  for (const name of ["events_of_call", "events_of_user", "events_of_instance"]) await schema.dropIndex(name).execute();
  await schema
    .alterTable("events")
    .addColumn("position", "bigint", (column) => column.notNull().defaultTo(0))
    .execute();
  const events = sql.table("events");
  await sql`update ${events} set position = numbered.position
    from (select id, row_number() over (partition by user_id order by id) as position from ${events}) as numbered
    where numbered.id = ${sql.ref("events.id")}`.execute(db);
  await schema
    .createTable("event_counters")
    .addColumn("user_id", id, (column) => column.primaryKey())
    .addColumn("position", "bigint", (column) => column.notNull())
    .addColumn("numbered", "bigint", (column) => column.notNull())
    .execute();
  await sql`insert into ${sql.table("event_counters")} (user_id, position, numbered)
    select user_id, max(position), max(position) from ${events} group by user_id`.execute(db);
  await partialIndex(db, "events_of_call", "events", ["call_id", "position"], "call_id is not null");
  await schema.createIndex("events_of_user").unique().on("events").columns(["user_id", "position"]).execute();
  await schema.createIndex("events_of_instance").on("events").columns(["user_id", "instance_id", "position"]).execute();
}

async function retention(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("trusted_time")
    .addColumn("id", "integer", (column) => column.primaryKey())
    .addColumn("at", "bigint", (column) => column.notNull())
    .addColumn("claimed_at", "bigint")
    .addColumn("waited_ms", "bigint", (column) => column.notNull())
    .execute();
  await partialIndex(db, "instances_erased", "instances", ["erased_at", "id"], "erased_at is not null");
  await partialIndex(db, "events_of_links", "events", ["instance_id"], "type = 'instance.linked'");
}

/** Calls of before have no token, and count for none. */
async function tokenLimits(db: Kysely<unknown>, { id }: ColumnTypes): Promise<void> {
  const { schema } = db;
  await schema.alterTable("tokens").addColumn("allowed_prefixes", "text").execute();
  await schema.alterTable("tokens").addColumn("max_calls_per_day", "bigint").execute();
  await schema.alterTable("calls").addColumn("token_id", id).execute();
  await partialIndex(db, "calls_of_token", "calls", ["token_id", "created_at"], "token_id is not null");
  await schema
    .createTable("removed_calls")
    .addColumn("token_id", id, (column) => column.notNull())
    .addColumn("created_at", "bigint", (column) => column.notNull())
    .execute();
  await schema.createIndex("removed_calls_of_token").on("removed_calls").columns(["token_id", "created_at"]).execute();
  await schema.createIndex("removed_calls_by_age").on("removed_calls").columns(["created_at"]).execute();
}

/** Calls of before have no prefixes: a redirection of theirs is held by the rules of the server and the trunk alone. */
async function callPrefixes(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("calls").addColumn("allowed_prefixes", "text").execute();
}

/** A file of before is its first part, however large it is. */
async function audioParts(db: Kysely<unknown>, { id, bytes }: ColumnTypes): Promise<void> {
  const change = {
    table: "call_audio",
    aside: "whole_audio",
    columns: "call_id, part, bytes",
    values: "call_id, 0, bytes",
  };
  await remadeTable(db, change, (table) =>
    table
      .addColumn("call_id", id, (column) => column.notNull())
      .addColumn("part", "integer", (column) => column.notNull())
      .addColumn("bytes", bytes, (column) => column.notNull())
      .addPrimaryKeyConstraint("call_audio_parts_pkey", ["call_id", "part"]),
  );
}

/** Instances and calls of before have the caller of their network. */
async function callerIds(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("instances").addColumn("caller_id", "text").execute();
  await db.schema.alterTable("calls").addColumn("caller_id", "text").execute();
}

/** A demo token has keys of its own; those of before count as the user's. */
async function receiptScopes(db: Kysely<unknown>, { id }: ColumnTypes): Promise<void> {
  const { schema } = db;
  const columns = "user_id, scope, key, fingerprint, result, created_at";
  const values = "user_id, '', key, fingerprint, result, created_at";
  await remadeTable(db, { table: "receipts", aside: "unscoped_receipts", columns, values }, (table) =>
    table
      .addColumn("user_id", id, (column) => column.notNull())
      .addColumn("scope", id, (column) => column.notNull())
      .addColumn("key", id, (column) => column.notNull())
      .addColumn("fingerprint", id, (column) => column.notNull())
      .addColumn("result", "text")
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .addPrimaryKeyConstraint("receipts_scope_pkey", ["user_id", "scope", "key"]),
  );
  await schema.createIndex("receipts_by_age").on("receipts").columns(["created_at"]).execute();
  await partialIndex(db, "receipts_unfinished", "receipts", ["user_id", "scope", "key"], "result is null");
}

async function callIndexes(db: Kysely<unknown>): Promise<void> {
  // The queue rule, held by the database whoever writes.
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

  // The dispatcher's questions; both hold live calls only and stay small.
  await partialIndex(db, "calls_queued", "calls", ["instance_id", "created_at", "id"], "status = 'QUEUED'");
  await partialIndex(db, "calls_waiting", "calls", ["created_at", "id"], "status = 'QUEUED' and owner is null");

  // Lists: see call-list.ts for how four indexes serve every combination of filters.
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

/** Who may write: one row for each resource. */
async function owners(db: Kysely<unknown>, { id }: ColumnTypes): Promise<void> {
  await db.schema
    .createTable("owners")
    .addColumn("name", id, (column) => column.primaryKey())
    .addColumn("epoch", "bigint", (column) => column.notNull())
    .addColumn("owner", id)
    .addColumn("expires_at", "bigint", (column) => column.notNull())
    .execute();
}
