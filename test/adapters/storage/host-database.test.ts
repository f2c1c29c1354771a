import { DatabaseSync } from "node:sqlite";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connectPostgres } from "../../../adapters/storage/postgres/connect-postgres.ts";
import { postgresStorage } from "../../../adapters/storage/postgres/postgres-storage.ts";
import { sqliteStorage } from "../../../adapters/storage/sqlite/sqlite-storage.ts";
import { StorageUnavailable } from "../../../src/ports/storage.ts";
import { endConnections, findPostgres, openClient, type RunningPostgres } from "../../support/postgres.ts";
import { runEveryQuery } from "./every-query.ts";
import { scratchPath } from "./scratch.ts";
import { databaseBefore } from "./steps-before.ts";

/** Another program's tables, some with the same names as Ringport's. */
const HOST_TABLES = `
  create table users (id integer primary key, email text);
  create table calls (id integer primary key);
  create table owners (id integer primary key);
  create table kysely_migration (name varchar(255) primary key, timestamp varchar(255));
  create table kysely_migration_lock (id varchar(255) primary key, is_locked integer);
  insert into users values (1, 'ada@example.com');
  insert into kysely_migration values ('0001_first_tables', '2020-01-01T00:00:00.000Z');
`;

describe("another program's SQLite file", () => {
  test("is refused with the fix and stays unchanged", async () => {
    const path = hostFile();
    const tablesBefore = tablesOf(path);
    for (const exclusive of [true, false])
      await expect(sqliteStorage({ path }).open({ exclusive })).rejects.toThrow(
        /tables of another program \(users, calls, owners\): give the tables of ringport a prefix \("prefix"/,
      );
    expect(tablesOf(path)).toEqual(tablesBefore);
  });

  test("accepts our tables with a prefix", async () => {
    const path = hostFile();
    const tablesBefore = tablesOf(path);
    const storage = sqliteStorage({ path, prefix: "ringport_" });
    await storage.open({ exclusive: true });
    await runEveryQuery(storage);
    await storage.close();
    await storage.open({ exclusive: false });
    await storage.close();
    const addedTables = tablesOf(path).filter((name) => !tablesBefore.includes(name));
    expect(addedTables.length).toBeGreaterThan(12);
    expect(addedTables.filter((name) => !name.startsWith("ringport_"))).toEqual([]);
    const database = new DatabaseSync(path);
    expect(database.prepare("select email from users").all()).toEqual([{ email: "ada@example.com" }]);
    const indexes = database.prepare("select name from sqlite_master where type = 'index' and sql is not null").all();
    expect(indexes.filter(({ name }) => !String(name).startsWith("ringport_"))).toEqual([]);
    database.close();
  });
});

test("a malformed schema or prefix is refused", async () => {
  const url = "postgres://nobody@127.0.0.1:1/none";
  const open = (names: object) => postgresStorage({ url, ...names }).open({ exclusive: true });
  await expect(open({ schema: 'a"b' })).rejects.toThrow(/schema is "a\\"b"/);
  await expect(open({ prefix: "1_" })).rejects.toThrow(/prefix is "1_"/);
  await expect(open({ prefix: "x".repeat(31) })).rejects.toThrow(/up to 30/);
});

const postgres = await findPostgres();
describe.skipIf(postgres.missing)(`another program's database on ${postgres.title}`, { timeout: 60_000 }, () => {
  let server: RunningPostgres;
  beforeAll(async () => {
    server = await postgres.start();
  }, 30_000);
  afterAll(() => server?.stop());

  async function hostDatabase(): Promise<string> {
    const url = await server.createDatabase();
    await using client = await openClient(url);
    await client.query(HOST_TABLES);
    return url;
  }

  /** Every table, as `schema.name`. */
  async function tables(url: string): Promise<string[]> {
    await using client = await openClient(url);
    const { rows } = await client.query<{ name: string }>(
      "select schemaname || '.' || tablename as name from pg_tables where schemaname !~ '^(pg_|information_)' order by 1",
    );
    return rows.map(({ name }) => name);
  }

  test("is refused with the fix and stays unchanged", async () => {
    const url = await hostDatabase();
    const tablesBefore = await tables(url);
    for (const exclusive of [true, false])
      await expect(postgresStorage({ url }).open({ exclusive })).rejects.toThrow(
        /tables of another program \(users, calls, owners\): .* \("schema", RINGPORT_DATABASE_SCHEMA\)/,
      );
    expect(await tables(url)).toEqual(tablesBefore);
  });

  test("accepts our tables in a schema, with a prefix, or both", async () => {
    const url = await hostDatabase();
    const tablesBefore = await tables(url);
    const names = [{ schema: "ringport" }, { prefix: "rp_" }, { schema: "ringport", prefix: "rp_" }];
    const storages = names.map((options) => postgresStorage({ url, ...options }));
    for (const storage of storages) {
      await storage.open({ exclusive: true });
      await runEveryQuery(storage);
    }
    for (const storage of storages) {
      expect(await storage.accounts.users()).toMatchObject([{ id: "usr_1" }]);
      await storage.close();
      await storage.open({ exclusive: true });
      await storage.close();
    }
    const addedTables = (await tables(url)).filter((name) => !tablesBefore.includes(name));
    for (const tableName of ["ringport.users", "ringport.rp_users", "public.rp_users", "public.rp_ringport_migration"])
      expect(addedTables).toContain(tableName);
    expect(addedTables.filter((name) => !/^(ringport\.|public\.rp_)/.test(name))).toEqual([]);
    await using client = await openClient(url);
    expect((await client.query("select email from users")).rows).toEqual([{ email: "ada@example.com" }]);
  });

  test("is refused in time if its pool has no free connection", { timeout: 20_000 }, async () => {
    const pool = new pg.Pool({ connectionString: await hostDatabase(), max: 1 });
    const connection = await pool.connect();
    const storage = postgresStorage({ pool, schema: "ringport" });
    await expect(storage.open({ exclusive: true })).rejects.toBeInstanceOf(StorageUnavailable);
    connection.release();
    await storage.open({ exclusive: true });
    await storage.close();
    await pool.end();
  });

  test("keeps its pool open and its settings unchanged", async () => {
    const url = await hostDatabase();
    const pool = new pg.Pool({ connectionString: url, max: 3, statement_timeout: 60_000 });
    const errors: Error[] = [];
    pool.on("error", (error) => errors.push(error));
    const storage = postgresStorage({ pool, schema: "ringport" });
    await storage.open({ exclusive: true });
    await Promise.all([runEveryQuery(storage), storage.lease?.renew()]);
    await endConnections(url);
    await expect.poll(() => errors.length).toBeGreaterThan(0); // the host program receives the error
    expect(pool.listenerCount("error")).toBe(1);
    await storage.lease?.renew();
    await storage.close();

    const client = await pool.connect();
    const { rows } = await client.query("select 2::int8 as big, current_setting('statement_timeout') as timeout");
    expect(rows).toEqual([{ big: "2", timeout: "1min" }]);
    expect(client.listenerCount("error")).toBe(0);
    client.release();
    await pool.end();
  });

  test("renames an earlier version's migration tables", async () => {
    const url = await server.createDatabase();
    const olderDatabase = await connectPostgres({ url });
    await (await databaseBefore("0010_owners", olderDatabase.dialect, olderDatabase.columnTypes)).destroy();
    await olderDatabase.close?.();
    const storage = postgresStorage({ url });
    await storage.open({ exclusive: false });
    await storage.close();
    const tableNames = await tables(url);
    expect(tableNames).toContain("public.ringport_migration");
    expect(tableNames.filter((name) => name.includes("kysely"))).toEqual([]);
  });
});

function hostFile(): string {
  const path = scratchPath();
  const database = new DatabaseSync(path);
  database.exec(HOST_TABLES);
  database.close();
  return path;
}

function tablesOf(path: string): string[] {
  const database = new DatabaseSync(path);
  const rows = database.prepare("select name from sqlite_master where type = 'table' order by 1").all();
  database.close();
  return rows.map(({ name }) => String(name));
}
