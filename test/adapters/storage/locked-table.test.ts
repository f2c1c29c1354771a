import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { databaseStorage } from "../../../adapters/storage/all-stores.ts";
import { connectPostgres, POSTGRES_TRAITS } from "../../../adapters/storage/postgres/connect-postgres.ts";
import { type Storage, StorageUnavailable } from "../../../src/ports/storage.ts";
import { findPooler } from "../../support/pgbouncer.ts";
import { findPostgres, openClient, type RunningPostgres } from "../../support/postgres.ts";
import { storedInstance } from "./records.ts";

const MAX_CONNECTIONS = 4;
const LIMITS = { statementMs: 200, idleMs: 5_000, silenceMs: 5_000 };

const postgres = await findPostgres();
const pooler = findPooler();

describe.skipIf(postgres.missing)(`a locked table on ${postgres.title}`, { timeout: 60_000 }, () => {
  let server: RunningPostgres;
  beforeAll(async () => {
    server = await postgres.start();
  }, 30_000);
  afterAll(() => server?.stop());

  async function open(url: string): Promise<Storage> {
    const options = { url, max: MAX_CONNECTIONS };
    const storage = databaseStorage(() => connectPostgres(options, undefined, LIMITS), POSTGRES_TRAITS);
    await storage.open({ exclusive: true });
    onTestFinished(() => storage.close());
    return storage;
  }

  /** Reads three times as many records at once as there are connections, and returns the outcome of each. */
  const readMany = (storage: Storage): Promise<unknown[]> =>
    Promise.all(
      Array.from({ length: 3 * MAX_CONNECTIONS }, (_, index) =>
        storage.calls.get(`call_${index}`).catch((error: unknown) => error),
      ),
    );

  async function expectFewConnections(url: string, connectionUrl = url): Promise<void> {
    const storage = await open(connectionUrl);
    await storage.instances.insert(storedInstance("inst_1"), []);
    await using client = await openClient(url);
    const pids = async (): Promise<readonly number[]> => {
      const { rows } = await client.query<{ pid: number }>(
        "select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() order by pid",
      );
      return rows.map(({ pid }) => pid);
    };
    await readMany(storage);
    await client.query("begin; lock table calls in access exclusive mode");
    for (let wave = 0; wave < 3; wave++)
      for (const result of await readMany(storage)) expect(result).toBeInstanceOf(StorageUnavailable);
    // Expects no additional connection, and no statement that waits without a client.
    expect((await pids()).length).toBeLessThanOrEqual(MAX_CONNECTIONS);
    await expect
      .poll(async () => (await client.query("select pid from pg_stat_activity where wait_event_type = 'Lock'")).rows)
      .toEqual([]);
    expect(await storage.instances.get("inst_1")).toMatchObject({ id: "inst_1" });
    await client.query("rollback");
    expect(new Set(await readMany(storage))).toEqual(new Set([undefined]));
  }

  test("never costs more connections than the pool has", async () => {
    await expectFewConnections(await server.createDatabase());
  });

  test.skipIf(pooler.missing)(`costs no extra connections behind a pooler, ${pooler.title}`, async () => {
    const url = await server.createDatabase();
    const runningPooler = await pooler.start(server.url, MAX_CONNECTIONS);
    onTestFinished(() => runningPooler.stop());
    await expectFewConnections(url, runningPooler.urlThrough(url));
  });

  test("never makes lease renewals pile up", async () => {
    const url = await server.createDatabase();
    const storage = await open(url);
    await storage.lease?.renew();
    await using client = await openClient(url);
    const pids = async (): Promise<unknown[]> =>
      (await client.query("select pid from pg_stat_activity where datname = current_database() order by pid")).rows;
    const earlierPids = await pids();
    await client.query("begin; lock table owners in access exclusive mode");
    for (let round = 0; round < 2; round++)
      await expect(storage.lease?.renew()).rejects.toBeInstanceOf(StorageUnavailable);
    expect(await pids()).toEqual(earlierPids);
    await client.query("rollback");
    await storage.lease?.renew();
  });
});
