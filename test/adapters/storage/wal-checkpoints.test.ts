import { copyFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { afterAll, expect, test } from "vitest";
import { embeddedWorkers } from "../../../adapters/defaults/worker-pool.ts";
import { sqliteStorage } from "../../../adapters/storage/sqlite/sqlite-storage.ts";
import { storedInstance } from "./records.ts";
import { scratchPath } from "./scratch.ts";

const workers = embeddedWorkers({ size: 1 });
afterAll(() => workers.close());

test("a worker moves commits from the WAL into the database", async () => {
  const path = scratchPath();
  const storage = sqliteStorage({ path, workers });
  await storage.open({ exclusive: true });
  for (let n = 0; n < 150; n++) await storage.instances.insert(storedInstance(`inst_${n}`), []);
  // A tenth of the pages at which SQLite itself would move them.
  await expect.poll(() => instancesWithoutWal(path), { timeout: 10_000 }).toBeGreaterThan(50);
  await storage.close();
});

test("the WAL is gone after the storage has closed", async () => {
  const path = scratchPath();
  const storage = sqliteStorage({ path, workers });
  await storage.open({ exclusive: true });
  for (let n = 0; n < 100; n++) await storage.instances.insert(storedInstance(`inst_${n}`), []);
  await storage.close();
  expect(instancesWithoutWal(path)).toBe(100);
});

/** Number of instances in the database file alone. */
function instancesWithoutWal(path: string): number {
  const copy = scratchPath();
  copyFileSync(path, copy);
  const database = new DatabaseSync(copy);
  try {
    return Number(database.prepare("select count(*) as count from instances").get()?.count);
  } catch {
    return 0; // copied in the middle of a checkpoint, or before the first
  } finally {
    database.close();
  }
}
