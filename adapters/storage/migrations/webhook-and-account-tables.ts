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
