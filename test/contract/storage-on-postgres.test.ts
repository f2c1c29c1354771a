import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { postgresStorage } from "../../adapters/storage/postgres.ts";
import type { Storage } from "../../src/ports/storage.ts";
import { type StorageUnderTest, storageContract } from "../../src/testing/storage-contract.ts";
import { findPostgres, type RunningPostgres } from "../support/postgres.ts";
import { storageUnderTest } from "../support/storage-under-test.ts";

const runner = { describe, test, expect };

/** A storage on a database of PostgreSQL, and the end of what it was made with. */
interface OnPostgres {
  make(): Storage;
  end(): Promise<void>;
}

/** Storages on copies of one database, which is migrated once. */
function copies(server: () => RunningPostgres, on: (url: string) => OnPostgres): () => Promise<StorageUnderTest> {
  let template: Promise<string> | undefined;
  const migrated = async (): Promise<string> => {
    const url = await server().createDatabase();
    const { make, end } = on(url);
    await (await storageUnderTest(make, end)).close();
    return url;
  };
  return async () => {
    template ??= migrated();
    const { make, end } = on(await server().createDatabase(await template));
    return storageUnderTest(make, end);
  };
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
    copies(() => server, ownConnections),
    runner,
  );

  const poolOfTheHost = (url: string): OnPostgres => {
    const pool = new pg.Pool({ connectionString: url, max: 10 });
    pool.on("error", () => {}); // the server may stop before the last connection has gone
    return { make: () => postgresStorage({ pool, schema: "calls", prefix: "rp_" }), end: () => pool.end() };
  };
  storageContract(
    "PostgreSQL with a pool, a schema and a prefix of the host",
    copies(() => server, poolOfTheHost),
    runner,
  );
});
