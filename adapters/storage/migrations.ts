import { type ColumnDataType, type Kysely, type RawBuilder, sql } from "kysely";
import { type Migration, Migrator } from "kysely/migration";

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
    "0011_receipt_scopes": { up: (db) => receiptScopes(db, types) },
  };
}

/**
 * Brings the database to the current tables. Both databases run it in one transaction under a lock, so processes that
 * start together wait for each other.
 * @param name of the database, for errors
 * @throws {Error} the database was written by a newer version, or a step failed; it is then as it was before
 */
export async function migrate(db: Kysely<unknown>, steps: Record<string, Migration>, name: string): Promise<void> {
  const migrator = new Migrator({ db, provider: { getMigrations: async () => steps } });
  const { error, results } = await migrator.migrateToLatest();
  if (error === undefined) return;
  const unknown = (await appliedNames(db)).find((name) => !(name in steps));
  if (unknown !== undefined)
    throw new Error(
      `the database ${name} was written by a newer version of ringport (step ${unknown}): upgrade ringport`,
      {
        cause: error,
      },
    );
  const failed = results?.find(({ status }) => status === "Error");
  if (!failed) throw error;
  throw new Error(
    `the database ${name} cannot be brought up to date (step ${failed.migrationName}: ${(error as Error).message}); ` +
      "it is as it was before: go on with the version of ringport that it came from, or choose another database",
    { cause: error },
  );
}

/** Whether the database is one of an earlier version; false for a new one. */
export async function isOlder(db: Kysely<unknown>, steps: Record<string, Migration>): Promise<boolean> {
  const applied = await appliedNames(db);
  return applied.length > 0 && Object.keys(steps).some((name) => !applied.includes(name));
}

async function appliedNames(db: Kysely<unknown>): Promise<string[]> {
  try {
    const { rows } = await sql<{ name: string }>`select name from kysely_migration`.execute(db);
    return rows.map((row) => row.name);
  } catch {
    return []; // the caller throws what came before
  }
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
  await sql`create index instances_of_user on instances (user_id, created_at, id) where status <> 'DELETED'`.execute(
    db,
  );
  await sql`create index instances_linked on instances (id) where status in ('CONFIGURED', 'ACTIVE')`.execute(db);
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
  await sql`create index events_of_call on events (call_id, id) where call_id is not null`.execute(db);
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
  await sql`create index receipts_unfinished on receipts (user_id, key) where result is null`.execute(db);
}

async function mediaStatistics(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("calls").addColumn("media_statistics", "text").execute();
}

/** Networks that link by themselves look for their instances at the start. */
async function unlinkedInstances(db: Kysely<unknown>): Promise<void> {
  await sql`create index instances_unlinked on instances (provider, id) where status = 'CREATED'`.execute(db);
}

async function recordings(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("calls").addColumn("recorded_ms", "integer").execute();
  await sql`create index calls_recorded on calls (ended_at, id) where recorded_ms > 0`.execute(db);
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
  await sql`update calls set dialing_at = created_at where status = 'QUEUED' and owner is not null`.execute(db);
  await sql`create index calls_dialing on calls (id) where status = 'QUEUED' and dialing_at is not null`.execute(db);
}

/** Deletions are finished step by step; those of before were done in one. */
async function deletions(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("instances").addColumn("erased_at", "bigint").execute();
  await sql`update instances set erased_at = updated_at where status = 'DELETED'`.execute(db);
  await sql`create index instances_half_deleted on instances (id) where status = 'DELETED' and erased_at is null`.execute(
    db,
  );
}

/** The log is ordered by when its events were committed; what was stored before is numbered by its ids. */
async function eventPositions(db: Kysely<unknown>, { id }: ColumnTypes): Promise<void> {
  const { schema } = db;
  for (const name of ["events_of_call", "events_of_user", "events_of_instance"]) await schema.dropIndex(name).execute();
  await schema
    .alterTable("events")
    .addColumn("position", "bigint", (column) => column.notNull().defaultTo(0))
    .execute();
  await sql`update events set position = numbered.position
    from (select id, row_number() over (partition by user_id order by id) as position from events) as numbered
    where numbered.id = events.id`.execute(db);
  await schema
    .createTable("event_counters")
    .addColumn("user_id", id, (column) => column.primaryKey())
    .addColumn("position", "bigint", (column) => column.notNull())
    .addColumn("numbered", "bigint", (column) => column.notNull())
    .execute();
  await sql`insert into event_counters (user_id, position, numbered)
    select user_id, max(position), max(position) from events group by user_id`.execute(db);
  await sql`create index events_of_call on events (call_id, position) where call_id is not null`.execute(db);
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
  await sql`create index instances_erased on instances (erased_at, id) where erased_at is not null`.execute(db);
  await sql`create index events_of_links on events (instance_id) where type = 'instance.linked'`.execute(db);
}

/** A demo token has keys of its own; those of before count as the user's. */
async function receiptScopes(db: Kysely<unknown>, { id }: ColumnTypes): Promise<void> {
  const { schema } = db;
  for (const name of ["receipts_by_age", "receipts_unfinished"]) await schema.dropIndex(name).execute();
  await schema.alterTable("receipts").renameTo("unscoped_receipts").execute();
  await schema
    .createTable("receipts")
    .addColumn("user_id", id, (column) => column.notNull())
    .addColumn("scope", id, (column) => column.notNull())
    .addColumn("key", id, (column) => column.notNull())
    .addColumn("fingerprint", id, (column) => column.notNull())
    .addColumn("result", "text")
    .addColumn("created_at", "bigint", (column) => column.notNull())
    .addPrimaryKeyConstraint("receipts_scope_pkey", ["user_id", "scope", "key"])
    .execute();
  await sql`insert into receipts (user_id, scope, key, fingerprint, result, created_at)
    select user_id, '', key, fingerprint, result, created_at from unscoped_receipts`.execute(db);
  await schema.dropTable("unscoped_receipts").execute();
  await schema.createIndex("receipts_by_age").on("receipts").columns(["created_at"]).execute();
  await sql`create index receipts_unfinished on receipts (user_id, scope, key) where result is null`.execute(db);
}

async function callIndexes(db: Kysely<unknown>): Promise<void> {
  // The queue rule, held by the database whoever writes.
  await sql`create unique index calls_slot on calls (instance_id, slot)
    where status in ('QUEUED', 'RINGING', 'IN_PROGRESS')`.execute(db);
  await sql`create unique index calls_on_line on calls (instance_id)
    where status in ('RINGING', 'IN_PROGRESS')`.execute(db);

  // The dispatcher's questions; both hold live calls only and stay small.
  await sql`create index calls_queued on calls (instance_id, created_at, id) where status = 'QUEUED'`.execute(db);
  await sql`create index calls_waiting on calls (created_at, id)
    where status = 'QUEUED' and owner is null`.execute(db);

  // Lists: see call-list.ts for how four indexes serve every combination of filters.
  const lists = {
    calls_of_user: ["user_id", "created_at", "id"],
    calls_of_user_by_kind: ["user_id", "status", "type", "created_at", "id"],
    calls_of_instance: ["user_id", "instance_id", "created_at", "id"],
    calls_of_instance_by_kind: ["user_id", "instance_id", "status", "type", "created_at", "id"],
  };
  for (const [name, columns] of Object.entries(lists))
    await db.schema.createIndex(name).on("calls").columns(columns).execute();

  await sql`create index calls_ended on calls (ended_at, id) where status in ('COMPLETED', 'FAILED')`.execute(db);
}
