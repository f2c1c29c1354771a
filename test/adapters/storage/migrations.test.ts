import { DatabaseSync } from "node:sqlite";
import { Kysely, sql } from "kysely";
import { describe, expect, test } from "vitest";
import { migrate } from "../../../adapters/storage/migrations.ts";
import { postgresStorage } from "../../../adapters/storage/postgres.ts";
import { sqliteStorage } from "../../../adapters/storage/sqlite.ts";
import { connectSqlite } from "../../../adapters/storage/sqlite-engine.ts";
import { findPostgres } from "../../support/postgres.ts";
import { openElsewhere } from "./opener-process.ts";
import { scratchPath } from "./scratch.ts";
import { stepsBefore } from "./steps-before.ts";

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
  "0011_receipt_scopes",
];

test("four processes migrate one new SQLite file at the same time", { timeout: 60_000 }, async () => {
  for (let round = 0; round < 3; round++) {
    const path = scratchPath();
    const at = Date.now() + 1_000;
    const openers = await Promise.all(Array.from({ length: 4 }, () => openElsewhere(path, false, at)));
    expect(openers.map((opener) => opener.said)).toEqual(["open", "open", "open", "open"]);
    await Promise.all(openers.map((opener) => opener.end()));
    expect(applied(path)).toEqual(STEPS);
  }
});

test("a SQLite file of a newer version is refused in one sentence, and left as it is", async () => {
  const path = scratchPath();
  await openAndClose(path);
  const database = new DatabaseSync(path);
  database.exec("insert into kysely_migration values ('9999_from_the_future', '2099-01-01T00:00:00.000Z')");
  database.close();
  const refused = /written by a newer version of ringport \(step 9999_from_the_future\): upgrade ringport/;
  await expect(openAndClose(path)).rejects.toThrow(refused);
  expect(applied(path)).toEqual([...STEPS, "9999_from_the_future"]);
});

test("a migration that fails leaves nothing behind", async () => {
  const path = scratchPath();
  const database = new DatabaseSync(path);
  database.exec("create table receipts (other text)"); // the last table of the first step
  await expect(openAndClose(path)).rejects.toThrow(/already exists/);
  const { n } = database.prepare("select count(*) n from sqlite_master where name = 'users'").get() as { n: number };
  expect(n).toBe(0);
  expect(applied(path)).toEqual([]);
  database.exec("drop table receipts");
  database.close();
  await openAndClose(path);
  expect(applied(path)).toEqual(STEPS);
});

test("a program beside a server of an earlier version leaves its database alone, and names the fix", async () => {
  const path = scratchPath();
  const server = await connectSqlite({ path });
  const db = new Kysely<unknown>({ dialect: server.dialect });
  await migrate(db, stepsBefore("0007_event_positions", server.columnTypes), path);
  const lock = await server.lock();
  const storage = sqliteStorage({ path });
  await expect(storage.open({ exclusive: false })).rejects.toThrow(/restart it with this version first/);
  expect(applied(path)).toEqual(STEPS.slice(0, 6));
  await lock.release();
  await storage.open({ exclusive: false });
  expect(applied(path)).toEqual(STEPS);
  await storage.close();
  await db.destroy();
  server.close?.();
});

test("deletions of before the steps were stored count as finished", async () => {
  const path = scratchPath();
  const engine = await connectSqlite({ path });
  const db = new Kysely<unknown>({ dialect: engine.dialect });
  await migrate(db, stepsBefore("0008_deletions", engine.columnTypes), path);
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

const postgres = await findPostgres();
describe.skipIf(postgres.missing)(postgres.title, () => {
  test("four storages migrate one new database at the same time", { timeout: 60_000 }, async () => {
    const server = await postgres.start();
    try {
      const url = await server.createDatabase();
      const storages = Array.from({ length: 4 }, () => postgresStorage({ url }));
      await Promise.all(storages.map((storage) => storage.open({ exclusive: false })));
      expect(await storages[0]?.calls.counts()).toEqual({});
      await Promise.all(storages.map((storage) => storage.close()));
    } finally {
      await server.stop();
    }
  });
});

async function openAndClose(path: string): Promise<void> {
  const storage = sqliteStorage({ path });
  await storage.open({ exclusive: false });
  await storage.close();
}

function applied(path: string): unknown[] {
  const database = new DatabaseSync(path);
  const rows = database.prepare("select name from kysely_migration order by name").all();
  database.close();
  return rows.map((row) => row.name);
}
