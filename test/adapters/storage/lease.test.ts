import { Kysely, sql } from "kysely";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { connectPostgres } from "../../../adapters/storage/postgres/connect-postgres.ts";
import { type PostgresPool, postgresStorage } from "../../../adapters/storage/postgres/postgres-storage.ts";
import type { Database } from "../../../adapters/storage/tables/all-tables.ts";
import { LeaseLost, type Storage, StorageLocked, StorageUnavailable } from "../../../src/ports/storage.ts";
import { endConnections, findPostgres, openClient, type RunningPostgres } from "../../support/postgres.ts";
import { storedCall, storedInstance } from "./records.ts";
import { databaseBefore } from "./steps-before.ts";

const postgres = await findPostgres();
let server: RunningPostgres;

/** Two storages on one new database. */
async function twoStorages(): Promise<{ url: string; first: Storage; second: Storage }> {
  const url = await server.createDatabase();
  return { url, first: postgresStorage({ url }), second: postgresStorage({ url }) };
}

/** Opens as soon as the previous owner's lease has expired. */
async function openOnceFree(storage: Storage, leaseMs?: number): Promise<void> {
  for (;;) {
    const refusal = await storage.open({ exclusive: true, leaseMs }).catch((error: unknown) => error);
    if (refusal === undefined) return;
    if (!(refusal instanceof StorageLocked)) throw refusal;
    await new Promise((resolve) => setTimeout(resolve, refusal.remainingMs));
  }
}

const WRITERS = [1, 2, 3, 4, 5, 6, 7, 8];

const user = (n: number) => ({ id: `usr_${n}`, name: `name ${n}`, createdAt: 1 });

describe.skipIf(postgres.missing)(`a database's lease on ${postgres.title}`, { timeout: 60_000 }, () => {
  beforeAll(async () => {
    server = await postgres.start();
  }, 30_000);
  afterAll(() => server?.stop());

  test("refuses a second server with the database name and the remaining time", async () => {
    const { url, first, second } = await twoStorages();
    await first.open({ exclusive: true, leaseMs: 60_000 });
    expect(first.lease).toMatchObject({ epoch: 1, ms: 60_000 });
    const refusal = await second.open({ exclusive: true }).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(StorageLocked);
    expect(String(refusal)).toContain(new URL(url).pathname.slice(1));
    const { remainingMs = 0 } = refusal as StorageLocked;
    expect(remainingMs > 0 && remainingMs <= 60_000).toBe(true);
    await first.close();
  });

  test("passes to another server right after a close", async () => {
    const { first, second } = await twoStorages();
    await first.open({ exclusive: true, leaseMs: 600_000 });
    await first.close();
    expect(first.lease).toBeUndefined();
    await second.open({ exclusive: true, leaseMs: 600_000 });
    expect(second.lease?.epoch).toBe(2);
    await second.close();
  });

  test("outlives every connection of its owner", async () => {
    const { url, first, second } = await twoStorages();
    await first.open({ exclusive: true, leaseMs: 600_000 });
    await endConnections(url);
    await expect(second.open({ exclusive: true })).rejects.toBeInstanceOf(StorageLocked);
    await vi.waitFor(() => first.lease?.renew());
    await first.accounts.ensureUser(user(1));
    await first.close();
  });

  test("is extended from its last renewal", async () => {
    const { url, first } = await twoStorages();
    await first.open({ exclusive: true, leaseMs: 600_000 });
    await using client = await openClient(url);
    await client.query("update owners set expires_at = 5");
    await first.lease?.renew();
    const { rows } = await client.query(
      "select expires_at - extract(epoch from clock_timestamp()) * 1000 > 500000 as renewed from owners",
    );
    expect(rows).toEqual([{ renewed: true }]);
    await first.close();
  });

  test("can be acquired after it expires; the old owner cannot write", async () => {
    const { first, second } = await twoStorages();
    await first.open({ exclusive: true, leaseMs: 700 });
    await first.instances.insert(storedInstance("inst_1"), []);
    await first.calls.insert(storedCall("call_1", "inst_1"), undefined, { kind: "single" }, []);
    await openOnceFree(second);

    for (const [name, write] of Object.entries(writesOf(first)))
      await expect(write(), name).rejects.toBeInstanceOf(LeaseLost);
    await expect(first.lease?.renew()).rejects.toBeInstanceOf(LeaseLost);
    expect(await first.calls.get("call_1")).toMatchObject({ status: "QUEUED", owner: null });
    for (const [name, write] of Object.entries(writesOf(second)))
      await expect(write(), name).resolves.not.toBeInstanceOf(Error);

    await first.close(); // does not release another owner's lease
    await expect(first.open({ exclusive: true })).rejects.toBeInstanceOf(StorageLocked);
    await second.close();
  });

  test("is not acquired before pending writes end", async () => {
    const { url, first, second } = await twoStorages();
    await first.open({ exclusive: true, leaseMs: 700 });
    await first.events.append([event("evt_1")]);
    await using client = await openClient(url);
    await client.query("begin; select * from event_counters for update");
    const append = first.events.append([event("evt_2")]);
    await vi.waitFor(() => expectWaiting(url, "event_counters"));
    await first.lease?.renew(); // pending writes do not delay it
    const takeover = openOnceFree(second);
    await vi.waitFor(() => expectWaiting(url, "owners"), { timeout: 10_000 });
    await client.query("rollback");
    await append;
    await takeover;
    const eventRows = await second.events.ofUser("usr_1", {}, {});
    expect(eventRows.map(({ id }) => id)).toEqual(["evt_1", "evt_2"]);
    await Promise.all([first.close(), second.close()]);
  });

  test("refuses writes of an old owner after a new one's first read", async () => {
    const url = await server.createDatabase();
    let owner = postgresStorage({ url });
    await owner.open({ exclusive: true, leaseMs: 1 });
    for (let round = 0; round < 8; round++) {
      const acknowledgedNames: string[] = [];
      const writers = WRITERS.map((writer) => writeUntilLost(owner, `${round}_${writer}`, acknowledgedNames));
      await vi.waitFor(() => expect(acknowledgedNames.length).toBeGreaterThan(8));
      const successor = postgresStorage({ url });
      await openOnceFree(successor, 1);
      const firstRead = await storedEvents(successor, round);
      for (const error of await Promise.all(writers)) expect(error).toBeInstanceOf(LeaseLost);
      expect(await storedEvents(successor, round)).toEqual(firstRead);
      expect(firstRead).toEqual(expect.arrayContaining(acknowledgedNames));
      await owner.close();
      owner = successor;
    }
    await owner.close();
  });

  test.each(["claim", "update"] as const)("refuses a %s that waited for the new owner", async (kind) => {
    const { url, first } = await twoStorages();
    await first.open({ exclusive: true });
    await first.instances.insert(storedInstance("inst_1"), []);
    await first.calls.insert(storedCall("call_1", "inst_1"), undefined, { kind: "single" }, []);
    await using competingClient = await openClient(url);
    await competingClient.query("begin; select * from owners for update");
    await competingClient.query("update owners set epoch = epoch + 1");
    const refusal = expect(writesOf(first)[kind]()).rejects.toBeInstanceOf(LeaseLost);
    await vi.waitFor(() => expectWaiting(url, "owners"));
    await competingClient.query("commit");
    await refusal;
    expect(await first.calls.get("call_1")).toMatchObject({ owner: null, version: 1 });
    await first.close();
  });

  test("can be acquired while the old owner's transaction is suspended", async () => {
    const { url, first, second } = await twoStorages();
    await first.open({ exclusive: true, leaseMs: 700 });
    await first.close();
    const connection = await connectPostgres({ url });
    const db = new Kysely<Database>({ dialect: connection.dialect });
    const lock = await connection.lock({
      db,
      migrationDb: db,
      isCurrent: () => true,
      migrate: async () => {},
      leaseMs: 1,
    });
    const suspendedTransaction = db.transaction().execute(async (tx) => {
      await openOnceFree(second);
      await sql`select 1`.execute(tx);
    });
    await expect(suspendedTransaction).rejects.toThrow(/connection error/); // PostgreSQL has closed the connection
    expect(second.lease).toMatchObject({ epoch: 3 });
    await lock.release();
    await connection.close?.();
    await second.close();
  });

  test("is recognised despite a lost response", async () => {
    const url = await server.createDatabase();
    const { pool, loseResponseTo } = fragilePool(url);
    const storage = postgresStorage({ pool });
    await storage.open({ exclusive: true });
    for (const nth of [1, 2]) {
      await storage.close();
      loseResponseTo("commit", nth);
      await expect(storage.open({ exclusive: true, leaseMs: 600_000 })).rejects.toBeInstanceOf(StorageUnavailable);
      await expect(postgresStorage({ url }).open({ exclusive: true })).rejects.toBeInstanceOf(StorageLocked);
      await storage.open({ exclusive: true, leaseMs: 600_000 });
    }

    loseResponseTo("update");
    await expect(storage.lease?.renew()).rejects.toBeInstanceOf(StorageUnavailable);
    await storage.lease?.renew();
    loseResponseTo("commit");
    await storage.close();
    const successor = postgresStorage({ url });
    await successor.open({ exclusive: true }); // the lease was released even though the response was lost
    await successor.close();
    await pool.end();
  });

  test("is refused while an older server holds a session lock", async () => {
    const url = await server.createDatabase();
    const olderDatabase = await connectPostgres({ url });
    await (await databaseBefore("0010_owners", olderDatabase.dialect, olderDatabase.columnTypes)).destroy();
    await olderDatabase.close?.();
    await using session = await openClient(url);
    await session.query("select pg_advisory_lock(hashtextextended('ringport server ' || current_schema(), 0))");
    for (const exclusive of [true, false])
      await expect(postgresStorage({ url }).open({ exclusive })).rejects.toBeInstanceOf(StorageLocked);
    const { rows } = await session.query("select count(*)::int as steps from kysely_migration");
    expect(rows).toEqual([{ steps: 9 }]);
    await session.query("select pg_advisory_unlock_all()");
    const storage = postgresStorage({ url });
    await storage.open({ exclusive: true });
    expect(storage.lease?.epoch).toBe(1);
    await storage.close();
  });

  test("prevents other programs' migrations, not their writes", async () => {
    const { url, first, second } = await twoStorages();
    await first.open({ exclusive: true, leaseMs: 600_000 });
    await second.open({ exclusive: false });
    expect(second.lease).toBeUndefined();
    await second.accounts.ensureUser(user(2));
    expect(await first.accounts.userByName("name 2")).toMatchObject(user(2));
    await second.close();
    await using client = await openClient(url);
    await client.query("delete from ringport_migration where name = '0009_retention'");
    await expect(second.open({ exclusive: false })).rejects.toThrow(/restart it with this version first/);
    await first.close();
  });
});

function event(id: string, userId = "usr_1") {
  const timestamp = 1;
  return { id, type: "queued", timestamp, callId: null, instanceId: "inst_1", userId, data: {} } as never;
}

/** Appends events to a separate user's log until an error occurs; returns the error. */
async function writeUntilLost(storage: Storage, name: string, acknowledgedNames: string[]): Promise<unknown> {
  for (let n = 0; ; n++) {
    const id = `evt_${name}_${n}`;
    const error = await storage.events.append([event(id, `usr_${name}`)]).catch((cause: unknown) => cause);
    if (error !== undefined) return error;
    acknowledgedNames.push(id);
  }
}

async function storedEvents(storage: Storage, round: number): Promise<string[]> {
  const logs = WRITERS.map((writer) => storage.events.ofUser(`usr_${round}_${writer}`, {}, {}));
  return (await Promise.all(logs)).flat().map(({ id }) => id);
}

/** One write of each kind. */
function writesOf({ accounts, instances, calls, events, receipts, transcripts, retention }: Storage) {
  const line = { callId: "call_1", position: 1, speaker: "callee", text: "", timestamp: 1, startMs: 1, endMs: 2 };
  return {
    user: () => accounts.ensureUser(user(3)),
    token: () => accounts.revokeToken("tok_1", 1),
    instance: () => instances.update("inst_1", 1, { name: "Desk" }, []),
    credentials: () => instances.eraseCredentials("inst_1"),
    purge: () => instances.purge(0, 1),
    creation: () => calls.insert(storedCall("call_2", "inst_1"), undefined, { kind: "single" }, []),
    claim: () => calls.claimNext("inst_1", "node_1", 1, 0),
    update: () => calls.update("call_1", 1, { owner: "node_1" }, []),
    removal: () => calls.remove(["call_9"]),
    event: () => events.append([event("evt_9")]),
    receipts: () => receipts.forget(1),
    transcript: () => transcripts.append([{ ...line, confidence: null } as never]),
    time: () => retention.saveTrustedTime({ at: 1, claim: null }),
  };
}

/** Throws an Error unless a statement on the table is waiting for a lock. */
async function expectWaiting(url: string, table: string): Promise<void> {
  await using client = await openClient(url);
  const { rows } = await client.query(
    "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like $1",
    [`%${table}%`],
  );
  if (rows.length === 0) throw new Error(`no statement waits for ${table}`);
}

/** A pool that can lose the response to the nth statement that starts with a word; the statement still runs. */
function fragilePool(url: string) {
  const innerPool = new pg.Pool({ connectionString: url });
  let lostWord = "";
  let remainingCount = 0;
  const pool: PostgresPool & { end(): Promise<void> } = {
    end: () => innerPool.end(),
    async connect() {
      const client = await innerPool.connect();
      return {
        on: (event, listener) => client.on(event, listener),
        off: (event, listener) => client.off(event, listener),
        release: (destroy) => client.release(destroy),
        async query(query) {
          const result = await client.query(query as pg.QueryConfig);
          if (lostWord === "" || !query.text.startsWith(lostWord) || --remainingCount > 0) return result;
          lostWord = "";
          throw Object.assign(new Error("Connection terminated unexpectedly"), { code: "ECONNRESET" });
        },
      };
    },
  };
  return {
    pool,
    loseResponseTo(word: string, nth = 1) {
      lostWord = word;
      remainingCount = nth;
    },
  };
}
