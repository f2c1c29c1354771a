import { Kysely } from "kysely";
import pg from "pg";
import { describe, expect, test } from "vitest";
import type { ConnectedDatabase } from "../../../adapters/storage/connected-database.ts";
import { connectPostgres } from "../../../adapters/storage/postgres/connect-postgres.ts";
import { postgresStorage } from "../../../adapters/storage/postgres/postgres-storage.ts";
import { connectSqlite } from "../../../adapters/storage/sqlite/connect-sqlite.ts";
import { sqliteStorage } from "../../../adapters/storage/sqlite/sqlite-storage.ts";
import type { Event } from "../../../src/domain/events.ts";
import type { Storage } from "../../../src/ports/storage.ts";
import { findPostgres } from "../../support/postgres.ts";
import { scratchPath } from "./scratch.ts";
import { databaseBefore } from "./steps-before.ts";

const EVENT_COUNT = 40;
/** Numbers of the events that are purged after the migration, including the first and the last. */
const PURGED_NUMBERS = [1, 2, 9, 10, 11, 12, 20, 38, 40];

test("events of an older SQLite file keep their order and cursors", async () => {
  const path = scratchPath();
  await expectPositionsAfterMigration(
    () => connectSqlite({ path }),
    () => sqliteStorage({ path }),
  );
});

const postgres = await findPostgres();
describe.skipIf(postgres.missing)(postgres.title, () => {
  test("events of an older database keep their order, and wait for no other transaction", {
    timeout: 60_000,
  }, async () => {
    const server = await postgres.start();
    try {
      const olderUrl = await server.createDatabase();
      await expectPositionsAfterMigration(
        () => connectPostgres({ url: olderUrl }),
        () => postgresStorage({ url: olderUrl }),
      );
      await expectNoWaitForForeignTransaction(await server.createDatabase());
    } finally {
      await server.stop();
    }
  });
});

/** Migrates a database from the version before events had positions, and checks the result. */
async function expectPositionsAfterMigration(
  connect: () => Promise<ConnectedDatabase>,
  createStorage: () => Storage,
): Promise<void> {
  const olderDatabase = await connect();
  const kysely = await databaseBefore("0007_event_positions", olderDatabase.dialect, olderDatabase.columnTypes);
  const numbers = Array.from({ length: EVENT_COUNT }, (_, n) => n + 1);
  const log = numbers.map((n) => event(n % 3 === 0 ? "usr_b" : "usr_a", n));
  for (const { id, type, timestamp, callId, instanceId, userId, data } of log.toReversed())
    await (kysely as Kysely<{ events: Record<string, unknown> }>)
      .insertInto("events")
      .values({
        id,
        type,
        at: timestamp,
        call_id: callId,
        instance_id: instanceId,
        user_id: userId,
        data: JSON.stringify(data),
      })
      .execute();
  await kysely.destroy();
  await olderDatabase.close?.();

  const storage = createStorage();
  await storage.open({ exclusive: true });
  for (const user of ["usr_a", "usr_b"]) {
    const userEvents = log.filter(({ userId }) => userId === user);
    const expected = userEvents.map((event, index) => ({ ...event, position: index + 1, sequence: index + 1 }));
    expect(await storage.events.ofUser(user, {}, {})).toEqual(expected);
    for (const { id, position } of expected) expect(await storage.events.positionOf(user, id)).toBe(position);
  }
  await storage.close();

  const currentDatabase = await connect();
  const query = new Kysely<{ events: { id: string } }>({ dialect: currentDatabase.dialect });
  const purgedIds = PURGED_NUMBERS.map((n) => event("", n).id);
  await query.deleteFrom("events").where("id", "in", purgedIds).execute();
  await query.destroy();
  await currentDatabase.close?.();

  const reopenedStorage = createStorage();
  await reopenedStorage.open({ exclusive: true });
  // Created with the first events, but stored last; an earlier reader has not seen it.
  const lateEvent = { ...event("usr_a", 3), id: "evt_002x" };
  await reopenedStorage.events.append([lateEvent]);
  for (const cursor of ["evt_000", ...log.map(({ id }) => id), "evt_999"]) {
    const position = await reopenedStorage.events.positionOf("usr_a", cursor);
    const expectedEvents = log.filter(({ id, userId }) => userId === "usr_a" && id > cursor && !purgedIds.includes(id));
    const storedEvents = await reopenedStorage.events.ofUser("usr_a", {}, { after: position });
    expect(
      storedEvents.map(({ id }) => id),
      `after ${cursor}`,
    ).toEqual([...expectedEvents.map(({ id }) => id), lateEvent.id]);
  }
  await reopenedStorage.close();
}

/** Expects that another program's open transaction blocks only one user's events. */
async function expectNoWaitForForeignTransaction(url: string): Promise<void> {
  const storage = postgresStorage({ url });
  await storage.open({ exclusive: true });
  await storage.events.append([event("usr_a", 1), event("usr_b", 2)]);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query("create table others (n int)");
  await client.query("begin");
  await client.query("insert into others values (1)");
  await client.query("select * from event_counters where user_id = 'usr_b' for update");

  await storage.events.append([event("usr_a", 3)]);
  expect((await storage.events.ofUser("usr_a", {}, {})).map(({ id }) => id)).toEqual(["evt_001", "evt_003"]);
  const blockedAppend = storage.events.append([event("usr_b", 4)]);
  expect((await storage.events.ofUser("usr_b", {}, {})).map(({ id }) => id)).toEqual(["evt_002"]);
  await client.query("commit");
  await blockedAppend;
  expect((await storage.events.ofUser("usr_b", {}, {})).map(({ id }) => id)).toEqual(["evt_002", "evt_004"]);
  await client.end();
  await storage.close();
}

function event(userId: string, n: number): Event {
  const id = `evt_${String(n).padStart(3, "0")}`;
  return { id, type: "dtmf", timestamp: n, callId: "call_1", instanceId: "inst_1", userId, data: { digit: "1" } };
}
