import { PostgresDialect } from "kysely";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { kyselyStorage } from "../../adapters/storage/kysely-storage.ts";
import { postgresStorage } from "../../adapters/storage/postgres/postgres-storage.ts";
import { type Storage, StorageLocked } from "../../src/ports/storage.ts";
import type { StorageUnderTest } from "../../src/testing/storage-contract/scene.ts";
import { storageContract } from "../../src/testing/storage-contract.ts";
import { findPostgres, openClient, type RunningPostgres } from "../support/postgres.ts";
import { storageUnderTest } from "../support/storage-under-test.ts";

const runner = { describe, test, expect };

/** A storage on a PostgreSQL database, and its cleanup. */
interface DisposableStorage {
  make(): Storage;
  end(): Promise<void>;
}

/** Storages on one database, which is emptied for each storage: a new database takes 50 to 100 ms of processor time. */
function reuseDatabase(
  server: () => RunningPostgres,
  createStorage: (url: string) => DisposableStorage,
): () => Promise<StorageUnderTest> {
  let database: Promise<string> | undefined;
  return async () => {
    database ??= server().createDatabase();
    const url = await database;
    await deleteRows(url);
    const { make, end } = createStorage(url);
    return storageUnderTest(make, end);
  };
}

/** Deletes all rows except those that the migrations created. */
async function deleteRows(url: string): Promise<void> {
  await using client = await openClient(url);
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

  const openOwnConnections = (url: string): DisposableStorage => ({
    make: () => postgresStorage({ url }),
    end: async () => {},
  });
  storageContract(
    "PostgreSQL",
    reuseDatabase(() => server, openOwnConnections),
    runner,
  );

  const openOnHostPool = (url: string): DisposableStorage => {
    const pool = new pg.Pool({ connectionString: url, max: 10 });
    pool.on("error", () => {}); // the server may stop before the last connection has closed
    return { make: () => postgresStorage({ pool, schema: "calls", prefix: "rp_" }), end: () => pool.end() };
  };
  storageContract(
    "PostgreSQL with a pool, a schema and a prefix of the host",
    reuseDatabase(() => server, openOnHostPool),
    runner,
  );

  const types: pg.CustomTypesConfig = {
    getTypeParser: (oid, format) =>
      oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format as "text"),
  };
  const dialectStorage = (url: string): Storage => {
    const pool = async () => new pg.Pool({ connectionString: url, types });
    return kyselyStorage(new PostgresDialect({ pool }), { sql: "postgres", name: "a host's database", prefix: "rp_" });
  };
  storageContract(
    "PostgreSQL through a Kysely dialect",
    reuseDatabase(
      () => server,
      (url) => ({ make: () => dialectStorage(url), end: async () => {} }),
    ),
    runner,
  );

  test("a server with a Kysely dialect cannot write after a takeover", async () => {
    const url = await server.createDatabase();
    const [first, second] = [dialectStorage(url), dialectStorage(url)];
    await first.open({ exclusive: true, leaseMs: 60_000 });
    await expect(second.open({ exclusive: true })).rejects.toThrow(StorageLocked);
    await using admin = await openClient(url);
    await admin.query("update rp_owners set expires_at = 0");
    await second.open({ exclusive: true });
    const time = { at: 1, claim: null };
    await expect(first.retention.saveTrustedTime(time)).rejects.toThrow(
      "has taken over the database a host's database",
    );
    await second.retention.saveTrustedTime(time);
    expect(await second.retention.trustedTime()).toEqual(time);
    await first.close();
    await second.close();
  });
});
