import type { Kysely } from "kysely";
import type { ColumnTypes } from "./first-tables.ts";
import { partialIndex } from "./table-changes.ts";

/** Accounts of people, their sessions, one-time codes, and the audit log. */
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
