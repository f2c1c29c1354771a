import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { postgresStorage } from "../../adapters/storage/postgres.ts";
import { sqliteStorage } from "../../adapters/storage/sqlite.ts";
import type { Storage } from "../../src/ports/storage.ts";
import { type StorageUnderTest, storageContract } from "../../src/testing/storage-contract.ts";
import { findPostgres, type RunningPostgres } from "../support/postgres.ts";

const runner = { describe, test, expect };

/** One storage after another over the same data. */
async function underTest(make: () => Storage, remove: () => void): Promise<StorageUnderTest> {
  let storage = make();
  await storage.open({ exclusive: true });
  return {
    storage,
    async reopen() {
      await storage.close();
      storage = make();
      await storage.open({ exclusive: true });
      return storage;
    },
    async close() {
      await storage.close();
      remove();
    },
  };
}

storageContract(
  "SQLite in a file",
  () => {
    const folder = mkdtempSync(join(tmpdir(), "ringport-storage-"));
    const make = () => sqliteStorage({ path: join(folder, "ringport.db") });
    return underTest(make, () => rmSync(folder, { recursive: true }));
  },
  runner,
);

storageContract(
  "SQLite in memory",
  () =>
    underTest(
      () => sqliteStorage({ path: ":memory:" }),
      () => {},
    ),
  runner,
  "a database in memory ends with its connection",
);

const postgres = await findPostgres();
describe.skipIf(postgres.missing)(postgres.title, () => {
  let server: RunningPostgres | undefined;
  beforeAll(async () => {
    server = await postgres.start();
  }, 30_000);
  afterAll(() => server?.stop());

  storageContract(
    "PostgreSQL",
    async () => {
      if (!server) throw new Error("PostgreSQL has not started");
      const url = await server.createDatabase();
      return underTest(
        () => postgresStorage({ url }),
        () => {},
      );
    },
    runner,
  );

  let pool: pg.Pool | undefined;
  let schemas = 0;
  afterAll(() => pool?.end());
  storageContract(
    "PostgreSQL with a pool, a schema and a prefix of the host",
    async () => {
      if (!server) throw new Error("PostgreSQL has not started");
      const host = pool ?? new pg.Pool({ connectionString: await server.createDatabase(), max: 10 });
      if (!pool) host.on("error", () => {}); // the server may stop before the last connection has gone
      pool = host;
      const names = { schema: `ringport_${schemas++}`, prefix: "rp_" };
      return underTest(
        () => postgresStorage({ pool: host, ...names }),
        () => {},
      );
    },
    runner,
  );
});
