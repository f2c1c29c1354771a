import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import pg from "pg";
import { describe, expect, test } from "vitest";
import { connectPostgres, POSTGRES_TRAITS } from "../../../adapters/storage/connect-postgres.ts";
import { connectSqlite, SQLITE_TRAITS } from "../../../adapters/storage/connect-sqlite.ts";
import { kyselyStorage } from "../../../adapters/storage/kysely-storage.ts";
import { findPostgres } from "../../support/postgres.ts";
import { askHotQueries } from "./hot-queries.ts";
import { recorded, type Statement } from "./recorded.ts";

/** Small indexes, of active calls or linked numbers only, which may be read completely. */
const SMALL_INDEX = /calls_(slot|on_line|in_queue|waiting|dialing)\b|events_of_links\b/;

const isPlanned = ({ sql }: Statement) =>
  /^(select|update|delete|with)\b/.test(sql) && !/kysely_|pg_|sqlite_/.test(sql);

test("SQLite finds every call, event and session by an index", async () => {
  const folder = mkdtempSync(join(tmpdir(), "ringport-plans-"));
  const path = join(folder, "ringport.db");
  const statements: Statement[] = [];
  const storage = kyselyStorage(async () => recorded(await connectSqlite({ path }), statements), SQLITE_TRAITS);
  await storage.open({ exclusive: false });
  statements.length = 0;
  await askHotQueries(storage);
  await storage.close();

  const database = new DatabaseSync(path);
  const scans: string[] = [];
  const planned = statements.filter(isPlanned);
  for (const { sql, parameters } of planned) {
    const plan = database.prepare(`explain query plan ${sql}`).all(...(parameters as string[]));
    for (const { detail } of plan)
      if (
        /^SCAN (calls|removed_calls|events|account_sessions|line_records|consents|s|a|earlier)\b/.test(
          String(detail),
        ) &&
        !SMALL_INDEX.test(String(detail))
      )
        scans.push(`${detail}: ${sql}`);
  }
  database.close();
  rmSync(folder, { recursive: true });
  expect(planned.length).toBeGreaterThan(50);
  expect(scans).toEqual([]);
});

const postgres = await findPostgres();
describe.skipIf(postgres.missing)(postgres.title, () => {
  test("PostgreSQL finds every call and event by an index once there are many", { timeout: 60_000 }, async () => {
    const server = await postgres.start();
    try {
      const url = await server.createDatabase();
      const statements: Statement[] = [];
      const storage = kyselyStorage(async () => recorded(await connectPostgres({ url }), statements), POSTGRES_TRAITS);
      await storage.open({ exclusive: false });
      statements.length = 0;
      await askHotQueries(storage);
      await storage.close();

      const client = new pg.Client({ connectionString: url });
      await client.connect();
      await client.query(MANY_CALLS);
      await client.query(MANY_EVENTS);
      await client.query(MANY_REMOVED);
      await client.query("analyze");
      const scans: string[] = [];
      for (const { sql, parameters } of statements.filter(isPlanned)) {
        const { rows } = await client.query<{ "QUERY PLAN": string }>(`explain ${sql}`, [...parameters]);
        for (const { "QUERY PLAN": line } of rows)
          if (/Seq Scan on (calls|removed_calls|events)\b/.test(line)) scans.push(`${line.trim()}: ${sql}`);
      }
      await client.end();
      expect(scans).toEqual([]);
    } finally {
      await server.stop();
    }
  });
});

/** 40,000 final calls of one user on 20 instances, to 400 numbers. */
const MANY_CALLS = `insert into calls
  select 'call_' || n, 'inst_' || n % 20, 'usr_1', case n % 2 when 0 then 'FAILED' else 'COMPLETED' end,
    (array['FIXED_TTS', 'FIXED_AUDIO', 'DYNAMIC_STREAM'])[1 + n % 3], '+1555' || 10000 + n % 400, '{}', null, n, null, n, 0, null, 1
  from generate_series(10, 40009) n`;
const MANY_REMOVED = `insert into removed_calls
  select 'tok_' || n % 20, n from generate_series(50000, 90000) n`;
const MANY_EVENTS = `insert into events
  select 'evt_' || n, 'queued', n, 'call_' || n / 2, 'inst_' || n % 20, 'usr_1', '{}', n
  from generate_series(10, 80009) n`;
