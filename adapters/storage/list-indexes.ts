import type { Kysely } from "kysely";
import { partialIndex } from "./table-changes.ts";

/** Each filter of a list, each deletion by age and each look at a queue reads an index. */
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
  const delivered = ["webhook_id", "last_attempt_at"];
  await partialIndex(db, "webhook_deliveries_made", deliveries, delivered, "status = 'delivered'");
  await partialIndex(db, "webhooks_enabled", "webhooks", ["id"], "disabled_reason is null");
  const active = ["instance_id", "id"];
  await partialIndex(db, "calls_active", "calls", active, "status in ('QUEUED', 'RINGING', 'IN_PROGRESS')");
  await partialIndex(db, "codes_of_invitations", "account_codes", ["id"], "purpose = 'invitation'");
  await partialIndex(db, "instances_by_phone", "instances", ["phone", "id"], "phone is not null");
  await partialIndex(db, "instances_without_number", "instances", ["id"], "status = 'CREATED'");
}
