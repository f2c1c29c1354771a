import type { Kysely } from "kysely";
import { partialIndex } from "./first-tables.ts";
import type { ColumnTypes } from "./migrate.ts";

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
