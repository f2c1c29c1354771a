import { mkdirSync, rmSync } from "node:fs";
import pg from "pg";
import { type Relay, relayTo } from "../support/relay.ts";
import { until } from "../support/server-client.ts";
import type { FaultyDatabase } from "./faulty-database.ts";

/** Outage that cuts the first server's connections; a second one has a separate path. */
export const CUT = "the connections are cut";
const SILENT = "the connections are silent";
const WRITES_FAIL = "writes fail with disk_full";
/** Requests whose responses are lost. */
const LOST_RESPONSES = {
  "responses to commits are lost": "commit",
  "responses to updates of calls are lost": 'update "calls"',
  "responses to updates of instances are lost": 'update "instances"',
} as const;

/** Writes fail with PostgreSQL's 53100 while the flag exists. */
const DISK_FULL = `
  create schema rounds;
  create table rounds.full_disk (flag int);
  create function rounds.refuse() returns trigger language plpgsql as $$
  begin
    if exists (select from rounds.full_disk) then
      raise exception 'could not extend file: No space left on device' using errcode = 'disk_full';
    end if;
    return null;
  end $$;`;

/** @param url an empty database; @param data the server's data folder */
export async function postgresDatabase(url: string, data: string): Promise<FaultyDatabase> {
  const relay: Relay = await relayTo(url);
  const admin = new pg.Client({ connectionString: url });
  await admin.connect();
  mkdirSync(data, { recursive: true });
  let lossController: AbortController | undefined;
  let isDown = false;

  async function loseConnection(words: string, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) await relay.loseResponse(words, signal);
  }

  return {
    name: "PostgreSQL",
    env: { RINGPORT_DATA: data, DATABASE_URL: relay.url },
    secondEnv: { RINGPORT_DATA: data, DATABASE_URL: url },
    outages: [CUT, SILENT, WRITES_FAIL, WRITES_FAIL, ...Object.keys(LOST_RESPONSES)],
    isReadable: (outage) => outage !== CUT && outage !== SILENT,
    async migrationDone() {
      await admin.query(DISK_FULL);
      const { rows } = await admin.query("select tablename from pg_tables where schemaname = 'public'");
      for (const { tablename } of rows)
        await admin.query(
          `create trigger full_disk before insert or update or delete on public."${tablename}"
           for each statement execute function rounds.refuse()`,
        );
    },
    async fail(outage) {
      const words = LOST_RESPONSES[outage as keyof typeof LOST_RESPONSES];
      if (words) {
        lossController = new AbortController();
        void loseConnection(words, lossController.signal);
      } else if (outage === WRITES_FAIL) await admin.query("insert into rounds.full_disk values (1)");
      else {
        isDown = true;
        if (outage === SILENT) relay.freeze();
        else await relay.cut();
      }
    },
    async repair() {
      lossController?.abort();
      lossController = undefined;
      await admin.query("delete from rounds.full_disk");
      if (!isDown) return;
      await relay.cut();
      await relay.repair();
      isDown = false;
    },
    async whenReleased() {
      const OTHER_CONNECTIONS =
        "select count(*)::int as n from pg_stat_activity where datname = current_database() and pid <> $1";
      const { rows } = await admin.query("select pg_backend_pid() as pid");
      await until(
        async () => (await admin.query(OTHER_CONNECTIONS, [rows[0].pid])).rows[0].n as number,
        (count) => count === 0,
        10_000,
        "the database to notice that the server has ended",
        5,
      );
      // Only rounds with a takeover wait for the end of a lease.
      const { rows: tables } = await admin.query("select to_regclass('owners') as owners");
      if (tables[0].owners !== null) await admin.query("update owners set owner = null");
    },
    async dispose() {
      lossController?.abort();
      await relay.cut();
      await admin.end();
      rmSync(data, { recursive: true, force: true });
    },
  };
}
