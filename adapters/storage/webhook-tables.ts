import type { Kysely } from "kysely";
import type { ColumnTypes } from "./first-tables.ts";
import { partialIndex } from "./table-changes.ts";

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
  const due = ["webhook_id", "next_attempt_at", "id"];
  await partialIndex(db, "webhook_deliveries_due", deliveries, due, "next_attempt_at is not null");
  await partialIndex(db, "webhook_deliveries_over", deliveries, ["created_at"], "status <> 'pending'");
}
