import pg from "pg";
import { describe, expect, test } from "vitest";
import { postgresUnavailable } from "../../../adapters/storage/postgres/postgres-errors.ts";
import { postgresStorage } from "../../../adapters/storage/postgres/postgres-storage.ts";
import { StorageUnavailable } from "../../../src/ports/storage.ts";
import { findPostgres } from "../../support/postgres.ts";

test("postgresUnavailable recognises only temporary errors", () => {
  const withCode = (code: string) => Object.assign(new Error(code), { code });
  for (const code of [
    "53100",
    "53300",
    "57P01",
    "57P03",
    "08006",
    "40P01",
    "57014",
    "25P03",
    "ECONNREFUSED",
    "ECONNRESET",
  ])
    expect(postgresUnavailable(withCode(code)), code).toBeDefined();
  for (const sentence of ["Connection terminated unexpectedly", "timeout exceeded when trying to connect"])
    expect(postgresUnavailable(new Error(sentence)), sentence).toBeDefined();
  for (const code of ["23505", "42601", "22021"]) expect(postgresUnavailable(withCode(code)), code).toBeUndefined();
  expect(postgresUnavailable(new TypeError("oops"))).toBeUndefined();
});

test("a missing server is reported as unavailable", async () => {
  const storage = postgresStorage({ url: "postgres://test@127.0.0.1:1/postgres" });
  for (const exclusive of [true, false])
    await expect(storage.open({ exclusive })).rejects.toBeInstanceOf(StorageUnavailable);
});

const postgres = await findPostgres();
describe.skipIf(postgres.missing)(postgres.title, () => {
  test("a broken connection fails as unavailable, and a later one works", {
    timeout: 60_000,
  }, async () => {
    const server = await postgres.start();
    try {
      const url = await server.createDatabase();
      const storage = postgresStorage({ url, max: 2 });
      await storage.open({ exclusive: false });
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      await client.query("begin; lock table events in access exclusive mode");
      const work = [1, 2, 3].map((n) => storage.events.ofCall(`call_${n}`, {}).catch((error: unknown) => error));
      await new Promise((resolve) => setTimeout(resolve, 300));
      await client.query(`select pg_terminate_backend(pid, 5000) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()`);
      await client.query("rollback");
      await client.end();
      const results = await Promise.all(work);
      expect(results.filter((result) => result instanceof StorageUnavailable)).toHaveLength(2);
      expect(results[2]).toEqual([]);
      expect(await storage.calls.counts()).toEqual({});
      await storage.close();
    } finally {
      await server.stop();
    }
  });

  test("a NUL character in text fails only its own statement", { timeout: 60_000 }, async () => {
    const server = await postgres.start();
    try {
      const storage = postgresStorage({ url: await server.createDatabase() });
      await storage.open({ exclusive: true });
      const withNul = storage.accounts.ensureUser({ id: "usr_1", name: "A\u0000da", createdAt: 1 });
      await expect(withNul).rejects.not.toBeInstanceOf(StorageUnavailable);
      await expect(storage.calls.get("call_\u0000")).rejects.toThrow();
      expect(await storage.accounts.userByName("Ada")).toBeUndefined();
      await storage.close();
    } finally {
      await server.stop();
    }
  });
});
