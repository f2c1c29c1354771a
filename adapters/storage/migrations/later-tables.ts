import { type Kysely, sql } from "kysely";
import { type ColumnTypes, partialIndex } from "./first-tables.ts";

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

const BATCH = 100;

interface ReceiptKey {
  readonly user_id: string;
  readonly scope: string;
  readonly key: string;
}

/** A key that sorts before every other. */
const FIRST_KEY: ReceiptKey = { user_id: "", scope: "", key: "" };

interface OldReceipt extends ReceiptKey {
  /** JSON of a call or an instance at the end of the request. */
  readonly result: string;
}

/**
 * A receipt names its record instead of holding a copy. Existing receipts are converted, including those of a call that
 * existed already. No request is running during this step, so unfinished receipts are stale.
 */
export async function receiptIds(db: Kysely<unknown>, { id }: ColumnTypes): Promise<void> {
  const { schema } = db;
  const receipts = sql.table("receipts");
  await schema.dropIndex("receipts_unfinished").execute();
  await sql`delete from ${receipts} where result is null`.execute(db);
  await schema
    .alterTable("receipts")
    .addColumn("record_id", id, (column) => column.notNull().defaultTo(""))
    .execute();
  await schema.alterTable("receipts").addColumn("existing_status", id).execute();
  for (let last: ReceiptKey | undefined = FIRST_KEY; last !== undefined; ) {
    const { rows } = await sql<OldReceipt>`select user_id, scope, key, result from ${receipts}
      where (user_id, scope, key) > (${last.user_id}, ${last.scope}, ${last.key})
      order by user_id, scope, key limit ${BATCH}`.execute(db);
    for (const { user_id, scope, key, result } of rows) {
      const record = JSON.parse(result) as { id: string; status: string; created?: boolean };
      const existing = record.created === false ? record.status : null;
      await sql`update ${receipts} set record_id = ${record.id}, existing_status = ${existing}, result = null
        where user_id = ${user_id} and scope = ${scope} and key = ${key}`.execute(db);
    }
    last = rows.length < BATCH ? undefined : rows.at(-1);
  }
  await schema.alterTable("receipts").dropColumn("result").execute();
  await schema.createIndex("receipts_of_record").on("receipts").columns(["record_id"]).execute();
}

/** Every filter of a list, every deletion by age and every query of a queue uses an index. */
export async function listIndexes(db: Kysely<unknown>): Promise<void> {
  const indexes = {
    webhook_deliveries_by_status: ["webhook_deliveries", "webhook_id", "status", "id"],
    users_by_age: ["users", "created_at", "id"],
    codes_by_expiry: ["account_codes", "expires_at"],
    codes_of_account: ["account_codes", "account_id"],
  };
  for (const [name, [table = "", ...columns]] of Object.entries(indexes))
    await db.schema.createIndex(name).on(table).columns(columns).execute();
  const deliveries = "webhook_deliveries";
  const deliveredColumns = ["webhook_id", "last_attempt_at"];
  await partialIndex(db, "webhook_deliveries_made", deliveries, deliveredColumns, "status = 'delivered'");
  await partialIndex(db, "webhooks_enabled", "webhooks", ["id"], "disabled_reason is null");
  const activeColumns = ["instance_id", "id"];
  await partialIndex(db, "calls_active", "calls", activeColumns, "status in ('QUEUED', 'RINGING', 'IN_PROGRESS')");
  await partialIndex(db, "codes_of_invitations", "account_codes", ["id"], "purpose = 'invitation'");
  await partialIndex(db, "instances_by_phone", "instances", ["phone", "id"], "phone is not null");
  await partialIndex(db, "instances_without_number", "instances", ["id"], "status = 'CREATED'");
}

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
