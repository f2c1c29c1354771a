import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { postgresStorage } from "../../adapters/storage/postgres/postgres-storage.ts";
import type { Storage } from "../../src/ports/storage.ts";
import type { StorageUnderTest } from "../../src/testing/storage-contract/scene.ts";
import { storageContract } from "../../src/testing/storage-contract.ts";
import { connected, findPostgres, type RunningPostgres } from "../support/postgres.ts";
import { storageUnderTest } from "../support/storage-under-test.ts";

const runner = { describe, test, expect };

/** A storage on a PostgreSQL database, and its cleanup. */
interface OnPostgres {
  make(): Storage;
  end(): Promise<void>;
}

/** Storages on one database, which is emptied for each: a new database takes 50 to 100 ms of processor time. */
function emptied(server: () => RunningPostgres, on: (url: string) => OnPostgres): () => Promise<StorageUnderTest> {
  let database: Promise<string> | undefined;
  return async () => {
    database ??= server().createDatabase();
    const url = await database;
    await deleteRows(url);
    const { make, end } = on(url);
    return storageUnderTest(make, end);
  };
}

/** Deletes all rows except those of the migrations. */
async function deleteRows(url: string): Promise<void> {
  await using client = await connected(url);
  const { rows } = await client.query<{ place: string }>(
    `select format('%I.%I', schemaname, tablename) as place from pg_tables
      where schemaname not in ('pg_catalog', 'information_schema') and tablename not like '%migration%'`,
  );
  await client.query(rows.map(({ place }) => `delete from ${place}`).join(";"));
}

const postgres = await findPostgres();
describe.skipIf(postgres.missing)(postgres.title, () => {
  let server: RunningPostgres;
  beforeAll(async () => {
    server = await postgres.start();
  }, 30_000);
  afterAll(() => server?.stop());

  const ownConnections = (url: string): OnPostgres => ({ make: () => postgresStorage({ url }), end: async () => {} });
  storageContract(
    "PostgreSQL",
    emptied(() => server, ownConnections),
    runner,
  );

  const poolOfTheHost = (url: string): OnPostgres => {
    const pool = new pg.Pool({ connectionString: url, max: 10 });
    pool.on("error", () => {}); // the server may stop before the last connection has gone
    return { make: () => postgresStorage({ pool, schema: "calls", prefix: "rp_" }), end: () => pool.end() };
  };
  storageContract(
    "PostgreSQL with a pool, a schema and a prefix of the host",
    emptied(() => server, poolOfTheHost),
    runner,
  );
});
