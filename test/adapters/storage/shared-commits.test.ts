import type { DatabaseSync, StatementResultingChanges } from "node:sqlite";
import { expect, test } from "vitest";
import { databaseStorage } from "../../../adapters/storage/all-stores.ts";
import { connectSqlite, SQLITE_TRAITS } from "../../../adapters/storage/sqlite/connect-sqlite.ts";
import { sqliteStorage } from "../../../adapters/storage/sqlite/sqlite-storage.ts";
import type { Event } from "../../../src/domain/events.ts";
import type { Instance } from "../../../src/domain/instances/instance.ts";
import { type Storage, StorageUnavailable } from "../../../src/ports/storage.ts";
import { recordStatements, type Statement } from "./recorded.ts";
import { scratchPath } from "./scratch.ts";

const NUMBERS = Array.from({ length: 20 }, (_, n) => n);

test("concurrent writers share commits, without savepoints", async () => {
  const statements: Statement[] = [];
  let commits = 0;
  const path = scratchPath();
  const countCommits = (database: DatabaseSync): void => {
    const prepare = database.prepare.bind(database);
    database.prepare = (sql: string) => {
      const statement = prepare(sql);
      const run = statement.run.bind(statement) as (...values: unknown[]) => StatementResultingChanges;
      const countedRun = (...values: unknown[]) => {
        if (sql === "commit") commits++;
        return run(...values);
      };
      return Object.assign(statement, { run: countedRun });
    };
  };
  const storage = databaseStorage(
    async () => recordStatements(await connectSqlite({ path }, countCommits), statements),
    SQLITE_TRAITS,
  );
  const otherStorage = sqliteStorage({ path });
  await storage.open({ exclusive: true });
  await otherStorage.open({ exclusive: false });
  statements.length = commits = 0;

  const writes = NUMBERS.map(async (n) => {
    await storage.instances.insert(instance(n), [createdEvent(n)]);
    expect(await storage.instances.get(instance(n).id)).toMatchObject({ name: `number ${n}` });
    // Resolved writes are committed: another process sees them in its next transaction.
    await expect
      .poll(() => otherStorage.instances.get(instance(n).id), { interval: 1 })
      .toMatchObject({ name: `number ${n}` });
  });
  await Promise.all(writes);
  expect(commits).toBeGreaterThan(0);
  expect(commits).toBeLessThan(NUMBERS.length / 2);
  expect(statements.filter(({ sql }) => sql.startsWith("savepoint"))).toEqual([]);
  await Promise.all([storage.close(), otherStorage.close()]);
});

test("each writer in a shared commit succeeds or fails on its own", async () => {
  const storage = await openStorage();
  await storage.instances.insert(instance(7), []);
  const results = await Promise.allSettled(
    NUMBERS.map((n) => storage.instances.insert(instance(n), [createdEvent(n)])),
  );
  const rejectedNumbers = results.flatMap(({ status }, n) => (status === "rejected" ? [n] : []));
  expect(rejectedNumbers).toEqual([7]); // an instance with that id already exists
  const events = await storage.events.ofUser("usr_1", {}, {});
  expect(events.map(({ instanceId }) => instanceId)).toEqual(NUMBERS.filter((n) => n !== 7).map((n) => instance(n).id));
  await storage.close();
});

test("a write that exceeds the size limit fails alone in a shared commit", async () => {
  const storage = await openStorage(180);
  const name = (n: number) => (n === 7 ? "n".repeat(1_000_000) : "small");
  const insert = (n: number) => storage.instances.insert({ ...instance(n), name: name(n) }, [createdEvent(n)]);
  const results = await Promise.allSettled(NUMBERS.map(insert));
  for (const [n, result] of results.entries())
    if (n === 7) expect(result).toMatchObject({ status: "rejected", reason: expect.any(StorageUnavailable) });
    else expect(result.status).toBe("fulfilled");
  const expectedIds = NUMBERS.filter((n) => n !== 7).map((n) => instance(n).id);
  expect((await storage.instances.list("usr_1", {})).map(({ id }) => id).sort()).toEqual(expectedIds);
  expect((await storage.events.ofUser("usr_1", {}, {})).map(({ instanceId }) => instanceId)).toEqual(expectedIds);
  await storage.close();
});

async function openStorage(maxPageCount?: number): Promise<Storage> {
  const storage = sqliteStorage({ path: scratchPath(), ...(maxPageCount === undefined ? {} : { maxPageCount }) });
  await storage.open({ exclusive: true });
  return storage;
}

function instance(n: number): Instance {
  return {
    id: `inst_${String(n).padStart(2, "0")}`,
    userId: "usr_1",
    name: `number ${n}`,
    status: "CREATED",
    metadata: {},
    provider: "simulator",
    phone: null,
    createdAt: n,
    updatedAt: n,
    erasedAt: null,
    version: 1,
  };
}

function createdEvent(n: number): Event {
  const { id, userId, name } = instance(n);
  const suffix = String(n).padStart(2, "0");
  return {
    id: `evt_${suffix}`,
    type: "instance.created",
    timestamp: n,
    callId: null,
    instanceId: id,
    userId,
    data: { name },
  };
}
