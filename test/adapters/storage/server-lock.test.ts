import { existsSync, symlinkSync } from "node:fs";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { postgresStorage } from "../../../adapters/storage/postgres.ts";
import { sqliteStorage } from "../../../adapters/storage/sqlite.ts";
import { type Storage, StorageLocked, StorageUnavailable } from "../../../src/ports/storage.ts";
import { findPostgres, type RunningPostgres } from "../../support/postgres.ts";
import { openElsewhere } from "./opener-process.ts";
import { scratchPath } from "./scratch.ts";

describe("the server's lock of a SQLite file", () => {
  test("a second server is refused with the file's name, and may start once the first has closed", async () => {
    const path = scratchPath();
    const first = sqliteStorage({ path });
    const second = sqliteStorage({ path });
    await first.open({ exclusive: true });
    const refusal = await second.open({ exclusive: true }).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(StorageLocked);
    expect(String(refusal)).toContain(path);
    await first.close();
    await second.open({ exclusive: true });
    await second.close();
  });

  test("who does not ask for the lock works beside the server", async () => {
    const path = scratchPath();
    const server = sqliteStorage({ path });
    const tool = sqliteStorage({ path });
    await server.open({ exclusive: true });
    await tool.open({ exclusive: false });
    await tool.accounts.ensureUser({ id: "usr_1", name: "Ada", createdAt: 1 });
    expect((await server.accounts.userByName("Ada"))?.id).toBe("usr_1");
    await tool.close();
    await server.close();
  });

  test("it dies with the process that held it", { timeout: 30_000 }, async () => {
    const path = scratchPath();
    const other = await openElsewhere(path, true);
    expect(other.said).toBe("open");
    const storage = sqliteStorage({ path });
    await expect(storage.open({ exclusive: true })).rejects.toBeInstanceOf(StorageLocked);
    await other.kill();
    await storage.open({ exclusive: true });
    await storage.close();
  });

  test("two names of one file are one file", async () => {
    const path = scratchPath();
    const first = sqliteStorage({ path });
    await first.open({ exclusive: true });
    symlinkSync(path, `${path}.link`);
    const second = sqliteStorage({ path: `${path}.link` });
    await expect(second.open({ exclusive: true })).rejects.toBeInstanceOf(StorageLocked);
    await first.close();
  });

  test("a database in memory has none", async () => {
    const storages = [sqliteStorage({ path: ":memory:" }), sqliteStorage({ path: ":memory:" })];
    for (const storage of storages) await storage.open({ exclusive: true });
    for (const storage of storages) await storage.close();
    expect(existsSync(":memory:-server.lock") || existsSync("-server.lock")).toBe(false);
  });
});

const postgres = await findPostgres();
describe.skipIf(postgres.missing)(`the server's lock of a database on ${postgres.title}`, () => {
  let server: RunningPostgres;
  beforeAll(async () => {
    server = await postgres.start();
  }, 30_000);
  afterAll(() => server?.stop());

  test("a second server is refused with the database's name, and may start once the first has closed", async () => {
    const url = await server.createDatabase();
    const first = postgresStorage({ url });
    const second = postgresStorage({ url });
    const elsewhere = postgresStorage({ url: await server.createDatabase() });
    await first.open({ exclusive: true });
    await elsewhere.open({ exclusive: true });
    const refusal = await second.open({ exclusive: true }).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(StorageLocked);
    expect(String(refusal)).toContain(new URL(url).pathname.slice(1));
    await first.close();
    await second.open({ exclusive: true });
    await second.close();
    await elsewhere.close();
  });

  test("a lock that was lost with its connection is taken again", { timeout: 30_000 }, async () => {
    const url = await server.createDatabase();
    const storage = postgresStorage({ url });
    await storage.open({ exclusive: true });
    await endConnections(url);
    await expect(untilItWorks(storage)).resolves.toBeUndefined();
    await expect(postgresStorage({ url }).open({ exclusive: true })).rejects.toBeInstanceOf(StorageLocked);
    await storage.close();
  });

  test("a server whose lost lock was taken by another stores nothing more", { timeout: 30_000 }, async () => {
    const url = await server.createDatabase();
    const [first, second] = [postgresStorage({ url }), postgresStorage({ url })];
    await first.open({ exclusive: true });
    await endConnections(url);
    await second.open({ exclusive: true });
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    await expect(first.calls.counts()).rejects.toBeInstanceOf(StorageUnavailable);
    await second.close();
    await untilItWorks(first);
    await first.close();
  });
});

/** Ends every connection to the database but this one. */
async function endConnections(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`select pg_terminate_backend(pid, 5000) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()`);
  await client.end();
}

/** Resolves at the first answer; anything but StorageUnavailable on the way fails. */
async function untilItWorks(storage: Storage): Promise<void> {
  for (;;) {
    try {
      await storage.calls.counts();
      return;
    } catch (error) {
      if (!(error instanceof StorageUnavailable)) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}
