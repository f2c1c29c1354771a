import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { migrations } from "../../../adapters/storage/migrations/all-migrations.ts";
import { connectPostgres } from "../../../adapters/storage/postgres/connect-postgres.ts";
import { postgresStorage } from "../../../adapters/storage/postgres/postgres-storage.ts";
import { LeaseLost, StorageLocked } from "../../../src/ports/storage.ts";
import { findPooler, type RunningPooler } from "../../support/pgbouncer.ts";
import { findPostgres, openClient, type RunningPostgres } from "../../support/postgres.ts";
import { storedCall, storedInstance } from "./records.ts";
import { databaseBefore } from "./steps-before.ts";

const postgres = await findPostgres();
const availablePooler = findPooler();
const title = `PostgreSQL behind a transaction pooler, ${availablePooler.title}`;

describe.skipIf(postgres.missing ?? availablePooler.missing)(title, { timeout: 60_000 }, () => {
  let server: RunningPostgres;
  let pooler: RunningPooler;
  beforeAll(async () => {
    server = await postgres.start();
    pooler = await availablePooler.start(server.url, 3);
  }, 30_000);
  afterAll(async () => {
    await pooler?.stop();
    await server?.stop();
  });

  test("supports the lease, writes, renewal, takeover and release", async () => {
    const url = pooler.urlThrough(await server.createDatabase());
    const [first, second] = [postgresStorage({ url }), postgresStorage({ url })];
    await first.open({ exclusive: true, leaseMs: 600_000 });
    await expect(second.open({ exclusive: true })).rejects.toBeInstanceOf(StorageLocked);

    const ids = Array.from({ length: 30 }, (_, n) => `inst_${n}`);
    const claims = ids.map(async (id) => {
      await first.instances.insert(storedInstance(id), []);
      await first.calls.insert(storedCall(`call_of_${id}`, id), undefined, { kind: "single" }, []);
      await first.lease?.renew();
      return first.calls.claimNext(id, "node_1", 1, 0);
    });
    for (const call of await Promise.all(claims)) expect(call).toMatchObject({ owner: "node_1" });
    expect(await first.calls.counts()).toEqual({ QUEUED: 30 });

    await using client = await openClient(url);
    await client.query("update owners set expires_at = 0");
    await second.open({ exclusive: true });
    const lateWrite = first.instances.update("inst_1", 1, { name: "late" }, []);
    await expect(lateWrite).rejects.toBeInstanceOf(LeaseLost);
    await expect(first.lease?.renew()).rejects.toBeInstanceOf(LeaseLost);
    await first.close();
    await second.close();
    await first.open({ exclusive: true });
    expect(first.lease?.epoch).toBe(3);
    expect(await first.instances.get("inst_1")).toMatchObject({ name: "Reception" });
    await first.close();
  });

  test("migrates an older database once for three servers and leaves no lock", async () => {
    const directUrl = await server.createDatabase();
    const olderDatabase = await connectPostgres({ url: directUrl });
    await (await databaseBefore("0008_deletions", olderDatabase.dialect, olderDatabase.columnTypes)).destroy();
    await olderDatabase.close?.();
    const storages = Array.from({ length: 3 }, () => postgresStorage({ url: pooler.urlThrough(directUrl) }));
    const openings = await Promise.allSettled(storages.map((storage) => storage.open({ exclusive: true })));
    expect(openings.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected", "rejected"]);
    await using client = await openClient(directUrl);
    const { rows: locks } = await client.query("select * from pg_locks where locktype = 'advisory'");
    expect(locks).toEqual([]);
    const { rows } = await client.query("select count(*)::int as steps from ringport_migration");
    expect(rows).toEqual([{ steps: Object.keys(migrations(olderDatabase.columnTypes)).length }]);
    await Promise.all(storages.map((storage) => storage.close()));
  });

  test("gets its connections back without our settings", async () => {
    const url = pooler.urlThrough(await server.createDatabase());
    const storage = postgresStorage({ url });
    await storage.open({ exclusive: true });
    await Promise.all([1, 2, 3, 4].map((n) => storage.instances.insert(storedInstance(`inst_${n}`), [])));
    await using client = await openClient(url);
    const { rows } = await client.query(
      "select name, setting from pg_settings where name ~ '(statement|lock|session)_timeout' and setting <> reset_val",
    );
    expect(rows).toEqual([]);
    const { rows: preparedStatements } = await client.query("select name from pg_prepared_statements");
    expect(preparedStatements).toEqual([]);
    await storage.close();
  });
});
