import type { Kysely } from "kysely";
import { partialIndex } from "./first-tables.ts";
import type { ColumnTypes } from "./migrate.ts";

/** Webhooks, and the deliveries to them. */
export async function webhookTables(db: Kysely<unknown>, { id, bytes }: ColumnTypes): Promise<void> {
  const { schema } = db;
  await schema
    .createTable("webhooks")
    .addColumn("id", id, (column) => column.primaryKey())
    .addColumn("user_id", id, (column) => column.notNull())
    .addColumn("url", "text", (column) => column.notNull())
    .addColumn("events", "text")
    .addColumn("description", "text")
    .addColumn("disabled_reason", id)
    .addColumn("sealed_key", bytes, (column) => column.notNull())
    .addColumn("sealed_old_key", bytes)
    .addColumn("old_key_until", "bigint")
    .addColumn("position", "bigint", (column) => column.notNull())
    .addColumn("created_at", "bigint", (column) => column.notNull())
    .addColumn("updated_at", "bigint", (column) => column.notNull())
    .addColumn("version", "integer", (column) => column.notNull())
    .execute();
  await schema.createIndex("webhooks_of_user").on("webhooks").columns(["user_id", "id"]).execute();
  await schema
    .createTable("webhook_deliveries")
    .addColumn("id", id, (column) => column.primaryKey())
    .addColumn("webhook_id", id, (column) => column.notNull())
    .addColumn("event_id", id, (column) => column.notNull())
    .addColumn("event_type", id, (column) => column.notNull())
    .addColumn("body", "text")
    .addColumn("status", id, (column) => column.notNull())
    .addColumn("attempts", "integer", (column) => column.notNull())
    .addColumn("next_attempt_at", "bigint")
    .addColumn("last_attempt_at", "bigint")
    .addColumn("last_status", "integer")
    .addColumn("last_error", "text")
    .addColumn("created_at", "bigint", (column) => column.notNull())
    .execute();
  const deliveries = "webhook_deliveries";
  await schema.createIndex("webhook_deliveries_of_webhook").on(deliveries).columns(["webhook_id", "id"]).execute();
  const dueColumns = ["webhook_id", "next_attempt_at", "id"];
  await partialIndex(db, "webhook_deliveries_due", deliveries, dueColumns, "next_attempt_at is not null");
  await partialIndex(db, "webhook_deliveries_over", deliveries, ["created_at"], "status <> 'pending'");
}

/** Accounts of users, their sessions, one-time codes, and the audit log. */
export async function loginTables(db: Kysely<unknown>, { id }: ColumnTypes): Promise<void> {
  const { schema } = db;
  await schema
    .createTable("accounts")
    .addColumn("id", id, (column) => column.primaryKey())
    .addColumn("user_id", id, (column) => column.notNull().unique())
    .addColumn("email", "text", (column) => column.notNull())
    .addColumn("email_key", id, (column) => column.notNull().unique())
    .addColumn("password_hash", "text", (column) => column.notNull())
    .addColumn("role", id, (column) => column.notNull())
    .addColumn("created_at", "bigint", (column) => column.notNull())
    .execute();
  await partialIndex(db, "accounts_admin", "accounts", ["role"], "role = 'admin'", { unique: true });
  await schema
    .createTable("account_sessions")
    .addColumn("id", id, (column) => column.primaryKey())
    .addColumn("account_id", id, (column) => column.notNull())
    .addColumn("hash", id, (column) => column.notNull().unique())
    .addColumn("created_at", "bigint", (column) => column.notNull())
    .addColumn("last_used_at", "bigint", (column) => column.notNull())
    .addColumn("expires_at", "bigint", (column) => column.notNull())
    .addColumn("user_agent", "text")
    .execute();
  await schema.createIndex("sessions_of_account").on("account_sessions").columns(["account_id", "id"]).execute();
  await schema.createIndex("sessions_by_expiry").on("account_sessions").columns(["expires_at"]).execute();
  await schema
    .createTable("account_codes")
    .addColumn("id", id, (column) => column.primaryKey())
    .addColumn("purpose", id, (column) => column.notNull())
    .addColumn("hash", id, (column) => column.notNull().unique())
    .addColumn("account_id", id)
    .addColumn("created_at", "bigint", (column) => column.notNull())
    .addColumn("expires_at", "bigint", (column) => column.notNull())
    .execute();
  await partialIndex(db, "codes_of_first_start", "account_codes", ["purpose"], "purpose = 'first'", { unique: true });
  await partialIndex(db, "codes_of_resets", "account_codes", ["account_id"], "purpose = 'reset'", { unique: true });
  await schema
    .createTable("audit_log")
    .addColumn("id", id, (column) => column.primaryKey())
    .addColumn("at", "bigint", (column) => column.notNull())
    .addColumn("account_id", id)
    .addColumn("email", "text")
    .addColumn("action", "text", (column) => column.notNull())
    .addColumn("subject", "text")
    .execute();
  await schema.createIndex("audit_of_account").on("audit_log").columns(["account_id", "id"]).execute();
  await schema.createIndex("audit_by_age").on("audit_log").columns(["at"]).execute();
}

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

/** Consents, which users record about the numbers they call. */
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

/** The owner of each resource; only the owner may write. */
export async function ownerTable(db: Kysely<unknown>, { id }: ColumnTypes): Promise<void> {
  await db.schema
    .createTable("owners")
    .addColumn("name", id, (column) => column.primaryKey())
    .addColumn("epoch", "bigint", (column) => column.notNull())
    .addColumn("owner", id)
    .addColumn("expires_at", "bigint", (column) => column.notNull())
    .execute();
}

/** The trusted time, and indexes for deletions by age. */
export async function retention(db: Kysely<unknown>): Promise<void> {
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

/** Batches of calls, their targets, and the counts of those. Existing calls belong to none. */
export async function batchTables(db: Kysely<unknown>, { id }: ColumnTypes): Promise<void> {
  const { schema } = db;
  await schema
    .createTable("batches")
    .addColumn("id", id, (column) => column.primaryKey())
    .addColumn("user_id", id, (column) => column.notNull())
    .addColumn("token_id", id)
    .addColumn("allowed_prefixes", "text")
    .addColumn("max_calls_per_day", "bigint")
    .addColumn("name", "text", (column) => column.notNull())
    .addColumn("status", id, (column) => column.notNull())
    .addColumn("instance_ids", "text", (column) => column.notNull())
    .addColumn("message", "text", (column) => column.notNull())
    .addColumn("schedule", "text", (column) => column.notNull())
    .addColumn("retry", "text")
    .addColumn("max_concurrent", "bigint")
    .addColumn("gap_ms", "bigint", (column) => column.notNull())
    .addColumn("breaker", "text")
    .addColumn("reason", "text")
    .addColumn("last_position", "bigint", (column) => column.notNull())
    .addColumn("started_at", "bigint")
    .addColumn("ended_at", "bigint")
    .addColumn("created_at", "bigint", (column) => column.notNull())
    .addColumn("updated_at", "bigint", (column) => column.notNull())
    .addColumn("version", "integer", (column) => column.notNull())
    .execute();
  await schema.createIndex("batches_of_user").on("batches").columns(["user_id", "id"]).execute();
  await schema.createIndex("batches_by_status").on("batches").columns(["user_id", "status", "id"]).execute();
  await partialIndex(db, "batches_open", "batches", ["id"], "status in ('SCHEDULED', 'RUNNING', 'PAUSED')");
  await partialIndex(db, "batches_ended", "batches", ["ended_at", "id"], "status in ('COMPLETED', 'CANCELLED')");
  await schema
    .createTable("batch_targets")
    .addColumn("batch_id", id, (column) => column.notNull())
    .addColumn("position", "bigint", (column) => column.notNull())
    .addColumn("source_row", "bigint", (column) => column.notNull())
    .addColumn("phone", "text", (column) => column.notNull())
    .addColumn("extension", "text")
    .addColumn("variables", "text")
    .addColumn("reference", "text")
    .addColumn("metadata", "text")
    .addColumn("status", id, (column) => column.notNull())
    .addColumn("faults", "text")
    .addColumn("phone_key", id)
    .addColumn("zones", "text", (column) => column.notNull())
    .addColumn("attempts", "integer", (column) => column.notNull())
    .addColumn("next_attempt_at", "bigint")
    .addColumn("call_id", id)
    .addColumn("reason", id)
    .addColumn("result", "text")
    .addColumn("updated_at", "bigint", (column) => column.notNull())
    .addColumn("version", "integer", (column) => column.notNull())
    .addPrimaryKeyConstraint("batch_targets_pkey", ["batch_id", "position"])
    .execute();
  const targets = "batch_targets";
  await schema.createIndex("batch_targets_by_status").on(targets).columns(["batch_id", "status", "position"]).execute();
  await partialIndex(
    db,
    "batch_targets_due",
    targets,
    ["batch_id", "next_attempt_at", "position"],
    "status = 'WAITING'",
  );
  await partialIndex(db, "batch_targets_calling", targets, ["batch_id", "position"], "status = 'CALLING'");
  const numberRule = "status not in ('INVALID', 'DUPLICATE')";
  const numberColumns = ["batch_id", "phone_key"];
  await partialIndex(db, "batch_targets_number", targets, numberColumns, numberRule, { unique: true });
  await partialIndex(db, "batch_targets_by_number", targets, ["phone_key"], "phone_key is not null");
  await schema
    .createTable("batch_counts")
    .addColumn("batch_id", id, (column) => column.notNull())
    .addColumn("status", id, (column) => column.notNull())
    .addColumn("reason", id, (column) => column.notNull())
    .addColumn("targets", "bigint", (column) => column.notNull())
    .addPrimaryKeyConstraint("batch_counts_pkey", ["batch_id", "status", "reason"])
    .execute();
  const unfinishedRule = "status in ('WAITING', 'CALLING') and targets > 0";
  await partialIndex(db, "batch_counts_unfinished", "batch_counts", ["batch_id"], unfinishedRule);
  await schema.alterTable("calls").addColumn("batch_id", id).execute();
  await schema.alterTable("calls").addColumn("batch_position", "bigint").execute();
  await schema.alterTable("calls").addColumn("batch_attempt", "integer").execute();
  const batchColumns = ["user_id", "batch_id", "created_at", "id"];
  await partialIndex(db, "calls_of_batch", "calls", batchColumns, "batch_id is not null");
}

/** Audio files that users store for calls, and the calls and batches that name them. */
export async function storedAudioTable(db: Kysely<unknown>, { id }: ColumnTypes): Promise<void> {
  const { schema } = db;
  await schema
    .createTable("stored_audio")
    .addColumn("id", id, (column) => column.primaryKey())
    .addColumn("user_id", id, (column) => column.notNull())
    .addColumn("name", "text")
    .addColumn("sha256", id, (column) => column.notNull())
    .addColumn("size_bytes", "bigint", (column) => column.notNull())
    .addColumn("file", "text", (column) => column.notNull())
    .addColumn("created_at", "bigint", (column) => column.notNull())
    .addColumn("expires_at", "bigint")
    .addColumn("deleted_at", "bigint")
    .addColumn("stored_bytes", "bigint", (column) => column.notNull())
    .execute();
  const table = "stored_audio";
  await schema.createIndex("stored_audio_of_user").on(table).columns(["user_id", "id"]).execute();
  const contentColumns = ["user_id", "sha256"];
  await partialIndex(db, "stored_audio_content", table, contentColumns, "deleted_at is null", { unique: true });
  await partialIndex(db, "stored_audio_deleted", table, ["id"], "deleted_at is not null");
  const isExpiring = "expires_at is not null and deleted_at is null";
  await partialIndex(db, "stored_audio_expiring", table, ["expires_at"], isExpiring);
  for (const name of ["calls", "batches"]) await schema.alterTable(name).addColumn("audio_id", id).execute();
  const isUsing = "audio_id is not null and status in ('QUEUED', 'RINGING', 'IN_PROGRESS')";
  await partialIndex(db, "calls_using_audio", "calls", ["audio_id"], isUsing);
  await partialIndex(db, "batches_using_audio", "batches", ["audio_id"], "audio_id is not null");
}
