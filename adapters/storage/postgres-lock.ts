import { clearTimeout, setTimeout } from "node:timers";
import type { Client } from "pg";
import { StorageLocked, StorageUnavailable } from "../../src/ports/storage.ts";
import type { ServerLock } from "./session.ts";

/** One server per schema of a database; advisory locks are each database's own. */
const TRY_LOCK = "select pg_try_advisory_lock(hashtextextended('ringport server ' || current_schema(), 0)) as held";
/** A server whose machine lost its power is noticed after about 30 s instead of two hours. */
const KEEPALIVE = "set tcp_keepalives_idle = 10; set tcp_keepalives_interval = 5; set tcp_keepalives_count = 4";

/** How often the resting connection is used, so that nothing between here and there forgets it, ms. */
const BEAT_MS = 10_000;
/** Pause before a lost lock is asked for again, ms. */
const RETRY_MS = 500;

/**
 * Takes the server's lock on a connection of its own and keeps both: a lost connection is made again.
 * @param name of the database, for errors
 * @throws {StorageLocked} another server has the lock
 */
export async function takePostgresLock(newClient: () => Client, name: string): Promise<ServerLock> {
  let client: Client | undefined;
  let timer: NodeJS.Timeout | undefined;
  let released = false;

  function after(ms: number, run: () => Promise<void>): void {
    clearTimeout(timer);
    timer = setTimeout(() => void run(), ms);
    timer.unref();
  }

  /** Answers false where another session has the lock. */
  async function take(): Promise<boolean> {
    const next = newClient();
    next.on("error", () => lost(next));
    next.on("end", () => lost(next));
    try {
      await next.connect();
      await next.query(KEEPALIVE);
      const { rows } = await next.query<{ held: boolean }>(TRY_LOCK);
      if (!rows[0]?.held || released) {
        await next.end();
        return false;
      }
    } catch (error) {
      next.end().catch(() => {});
      throw error;
    }
    client = next;
    after(BEAT_MS, beat);
    return true;
  }

  async function beat(): Promise<void> {
    const current = client;
    try {
      await current?.query("select 1");
      if (client === current) after(BEAT_MS, beat);
    } catch {
      if (current) lost(current);
    }
  }

  function lost(which: Client): void {
    if (client !== which || released) return;
    client = undefined;
    which.end().catch(() => {});
    after(RETRY_MS, takeAgain);
  }

  async function takeAgain(): Promise<void> {
    const held = await take().catch(() => false);
    if (!held && !released) after(RETRY_MS, takeAgain);
  }

  if (!(await take())) throw new StorageLocked(`another server already works on the database ${name}`);
  return {
    assertHeld() {
      if (!client) throw new StorageUnavailable("the server's lock on the database was lost and is being taken again");
    },
    async release() {
      released = true;
      clearTimeout(timer);
      await client?.end().catch(() => {});
      client = undefined;
    },
  };
}
