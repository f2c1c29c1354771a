import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import pg from "pg";
import { describe, expect, test } from "vitest";
import { databaseStorage } from "../../../adapters/storage/all-stores.ts";
import { connectPostgres, POSTGRES_TRAITS } from "../../../adapters/storage/postgres/connect-postgres.ts";
import { connectSqlite, SQLITE_TRAITS } from "../../../adapters/storage/sqlite/connect-sqlite.ts";
import type { Storage } from "../../../src/ports/storage.ts";
import { findPostgres } from "../../support/postgres.ts";
import { runEveryQuery } from "./every-query.ts";
import { MANY_ROWS } from "./many-rows.ts";
import { recordStatements, type Statement } from "./recorded.ts";

/** Tables that have a few rows on every server. */
const SMALL_TABLES = ["owners", "trusted_time"];
/** Indexes of active calls and invitations, which may be read completely. */
const SMALL_INDEX =
  /INDEX (calls_(slot|by_line|in_queue|waiting|active)|codes_of_invitations|batches_open|batch_counts_unfinished)\b/;
/** Statements that may read a whole table or index, with the reason. */
const SCANS: readonly (readonly [string, RegExp])[] = [
  ["erase: links of a number are found by their text", /^delete from "events" .* like /],
  ["a new encryption key: every sealed value is read, in pages", /^\s*select "(id|instance_id)" as id/],
  ["the first registration of an administrator", /^select "users"."id" from "users" left join "accounts"/],
  ["metrics: two rows for each instance", /^select "status", cast\(sum\("calls"\) as bigint\)/],
  ["a start: it opens every linked instance", /^select \* from \(select \*, \(select "calls"."id" from "calls"/],
  [
    "a page in the order of an index, without a filter",
    /^select \* from "(users|accounts|audit_log)" order by .* limit /,
  ],
];
/** Statements that may sort their results, with the reason and the number of sorts. */
const SORTS: readonly (readonly [string, RegExp, number])[] = [
  [
    "the rows of one page, after up to 20 pages of one status and type each are merged",
    /^select \* from "calls" where "id" in \(select "id" from \(/,
    2,
  ],
  ["the events of one page, by call and by position", /^with page as/, 2],
  ["metrics: two rows for each instance", /^select "status", cast\(sum\("calls"\) as bigint\)/, 1],
  ["all lines of one page of calls", /from "transcripts" where "call_id" in/, 1],
  ["a start: linked instances", /^select \* from \(select \*, \(select "calls"."id" from "calls"/, 1],
];

const isPlanned = ({ sql }: Statement) =>
  /^\s*(select|update|delete|with)\b/.test(sql) && !/kysely_|ringport_migration|pg_|sqlite_|pragma/.test(sql);
const mayScan = (sql: string) => SCANS.some(([, statements]) => statements.test(sql));
const maySort = (sql: string) => SORTS.find(([, statements]) => statements.test(sql))?.[2] ?? 0;

/** Wraps a storage, and records every called method. */
function watchCalls(storage: Storage, calledMethods: Set<string>): Storage {
  const stores = Object.entries(storage).map(([name, store]) => {
    if (typeof store !== "object") return [name, store];
    const get = (target: object, method: string) => {
      calledMethods.add(`${name}.${method}`);
      return Reflect.get(target, method);
    };
    return [name, new Proxy(store, { get })];
  });
  return Object.fromEntries(stores);
}

function methodsOf(storage: Storage): string[] {
  return Object.entries(storage).flatMap(([name, store]) =>
    typeof store === "object" ? Object.keys(store).map((method) => `${name}.${method}`) : [],
  );
}

test("all storage methods have their plans checked", async () => {
  const storage = databaseStorage(() => connectSqlite({ path: ":memory:" }), SQLITE_TRAITS);
  await storage.open({ exclusive: false });
  const calledMethods = new Set<string>();
  await runEveryQuery(watchCalls(storage, calledMethods));
  expect(methodsOf(storage).filter((method) => !calledMethods.has(method))).toEqual([]);
  await storage.close();
});

test("SQLite finds and sorts rows by index", async () => {
  const folder = mkdtempSync(join(tmpdir(), "ringport-plans-"));
  const path = join(folder, "ringport.db");
  const statements: Statement[] = [];
  const storage = databaseStorage(
    async () => recordStatements(await connectSqlite({ path }), statements),
    SQLITE_TRAITS,
  );
  await storage.open({ exclusive: false });
  statements.length = 0;
  await runEveryQuery(storage);
  await storage.close();

  const database = new DatabaseSync(path);
  const tables = database
    .prepare("select name from sqlite_master where type = 'table'")
    .all()
    .map(({ name }) => String(name))
    .filter((name) => !SMALL_TABLES.includes(name));
  const scan = new RegExp(`^SCAN (${[...tables, "s", "a", "earlier", "taken"].join("|")})\\b`);
  const faults = new Set<string>();
  const plannedStatements = statements.filter(isPlanned);
  for (const { sql, parameters } of plannedStatements) {
    const plan = database.prepare(`explain query plan ${sql}`).all(...(parameters as string[]));
    const details = plan.map(({ detail }) => String(detail));
    const scans = details.filter((detail) => scan.test(detail) && !SMALL_INDEX.test(detail));
    if (scans.length > 0 && !mayScan(sql)) faults.add(`${scans}: ${sql}`);
    const sorts = details.filter((detail) => detail.includes("TEMP B-TREE"));
    if (sorts.length > maySort(sql)) faults.add(`${sorts}: ${sql}`);
  }
  database.close();
  rmSync(folder, { recursive: true });
  expect(plannedStatements.length).toBeGreaterThan(400);
  expect([...faults]).toEqual([]);
});

const postgres = await findPostgres();
describe.skipIf(postgres.missing)(postgres.title, () => {
  test("PostgreSQL finds every row by an index once there are many", { timeout: 60_000 }, async () => {
    const server = await postgres.start();
    try {
      const url = await server.createDatabase();
      const statements: Statement[] = [];
      const storage = databaseStorage(
        async () => recordStatements(await connectPostgres({ url }), statements),
        POSTGRES_TRAITS,
      );
      await storage.open({ exclusive: false });
      statements.length = 0;
      await runEveryQuery(storage);
      await storage.close();

      const client = new pg.Client({ connectionString: url });
      await client.connect();
      for (const fill of MANY_ROWS) await client.query(fill);
      await client.query("analyze");
      const { rows: tables } = await client.query<{ name: string }>(
        "select tablename as name from pg_tables where schemaname = 'public'",
      );
      const largeTables = tables.map(({ name }) => name).filter((name) => !SMALL_TABLES.includes(name));
      const scan = new RegExp(`Seq Scan on (${largeTables.join("|")})\\b`);
      const faults = new Set<string>();
      for (const { sql, parameters } of statements.filter(isPlanned)) {
        const { rows } = await client.query<{ "QUERY PLAN": string }>(`explain ${sql}`, [...parameters]);
        for (const { "QUERY PLAN": line } of rows)
          if (scan.test(line) && !mayScan(sql)) faults.add(`${line.trim()}: ${sql}`);
      }
      await client.end();
      expect([...faults]).toEqual([]);
    } finally {
      await server.stop();
    }
  });
});
