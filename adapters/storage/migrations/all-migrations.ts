import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";
import {
  batchTables,
  consentTable,
  lineRecordTable,
  loginTables,
  ownerTable,
  retention,
  storedAudioTable,
  webhookTables,
} from "./added-tables.ts";
import {
  addStoredBytes,
  audioParts,
  deletions,
  dialingTimes,
  eventPositions,
  numberProtection,
  purgeClock,
  receiptIds,
  receiptScopes,
  waitingReasons,
} from "./converted-rows.ts";
import { firstTables, partialIndex, transcriptTable } from "./first-tables.ts";
import type { ColumnTypes } from "./migrate.ts";

/** All migrations, by name. Names are sorted by age and never reused. */
export function migrations(types: ColumnTypes): Record<string, Migration> {
  return {
    "0001_first_tables": { up: (db) => firstTables(db, types) },
    "0002_media_statistics": { up: mediaStatistics },
    "0003_unlinked_instances": { up: unlinkedInstances },
    "0004_recordings": { up: recordings },
    "0005_transcripts": { up: (db) => transcriptTable(db, types) },
    "0006_dialing": { up: dialingTimes },
    "0007_event_positions": { up: (db) => eventPositions(db, types) },
    "0008_deletions": { up: deletions },
    "0009_retention": { up: retention },
    "0010_owners": { up: (db) => ownerTable(db, types) },
    "0011_receipt_scopes": { up: (db) => receiptScopes(db, types) },
    "0012_token_limits": { up: (db) => tokenLimits(db, types) },
    "0013_call_prefixes": { up: callPrefixes },
    "0014_audio_parts": { up: (db) => audioParts(db, types) },
    "0015_caller_ids": { up: callerIds },
    "0016_webhooks": { up: (db) => webhookTables(db, types) },
    "0017_call_references": { up: callReferences },
    "0018_call_results": { up: callResults },
    "0019_agent_turns": { up: agentTurns },
    "0020_result_errors": { up: resultErrors },
    "0021_call_limits": { up: callLimits },
    "0022_token_scopes": { up: tokenScopes },
    "0023_accounts": { up: (db) => loginTables(db, types) },
    "0024_call_quality": { up: callQuality },
    "0025_line_records": { up: (db) => lineRecordTable(db, types) },
    "0026_consents": { up: (db) => consentTable(db, types) },
    "0027_number_protection": { up: numberProtection },
    "0028_dial_times": { up: dialTimes },
    "0029_dialled_numbers": { up: dialledNumbers },
    "0030_webhook_headers": { up: (db) => webhookHeaders(db, types) },
    "0031_sip_calls": { up: sipCalls },
    "0032_queue_order": { up: queueOrder },
    "0033_purge_clock": { up: purgeClock },
    "0034_receipt_ids": { up: (db) => receiptIds(db, types) },
    "0035_account_removals": { up: accountRemovals },
    "0036_list_indexes": { up: listIndexes },
    "0037_stored_bytes": { up: (db) => addStoredBytes(db, types) },
    "0038_counted_rows": { up: countedRows },
    "0039_lines": { up: lines },
    "0041_batches": { up: (db) => batchTables(db, types) },
    "0042_waiting_times": { up: waitingTimes },
    "0043_waiting_reasons": { up: waitingReasons },
    "0044_retry_order": { up: retryOrder },
    "0045_stored_audio": { up: (db) => storedAudioTable(db, types) },
  };
}

/**
 * Only a webhook's newest tests and replays are kept, and only a user's newest revoked tokens. Earlier tests are
 * deleted by age.
 */
async function countedRows(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("webhook_deliveries").addColumn("requested", "integer").execute();
  const columns = ["webhook_id", "id"];
  await partialIndex(
    db,
    "webhook_deliveries_requested",
    "webhook_deliveries",
    columns,
    "requested = 1 and status <> 'pending'",
  );
  await partialIndex(db, "tokens_revoked", "tokens", ["user_id", "id"], "revoked_at is not null");
}

/**
 * An instance may have several lines, and a line carries one call, from its claim to its end. Existing calls have no
 * line number: a starting server ends them before it dials.
 */
async function lines(db: Kysely<unknown>): Promise<void> {
  const { schema } = db;
  await schema.alterTable("calls").addColumn("line", "integer").execute();
  for (const name of ["calls_on_line", "calls_dialing"]) await schema.dropIndex(name).execute();
  const condition = "(status in ('RINGING', 'IN_PROGRESS') or (status = 'QUEUED' and dialing_at is not null))";
  await partialIndex(db, "calls_by_line", "calls", ["instance_id", "line"], condition, { unique: true });
}

/**
 * Existing calls have neither time. The queue indexes contain the compared columns, so that calls are skipped without
 * being read.
 */
async function waitingTimes(db: Kysely<unknown>): Promise<void> {
  const { schema } = db;
  for (const name of ["expires_at", "not_before"]) await schema.alterTable("calls").addColumn(name, "bigint").execute();
  for (const name of ["calls_in_queue", "calls_waiting"]) await schema.dropIndex(name).execute();
  const isWaiting = "status = 'QUEUED' and owner is null";
  await partialIndex(db, "calls_in_queue", "calls", ["instance_id", "id", "not_before"], "status = 'QUEUED'");
  await partialIndex(db, "calls_waiting", "calls", ["created_at", "id", "expires_at"], isWaiting);
  await partialIndex(db, "calls_expiring", "calls", ["expires_at", "id"], `${isWaiting} and expires_at is not null`);
  const postponedColumns = ["instance_id", "not_before"];
  await partialIndex(db, "calls_postponed", "calls", postponedColumns, `${isWaiting} and not_before is not null`);
}

/** A batch's due retries are called before its other targets. */
async function retryOrder(db: Kysely<unknown>): Promise<void> {
  const columns = ["batch_id", "next_attempt_at", "position"];
  await partialIndex(db, "batch_targets_retries", "batch_targets", columns, "status = 'WAITING' and attempts > 0");
}

/** The removal of an account is decided before any of its user's data is erased. */
async function accountRemovals(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("accounts").addColumn("removal_begun_at", "bigint").execute();
}

async function mediaStatistics(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("calls").addColumn("media_statistics", "text").execute();
}

/** Networks that link instances automatically search for unlinked ones at the start. */
async function unlinkedInstances(db: Kysely<unknown>): Promise<void> {
  await partialIndex(db, "instances_unlinked", "instances", ["provider", "id"], "status = 'CREATED'");
}

async function recordings(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("calls").addColumn("recorded_ms", "integer").execute();
  await partialIndex(db, "calls_recorded", "calls", ["ended_at", "id"], "recorded_ms > 0");
}

/** Existing calls have no token and count against no limit. */
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

/** Existing calls have no prefixes: only the rules of the server and the trunk apply to their redirections. */
async function callPrefixes(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("calls").addColumn("allowed_prefixes", "text").execute();
}

/** Existing instances and calls use the caller id of their network. */
async function callerIds(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("instances").addColumn("caller_id", "text").execute();
  await db.schema.alterTable("calls").addColumn("caller_id", "text").execute();
}

/** Existing calls have neither a reference nor metadata. Lists by reference and by number read a separate index. */
async function callReferences(db: Kysely<unknown>): Promise<void> {
  const { schema } = db;
  await schema.alterTable("calls").addColumn("reference", "text").execute();
  await schema.alterTable("calls").addColumn("metadata", "text").execute();
  const referenceColumns = ["user_id", "reference", "created_at", "id"];
  await partialIndex(db, "calls_by_reference", "calls", referenceColumns, "reference is not null");
  await schema
    .createIndex("calls_by_number")
    .on("calls")
    .columns(["user_id", "target_phone", "created_at", "id"])
    .execute();
}

/** Existing calls have no result: no agent could conduct them. */
async function callResults(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("calls").addColumn("result", "text").execute();
}

/** Existing calls have no turns: they were not measured. */
async function agentTurns(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("calls").addColumn("turns", "text").execute();
}

/** Existing calls have no result error: no schema was applied to their results. */
async function resultErrors(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("calls").addColumn("result_error", "text").execute();
}

/** Existing calls' transfers count against the server's limit. */
async function callLimits(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("calls").addColumn("max_calls_per_day", "bigint").execute();
}

/** Existing tokens have all scopes; their last use is unknown. */
async function tokenScopes(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("tokens").addColumn("scopes", "text").execute();
  await db.schema.alterTable("tokens").addColumn("last_used_at", "bigint").execute();
}

/** Existing calls have no quality: it was not measured. */
async function callQuality(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("calls").addColumn("quality", "text").execute();
}

/** Existing calls have no SIP fields: their Call-ID was not stored. */
async function sipCalls(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("calls").addColumn("sip", "text").execute();
  await db.schema.alterTable("calls").addColumn("sip_call_id", "text").execute();
}

/** The next call of an instance is the one with the lowest id. */
async function queueOrder(db: Kysely<unknown>): Promise<void> {
  await db.schema.dropIndex("calls_queued").execute();
  await partialIndex(db, "calls_in_queue", "calls", ["instance_id", "id"], "status = 'QUEUED'");
}

/** The dials of a number are counted without reading its calls, whose rows are long. */
async function dialTimes(db: Kysely<unknown>): Promise<void> {
  await db.schema.dropIndex("calls_dialled").execute();
  const columns = ["instance_id", "dialing_at", "started_at", "ended_at", "id"];
  await partialIndex(db, "calls_dial_times", "calls", columns, "dialing_at > 0");
}

/** Existing dials are attributed to the linked numbers: no other numbers are known. */
async function dialledNumbers(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("instances").addColumn("dialled_number", "text").execute();
}

/** Existing webhooks send no extra headers. */
async function webhookHeaders(db: Kysely<unknown>, { bytes }: ColumnTypes): Promise<void> {
  await db.schema.alterTable("webhooks").addColumn("header_names", "text").execute();
  await db.schema.alterTable("webhooks").addColumn("sealed_headers", bytes).execute();
}

/** Every filter of a list, every deletion by age and every queue query uses an index. */
async function listIndexes(db: Kysely<unknown>): Promise<void> {
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
