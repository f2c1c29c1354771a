import type { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { databaseStorage } from "../../../adapters/storage/all-stores.ts";
import { connectSqlite, SQLITE_TRAITS } from "../../../adapters/storage/sqlite/connect-sqlite.ts";
import { nodeSqlite } from "../../../adapters/storage/sqlite/node-sqlite.ts";
import type { SqliteStorageOptions } from "../../../adapters/storage/sqlite/sqlite-storage.ts";
import { WalSync } from "../../../adapters/storage/sqlite/wal-sync.ts";
import { type Storage, StorageUnavailable } from "../../../src/ports/storage.ts";
import { storedInstance } from "./records.ts";
import { scratchPath } from "./scratch.ts";

/** SQLite's numbers of the modes (sqlite.org/pragma.html#pragma_synchronous). */
const NORMAL = 1;
const FULL = 2;

test("a commit without a sync of the WAL is synced by SQLite itself", async () => {
  const { storage, mode } = await openStorage({ path: scratchPath() });
  expect(mode()).toBe(FULL);
  await storage.instances.insert(storedInstance("inst_1"), []);
  expect(mode()).toBe(NORMAL);
  await storage.close();
});

test("a WAL that cannot be opened leaves the syncs to SQLite", async () => {
  const database = await openDatabase(scratchPath());
  await new WalSync(database, "/missing/ringport.db").commitsDurable();
  expect(modeOf(database)).toBe(FULL);
  database.close();
});

test("a write resolves when its commit is durable", async () => {
  const disk = Promise.withResolvers<void>();
  const { storage } = await openStorage({ path: scratchPath() }, () => disk.promise);
  let isDone = false;
  const writes = ["inst_1", "inst_2"].map((id) => storage.instances.insert(storedInstance(id), []));
  const all = Promise.all(writes).then(() => {
    isDone = true;
  });
  await expect.poll(() => storage.instances.get("inst_2")).toMatchObject({ id: "inst_2" });
  expect(isDone).toBe(false);
  disk.resolve();
  await all;
  await storage.close();
});

test("writes whose commit may be lost fail, and are not run again", async () => {
  const { storage } = await openStorage({ path: scratchPath() }, async () => {
    throw new StorageUnavailable("the disk of the database failed");
  });
  let runs = 0;
  const write = (id: string) => {
    const instance = storedInstance(id);
    // Reading the name is part of the work.
    return storage.instances.insert(
      Object.defineProperty(instance, "name", { enumerable: true, get: () => runs++ }),
      [],
    );
  };
  const results = await Promise.allSettled(["inst_1", "inst_2", "inst_3"].map(write));
  for (const result of results)
    expect(result).toMatchObject({ status: "rejected", reason: expect.any(StorageUnavailable) });
  expect(runs).toBe(3);
  await storage.close();
});

test("commits during one sync share the next", async () => {
  const path = scratchPath();
  const database = await openDatabase(path);
  const walSync = new WalSync(database, path);
  const first = walSync.commitsDurable();
  const [second, third] = [walSync.commitsDurable(), walSync.commitsDurable()];
  expect(second).not.toBe(first);
  expect(third).toBe(second);
  await Promise.all([first, second]);
  const later = walSync.commitsDurable();
  expect(later).not.toBe(second);
  await later;
  walSync.close();
  database.close();
});

async function openStorage(
  options: SqliteStorageOptions,
  commitsDurable?: () => Promise<void>,
): Promise<{ storage: Storage; mode(): unknown }> {
  let opened: DatabaseSync | undefined;
  const storage = databaseStorage(async () => {
    const connection = await connectSqlite(options, (database) => {
      opened = database;
    });
    return commitsDurable ? { ...connection, commitsDurable } : connection;
  }, SQLITE_TRAITS);
  await storage.open({ exclusive: true });
  return { storage, mode: () => opened && modeOf(opened) };
}

async function openDatabase(path: string): Promise<DatabaseSync> {
  const { DatabaseSync } = await nodeSqlite();
  const database = new DatabaseSync(path);
  database.exec("pragma journal_mode = wal; create table numbers (n integer)");
  return database;
}

function modeOf(database: DatabaseSync): unknown {
  return database.prepare("pragma synchronous").get()?.synchronous;
}
