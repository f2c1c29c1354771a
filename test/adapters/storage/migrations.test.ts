import { DatabaseSync } from "node:sqlite";
import { type Kysely, sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { embeddedWorkers } from "../../../adapters/defaults/worker-pool.ts";
import { databaseStorage } from "../../../adapters/storage/all-stores.ts";
import type { ConnectedDatabase, Traits } from "../../../adapters/storage/connected-database.ts";
import { connectPostgres, POSTGRES_TRAITS } from "../../../adapters/storage/postgres/connect-postgres.ts";
import { postgresStorage } from "../../../adapters/storage/postgres/postgres-storage.ts";
import { connectSqlite, lockFile, SQLITE_TRAITS } from "../../../adapters/storage/sqlite/connect-sqlite.ts";
import { sqliteStorage } from "../../../adapters/storage/sqlite/sqlite-storage.ts";
import { findPostgres, type RunningPostgres } from "../../support/postgres.ts";
import { openInOtherProcess } from "./opener-process.ts";
import { recordStatements, type Statement } from "./recorded.ts";
import { storedCall, storedInstance } from "./records.ts";
import { scratchPath } from "./scratch.ts";
import { databaseBefore } from "./steps-before.ts";

const STEPS = [
  "0001_first_tables",
  "0002_media_statistics",
  "0003_unlinked_instances",
  "0004_recordings",
  "0005_transcripts",
  "0006_dialing",
  "0007_event_positions",
  "0008_deletions",
  "0009_retention",
  "0010_owners",
  "0011_receipt_scopes",
  "0012_token_limits",
  "0013_call_prefixes",
  "0014_audio_parts",
  "0015_caller_ids",
  "0016_webhooks",
  "0017_call_references",
  "0018_call_results",
  "0019_agent_turns",
  "0020_result_errors",
  "0021_call_limits",
  "0022_token_scopes",
  "0023_accounts",
  "0024_call_quality",
  "0025_line_records",
  "0026_consents",
  "0027_number_protection",
  "0028_dial_times",
  "0029_dialled_numbers",
  "0030_webhook_headers",
  "0031_sip_calls",
  "0032_queue_order",
  "0033_purge_clock",
  "0034_receipt_ids",
  "0035_account_removals",
  "0036_list_indexes",
  "0037_stored_bytes",
  "0038_counted_rows",
  "0039_lines",
  "0041_batches",
  "0042_waiting_times",
  "0043_waiting_reasons",
  "0044_retry_order",
  "0045_stored_audio",
];

test("four processes migrate one new SQLite file at the same time", { timeout: 60_000 }, async () => {
  for (let round = 0; round < 3; round++) {
    const path = scratchPath();
    const openAt = Date.now() + 1_000;
    const openers = await Promise.all(Array.from({ length: 4 }, () => openInOtherProcess(path, false, openAt)));
    expect(openers.map((opener) => opener.output)).toEqual(["open", "open", "open", "open"]);
    await Promise.all(openers.map((opener) => opener.end()));
    expect(appliedSteps(path)).toEqual(STEPS);
  }
});

test("a newer version's SQLite file is refused and stays unchanged", async () => {
  const path = scratchPath();
  await openAndClose(path);
  const database = new DatabaseSync(path);
  database.exec("insert into ringport_migration values ('9999_from_the_future', '2099-01-01T00:00:00.000Z')");
  database.close();
  const newerVersion = /written by a newer version of ringport \(step 9999_from_the_future\): upgrade ringport/;
  await expect(openAndClose(path)).rejects.toThrow(newerVersion);
  expect(appliedSteps(path)).toEqual([...STEPS, "9999_from_the_future"]);
});

test("a failed migration leaves the database unchanged", async () => {
  const path = scratchPath();
  const database = new DatabaseSync(path);
  database.exec("create table other (id text); create index receipts_by_age on other (id)"); // fails late in the first step
  await expect(openAndClose(path)).rejects.toThrow(/already exists/);
  const { n } = database.prepare("select count(*) n from sqlite_master where name = 'users'").get() as { n: number };
  expect(n).toBe(0);
  expect(appliedSteps(path)).toEqual([]);
  database.exec("drop table other");
  database.close();
  await openAndClose(path);
  expect(appliedSteps(path)).toEqual(STEPS);
});

test("a program next to an older server does not migrate and names the fix", async () => {
  const path = scratchPath();
  const server = await connectSqlite({ path });
  const db = await databaseBefore("0007_event_positions", server.dialect, server.columnTypes);
  const lock = lockFile(path, DatabaseSync);
  const storage = sqliteStorage({ path });
  await expect(storage.open({ exclusive: false })).rejects.toThrow(/restart it with this version first/);
  expect(appliedSteps(path)).toEqual(STEPS.slice(0, 6));
  lock.release();
  await storage.open({ exclusive: false });
  expect(appliedSteps(path)).toEqual(STEPS);
  await storage.close();
  await db.destroy();
  await server.close?.();
});

test("deletions from older versions count as finished", async () => {
  const path = scratchPath();
  const connection = await connectSqlite({ path });
  const db = await databaseBefore("0008_deletions", connection.dialect, connection.columnTypes);
  const values = (id: string, status: string) => sql`insert into instances
    (id, user_id, name, status, metadata, provider, created_at, updated_at, version)
    values (${id}, 'usr_1', 'Desk', ${status}, '{}', 'simulator', 1, 7, 2)`;
  await values("inst_1", "DELETED").execute(db);
  await values("inst_2", "ACTIVE").execute(db);
  await db.destroy();
  const storage = sqliteStorage({ path });
  await storage.open({ exclusive: false });
  expect(await storage.instances.get("inst_1")).toMatchObject({ status: "DELETED", erasedAt: 7 });
  expect(await storage.instances.get("inst_2")).toMatchObject({ status: "ACTIVE", erasedAt: null });
  expect(await storage.instances.halfDeleted({})).toEqual([]);
  await storage.close();
});

test("receipts from older versions name their records, without copies of them", async () => {
  const path = scratchPath();
  await expectReceiptsMigrated(() => connectSqlite({ path }), SQLITE_TRAITS);
});

test("receipts from older versions are found by their key, page by page", async () => {
  const [path, olderPath] = [scratchPath(), scratchPath()];
  const connection = await connectSqlite({ path });
  const db = await databaseBefore("0034_receipt_ids", connection.dialect, connection.columnTypes);
  for (let n = 0; n < 250; n++) await insertOldReceipt(db, `key ${n}`, { id: `inst_${n}`, status: "CREATED" });
  await db.destroy();
  const statements: Statement[] = [];
  const storage = databaseStorage(
    async () => recordStatements(await connectSqlite({ path }), statements),
    SQLITE_TRAITS,
  );
  await storage.open({ exclusive: false });
  await storage.close();

  const olderDatabase = await connectSqlite({ path: olderPath });
  await (await databaseBefore("0034_receipt_ids", olderDatabase.dialect, olderDatabase.columnTypes)).destroy();
  const database = new DatabaseSync(olderPath);
  database.exec("alter table receipts add column record_id text not null default ''"); // as in the middle of the step
  const pages = statements.filter(({ sql }) => /^select user_id, scope, key, result/.test(sql));
  expect(pages.map(({ rows }) => rows)).toEqual([100, 100, 50]);
  for (const { sql, parameters } of pages) {
    const plan = database.prepare(`explain query plan ${sql}`).all(...(parameters as string[]));
    expect(plan.map(({ detail }) => detail)).toEqual([expect.stringMatching(/^SEARCH receipts USING INDEX/)]);
  }
  database.close();
});

test("waiting targets from older versions are counted by their last call's reason", async () => {
  const path = scratchPath();
  await expectWaitingCounted(() => connectSqlite({ path }), SQLITE_TRAITS);
});

test("an older version's audio file is complete", async () => {
  const path = scratchPath();
  const connection = await connectSqlite({ path });
  const db = await databaseBefore("0014_audio_parts", connection.dialect, connection.columnTypes);
  const file = Uint8Array.from({ length: 3 << 20 }, (_, i) => i % 251);
  await sql`insert into call_audio (call_id, bytes) values ('call_1', ${file})`.execute(db);
  await db.destroy();
  const workers = embeddedWorkers({ size: 1 });
  const storage = sqliteStorage({ path, workers });
  await storage.open({ exclusive: false });
  await storage.instances.insert(storedInstance("inst_1"), []);
  const message = { type: "FIXED_AUDIO", format: "wav", durationMs: 1_000, truncated: false } as const;
  await storage.calls.insert(storedCall("call_1", "inst_1", { message }), undefined, { kind: "single" }, []);
  expect(Buffer.compare((await storage.calls.audio("call_1"))!, file)).toBe(0);
  await storage.close();
  await workers.close();
});

const postgres = await findPostgres();
describe.skipIf(postgres.missing)(postgres.title, { timeout: 60_000 }, () => {
  let server: RunningPostgres;
  beforeAll(async () => {
    server = await postgres.start();
  }, 30_000);
  afterAll(() => server?.stop());

  test("four storages migrate one database at once", async () => {
    const url = await server.createDatabase();
    const storages = Array.from({ length: 4 }, () => postgresStorage({ url }));
    await Promise.all(storages.map((storage) => storage.open({ exclusive: false })));
    expect(await storages[0]?.calls.counts()).toEqual({});
    await Promise.all(storages.map((storage) => storage.close()));
  });

  test("receipts from older versions name their records, without copies of them", async () => {
    const url = await server.createDatabase();
    await expectReceiptsMigrated(() => connectPostgres({ url }), POSTGRES_TRAITS);
  });

  test("waiting targets from older versions are counted by their last call's reason", async () => {
    const url = await server.createDatabase();
    await expectWaitingCounted(() => connectPostgres({ url }), POSTGRES_TRAITS);
  });
});

/** Migrates two batches' targets with their counts. */
async function expectWaitingCounted(connect: () => Promise<ConnectedDatabase>, traits: Traits): Promise<void> {
  const olderDatabase = await connect();
  const db = await databaseBefore("0043_waiting_reasons", olderDatabase.dialect, olderDatabase.columnTypes);
  const insert = (batchId: string, position: number, status: string, reason: string | null) =>
    sql`insert into batch_targets
      (batch_id, position, source_row, phone, status, zones, attempts, reason, updated_at, version)
      values (${batchId}, ${position}, 1, '"1"', ${status}, '', 1, ${reason}, 1, 1)`.execute(db);
  const reasons = ["busy", "busy", "no_answer", null];
  for (const [position, reason] of reasons.entries()) await insert("batch_1", position, "WAITING", reason);
  await insert("batch_1", 4, "CALLING", "busy");
  await insert("batch_2", 1, "WAITING", null);
  await sql`insert into batch_counts (batch_id, status, reason, targets) values
    ('batch_1', 'WAITING', '', 4), ('batch_1', 'CALLING', '', 1), ('batch_2', 'WAITING', '', 1)`.execute(db);
  await db.destroy();
  await olderDatabase.close?.();
  const storage = databaseStorage(connect, traits);
  await storage.open({ exclusive: false });
  expect(await storage.batches.counts("batch_1")).toEqual({
    byStatus: { WAITING: 4, CALLING: 1 },
    byReason: [],
    waitingAfter: [
      { reason: "busy", targets: 2 },
      { reason: "no_answer", targets: 1 },
    ],
  });
  expect(await storage.batches.counts("batch_2")).toEqual({ byStatus: { WAITING: 1 }, byReason: [], waitingAfter: [] });
  await storage.close();
}

const insertOldReceipt = (db: Kysely<unknown>, key: string, result: unknown, userId = "usr_1") =>
  sql`insert into receipts (user_id, scope, key, fingerprint, result, created_at)
    values (${userId}, '', ${key}, 'body', ${result && JSON.stringify(result)}, 5)`.execute(db);

/** Migrates two users' receipts, more than fit on one page. */
async function expectReceiptsMigrated(connect: () => Promise<ConnectedDatabase>, traits: Traits): Promise<void> {
  const olderDatabase = await connect();
  const db = await databaseBefore("0034_receipt_ids", olderDatabase.dialect, olderDatabase.columnTypes);
  const text = "x".repeat(20_000);
  const call = { id: "call_1", status: "QUEUED", message: { text: `${text}\0\ud800 "created":false` } };
  const results = [
    { ...call, created: true, replayed: false },
    { ...call, id: "call_2", status: "IN_PROGRESS", created: false, replayed: false },
    { id: "inst_1", status: "CREATED", metadata: { text } },
    null,
    ...Array.from({ length: 250 }, (_, n) => ({ id: `inst_more_${n}`, status: "CREATED" })),
  ];
  for (const [n, result] of results.entries()) await insertOldReceipt(db, `key ${n}`, result);
  for (const [n] of results.entries()) await insertOldReceipt(db, `key ${n}`, { id: `inst_2_${n}` }, "usr_2");
  await db.destroy();
  await olderDatabase.close?.();
  const storage = databaseStorage(connect, traits);
  await storage.open({ exclusive: false });
  const find = (n: number, userId = "usr_1") => storage.receipts.find({ userId, scope: "", key: `key ${n}` }, 5);
  expect(await find(0)).toEqual({ fingerprint: "body", recordId: "call_1" });
  expect(await find(1)).toEqual({ fingerprint: "body", recordId: "call_2", existing: "IN_PROGRESS" });
  expect(await find(2)).toEqual({ fingerprint: "body", recordId: "inst_1" });
  expect(await find(3)).toBeUndefined();
  for (let n = 4; n < results.length; n++) {
    expect(await find(n)).toEqual({ fingerprint: "body", recordId: `inst_more_${n - 4}` });
    expect(await find(n, "usr_2")).toEqual({ fingerprint: "body", recordId: `inst_2_${n}` });
  }
  await storage.close();
}

async function openAndClose(path: string): Promise<void> {
  const storage = sqliteStorage({ path });
  await storage.open({ exclusive: false });
  await storage.close();
}

function appliedSteps(path: string): unknown[] {
  const database = new DatabaseSync(path);
  const table = database.prepare("select name from sqlite_master where name like '%_migration'").get();
  const rows = table ? database.prepare(`select name from ${table.name} order by name`).all() : [];
  database.close();
  return rows.map((row) => row.name);
}
