import { type CreateTableBuilder, type Kysely, sql } from "kysely";
import { partialIndex } from "./first-tables.ts";
import type { ColumnTypes } from "./migrate.ts";

/**
 * Earlier versions stored no time with a claim. The phone of a claimed call may have rung, so it is treated as dialing.
 */
export async function dialingTimes(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("calls").addColumn("dialing_at", "bigint").execute();
  await sql`update ${sql.table("calls")} set dialing_at = created_at
    where status = 'QUEUED' and owner is not null`.execute(db);
  await partialIndex(db, "calls_dialing", "calls", ["id"], "status = 'QUEUED' and dialing_at is not null");
}

/** The log is in the order of commits. Existing events are numbered by their ids. */
export async function eventPositions(db: Kysely<unknown>, { id }: ColumnTypes): Promise<void> {
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

/**
 * Deletions are finished in steps; in earlier versions they took one step, so existing ones are treated as finished.
 */
export async function deletions(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("instances").addColumn("erased_at", "bigint").execute();
  await sql`update ${sql.table("instances")} set erased_at = updated_at where status = 'DELETED'`.execute(db);
  await partialIndex(db, "instances_half_deleted", "instances", ["id"], "status = 'DELETED' and erased_at is null");
}

/** A demo token has its own keys. Existing keys are treated as the user's. */
export async function receiptScopes(db: Kysely<unknown>, { id }: ColumnTypes): Promise<void> {
  const { schema } = db;
  const columns = "user_id, scope, key, fingerprint, result, created_at";
  const values = "user_id, '', key, fingerprint, result, created_at";
  await recreateTable(db, { table: "receipts", temporaryTable: "unscoped_receipts", columns, values }, (table) =>
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

/** An existing file becomes one part, regardless of its size. */
export async function audioParts(db: Kysely<unknown>, { id, bytes }: ColumnTypes): Promise<void> {
  const change = {
    table: "call_audio",
    temporaryTable: "whole_audio",
    columns: "call_id, part, bytes",
    values: "call_id, 0, bytes",
  };
  await recreateTable(db, change, (table) =>
    table
      .addColumn("call_id", id, (column) => column.notNull())
      .addColumn("part", "integer", (column) => column.notNull())
      .addColumn("bytes", bytes, (column) => column.notNull())
      .addPrimaryKeyConstraint("call_audio_parts_pkey", ["call_id", "part"]),
  );
}

/** Existing numbers are treated as linked since their instance was created. */
export async function numberProtection(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("instances").addColumn("linked_at", "bigint").execute();
  await db.schema.alterTable("instances").addColumn("pause", "text").execute();
  await sql`update ${sql.table("instances")} set linked_at = created_at
    where status in ('CONFIGURED', 'ACTIVE')`.execute(db);
  await partialIndex(db, "calls_dialled", "calls", ["instance_id", "dialing_at"], "dialing_at > 0");
}

/** Existing calls are counted by the wall clock, as before. */
export async function purgeClock(db: Kysely<unknown>): Promise<void> {
  const { schema } = db;
  await schema.alterTable("trusted_time").addColumn("step_ms", "bigint").execute();
  await schema.alterTable("trusted_time").addColumn("stepped_ago_ms", "bigint").execute();
  await schema.alterTable("calls").addColumn("counted_at", "bigint").execute();
  await sql`update ${sql.table("calls")} set counted_at = created_at where token_id is not null`.execute(db);
  await schema.dropIndex("calls_of_token").execute();
  await partialIndex(db, "calls_counted", "calls", ["token_id", "counted_at"], "token_id is not null");
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
 * already existed. No request is running during this step, so unfinished receipts are stale.
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
      const existingStatus = record.created === false ? record.status : null;
      await sql`update ${receipts} set record_id = ${record.id}, existing_status = ${existingStatus}, result = null
        where user_id = ${user_id} and scope = ${scope} and key = ${key}`.execute(db);
    }
    last = rows.length < BATCH ? undefined : rows.at(-1);
  }
  await schema.alterTable("receipts").dropColumn("result").execute();
  await schema.createIndex("receipts_of_record").on("receipts").columns(["record_id"]).execute();
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

/** A table that is recreated because its primary key changes. */
interface RecreatedTable {
  readonly table: string;
  /** The temporary table for its rows; `tables.ts` lists it. */
  readonly temporaryTable: string;
  /** Columns of the new table to fill, SQL. */
  readonly columns: string;
  /** The values of these columns, as SQL that reads the old columns. */
  readonly values: string;
}

/** Recreates a table with its rows, without its indexes. */
async function recreateTable(
  db: Kysely<unknown>,
  { table, temporaryTable, columns, values }: RecreatedTable,
  shape: (table: CreateTableBuilder<string>) => CreateTableBuilder<string>,
): Promise<void> {
  const { schema } = db;
  await sql`create table ${sql.table(temporaryTable)} as select * from ${sql.table(table)}`.execute(db);
  await schema.dropTable(table).execute();
  await shape(schema.createTable(table)).execute();
  await sql`insert into ${sql.table(table)} (${sql.raw(columns)})
    select ${sql.raw(values)} from ${sql.table(temporaryTable)}`.execute(db);
  await schema.dropTable(temporaryTable).execute();
}

/** Waiting targets are counted by the reason of their last call. */
export async function waitingReasons(db: Kysely<unknown>): Promise<void> {
  const [counts, targets] = [sql.table("batch_counts"), sql.table("batch_targets")];
  await sql`insert into ${counts} (batch_id, status, reason, targets)
    select batch_id, 'WAITING', reason, count(*) from ${targets}
    where status = 'WAITING' and reason is not null group by batch_id, reason`.execute(db);
  await sql`update ${counts} as counted set targets = (
      select count(*) from ${targets} as waiting where waiting.batch_id = counted.batch_id
      and waiting.status = 'WAITING' and waiting.reason is null
    ) where status = 'WAITING' and reason = ''`.execute(db);
}
