import { Kysely, sql } from "kysely";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { databaseStorage } from "../../../adapters/storage/all-stores.ts";
import type { ConnectedDatabase, Traits } from "../../../adapters/storage/connected-database.ts";
import { connectPostgres, POSTGRES_TRAITS } from "../../../adapters/storage/postgres/connect-postgres.ts";
import { connectSqlite, SQLITE_TRAITS } from "../../../adapters/storage/sqlite/connect-sqlite.ts";
import type { Database } from "../../../adapters/storage/tables/all-tables.ts";
import type { Storage } from "../../../src/ports/storage.ts";
import { findPostgres, openClient, type RunningPostgres } from "../../support/postgres.ts";
import { storedCall, storedInstance } from "./records.ts";
import { scratchPath } from "./scratch.ts";
import { databaseBefore } from "./steps-before.ts";

/** A new database. */
interface TestDatabase {
  connect(): Promise<ConnectedDatabase>;
  readonly traits: Traits;
}

async function openStorage({ connect, traits }: TestDatabase): Promise<Storage> {
  const storage = databaseStorage(connect, traits);
  await storage.open({ exclusive: false });
  onTestFinished(() => storage.close());
  return storage;
}

/** Fills a database from the version before bytes were counted. */
async function olderDatabase(
  { connect }: TestDatabase,
  fill: (db: Kysely<unknown>) => Promise<unknown>,
): Promise<void> {
  const { dialect, columnTypes, close } = await connect();
  const db = await databaseBefore("0037_stored_bytes", dialect, columnTypes);
  await fill(db);
  await db.destroy();
  await close?.();
}

/** Stores a deleted instance on which a demo token had placed a call. */
async function storeDeletedInstance({ instances, calls }: Storage): Promise<void> {
  await instances.insert(storedInstance("inst_1"), []);
  await calls.insert(storedCall("call_1", "inst_1", { isDemo: true }), undefined, { kind: "single" }, []);
  await calls.update("call_1", 1, { status: "FAILED", endedAt: 1 }, []);
  await calls.remove(["call_1"]);
  await instances.update("inst_1", 1, { status: "DELETED", erasedAt: 1 }, []);
}

/** Owners with a count of stored bytes. */
async function countedOwners({ connect }: TestDatabase): Promise<string[]> {
  const { dialect, close } = await connect();
  const db = new Kysely<Database>({ dialect });
  const rows = await db.selectFrom("stored_usage").select("owner").execute();
  await db.destroy();
  await close?.();
  return rows.map(({ owner }) => owner);
}

function testByteCounts(newDatabase: () => Promise<TestDatabase>): void {
  test("counts an earlier version's recording that is longer than nine hours", async () => {
    const database = await newDatabase();
    await olderDatabase(database, (db) =>
      sql`insert into calls
        (id, instance_id, user_id, status, type, target_phone, message, recorded_ms, created_at, slot, version)
        values ('call_1', 'inst_1', 'usr_1', 'COMPLETED', 'FIXED_TTS', '+15550100', '{}', 40000000, 1, 0, 1)`.execute(
        db,
      ),
    );
    const { retention } = await openStorage(database);
    expect(await retention.storedBytes("usr_1")).toBe(4096 + 2 + 64 * 40_000_000);
  });

  test("leaves another program's table named usage alone", async () => {
    const database = await newDatabase();
    await olderDatabase(database, (db) => db.schema.createTable("usage").addColumn("owner", "text").execute());
    const storage = await openStorage(database);
    await storage.instances.insert(storedInstance("inst_1"), []);
    expect(await storage.retention.storedBytes("usr_1")).toBeGreaterThan(0);
  });

  test.each<[string, (storage: Storage) => Promise<unknown>]>([
    ["an instance is purged", ({ instances }) => instances.purge(9, 10)],
    ["its user is forgotten", ({ logins }) => logins.forgetUser("usr_1", 10)],
  ])("keeps no count of an instance's demo tokens when %s", async (_, forget) => {
    const database = await newDatabase();
    const storage = await openStorage(database);
    await storeDeletedInstance(storage);
    expect((await countedOwners(database)).sort()).toEqual(["inst_1", "usr_1"]);
    await forget(storage);
    expect(await storage.instances.get("inst_1")).toBeUndefined();
    expect(await countedOwners(database)).toEqual(["usr_1"]);
    expect(await storage.retention.storedBytes("usr_1")).toBe(0);
  });
}

describe("SQLite", () =>
  testByteCounts(async () => {
    const path = scratchPath();
    return { connect: () => connectSqlite({ path }), traits: SQLITE_TRAITS };
  }));

const postgres = await findPostgres();
describe.skipIf(postgres.missing)(postgres.title, () => {
  let server: RunningPostgres;
  beforeAll(async () => {
    server = await postgres.start();
  }, 30_000);
  afterAll(() => server?.stop());

  testByteCounts(async () => {
    const url = await server.createDatabase();
    return { connect: () => connectPostgres({ url }), traits: POSTGRES_TRAITS };
  });

  const LOCK_ORDER = ["instances", "finished_counts", "stored_usage"];
  test.each<[string, (storage: Storage) => Promise<unknown>]>([
    ["purge of an instance", ({ instances }) => instances.purge(9, 10)],
    ["removal of a user", ({ logins }) => logins.forgetUser("usr_1", 10)],
  ])("a %s locks rows in the same order as calls do", async (_, forget) => {
    const url = await server.createDatabase();
    const storage = await openStorage({ connect: () => connectPostgres({ url }), traits: POSTGRES_TRAITS });
    await using lockingClient = await openClient(url);
    await using watchingClient = await openClient(url);
    const waitingStatements =
      "select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()";
    for (const [i, table] of LOCK_ORDER.entries()) {
      await storeDeletedInstance(storage);
      await lockingClient.query(`begin; select * from ${table} for update`);
      const deletion = forget(storage);
      await expect.poll(async () => (await watchingClient.query(waitingStatements)).rowCount).toBe(1);
      for (const laterTable of LOCK_ORDER.slice(i + 1))
        await lockingClient.query(`select * from ${laterTable} for update nowait`);
      await lockingClient.query("commit");
      await deletion;
      expect(await storage.instances.get("inst_1")).toBeUndefined();
    }
  });
});
