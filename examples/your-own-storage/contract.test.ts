// The contract of a storage, as tests. With vitest: `import { describe, expect, test } from "vitest"`.
import { describe, expect, test } from "bun:test";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PGlite } from "@electric-sql/pglite";
import { storageContract } from "ringport/testing";
import { pgliteStorage } from "./pglite-storage.ts";

/** One database for all tests: a new one takes seconds. */
const pglite = new PGlite();
pglite.close = async () => {};
const folder = mkdtempSync(join(tmpdir(), "pglite-"));

async function openStorage() {
  const storage = pgliteStorage(join(folder, "unused"), () => pglite);
  await storage.open({ exclusive: true });
  return storage;
}

const migratedStorage = await openStorage();
await migratedStorage.close();
const { rows: tables } = await pglite.query<{ name: string }>(
  "select tablename as name from pg_tables where schemaname = 'public' and tablename not like '%migration%'",
);

storageContract(
  "A storage in PGlite",
  async () => {
    for (const { name } of tables) await pglite.query(`delete from ${name}`);
    let storage = await openStorage();
    return {
      storage,
      async reopen() {
        await storage.close();
        storage = await openStorage();
        return storage;
      },
      close: () => storage.close(),
    };
  },
  { describe, expect, test },
);
