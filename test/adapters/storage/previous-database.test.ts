import { readFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { PostgresDialect, sql } from "kysely";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { postgresStorage } from "../../../adapters/storage/postgres/postgres-storage.ts";
import { sqliteStorage } from "../../../adapters/storage/sqlite/sqlite-storage.ts";
import type { Call } from "../../../src/domain/calls/call.ts";
import type { Storage } from "../../../src/ports/storage.ts";
import { ALICE, World } from "../../support/application.ts";
import { findPostgres, type RunningPostgres } from "../../support/postgres.ts";
import { scratchPath } from "./scratch.ts";
import { databaseBefore } from "./steps-before.ts";

const DUMP = readFileSync(new URL("../../fixtures/database-0005.sql", import.meta.url), "utf8");

/** The message text of each call in the dump. */
const TEXTS = {
  waiting: "I wait",
  keyed: "with a key",
  talking: "x".repeat(1000),
  ringing: "I ring",
  claimed: "I may ring",
  ended: "short",
  slipped: "too late",
};
type Name = keyof typeof TEXTS;

/** Starts this version on the older database. */
async function startOnDump(storage: Storage): Promise<{ world: World; read(name: Name): Promise<Call> }> {
  const world = new World({ storage, policy: { kind: "fifo", depth: 5 } });
  await world.system.advance(60_000); // the older process died a minute ago
  await world.storage.open({ exclusive: true });
  const storedCalls = await storage.calls.list(ALICE.userId, {}, {});
  for (const { instanceId, owner } of storedCalls) if (owner) world.network.devices.set(instanceId, "+12025550199");
  const ids = new Map(storedCalls.map(({ id, message }) => [message.type === "FIXED_TTS" ? message.text : "", id]));
  await world.app.start();
  await world.system.settle();
  return { world, read: (name) => world.app.calls.get(ALICE, ids.get(TEXTS[name]) ?? name) };
}

/** Advances the clock until the condition holds; PostgreSQL runs in real time. */
function waitInTime<T>(world: World, condition: () => Promise<T>): Promise<T> {
  const advanceAndCheck = async () => {
    await world.system.advance(200);
    return condition();
  };
  return vi.waitFor(advanceAndCheck, { timeout: 10_000, interval: 10 });
}

async function expectUnfinishedWorkSettled(storage: Storage): Promise<void> {
  const { world, read } = await startOnDump(storage);
  for (const name of ["talking", "ringing", "claimed"] as const)
    expect(await read(name), name).toMatchObject({ status: "FAILED", outcome: { reason: "interrupted" } });
  expect((await read("claimed")).outcome?.detail).toMatch(/phone may have rung/);
  expect(await read("ended")).toMatchObject({ status: "COMPLETED", outcome: { reason: "message_played" } });
  expect(await world.eventTypes(await read("ended"))).toEqual([
    "queued",
    "message_ready",
    "ringing",
    "answered",
    "completed",
  ]);

  const slippedCall = await read("slipped");
  expect(slippedCall).toMatchObject({ status: "FAILED", outcome: { reason: "instance_deleted" } });
  await expect(world.app.instances.get(ALICE, slippedCall.instanceId)).rejects.toMatchObject({
    code: "instance_not_found",
  });
  await expect(world.app.instances.delete(ALICE, slippedCall.instanceId)).rejects.toMatchObject({
    code: "instance_not_found",
  });

  // Waiting calls keep their order and keys, and are dialled when their instance is linked.
  const [waitingCall, keyedCall] = [await read("waiting"), await read("keyed")];
  expect([waitingCall.status, keyedCall.status]).toEqual(["QUEUED", "QUEUED"]);
  const repeatedCall = await world.app.calls.create(
    ALICE,
    {
      instanceId: keyedCall.instanceId,
      type: "FIXED_TTS",
      target: { phoneNumber: keyedCall.targetPhone },
      tts: { text: TEXTS.keyed, voiceId: "en-US-1" },
    },
    { idempotencyKey: "old-key" },
  );
  expect(repeatedCall).toMatchObject({ id: keyedCall.id, replayed: true });
  await world.app.instances.configure(ALICE, waitingCall.instanceId);
  await world.line({ id: waitingCall.instanceId } as never).scan();
  for (const call of [waitingCall, keyedCall]) {
    const leg = await waitInTime(world, async () => world.leg(call));
    leg.placed();
    leg.answer();
    await waitInTime(world, async () => expect((await world.storedCall(call)).status).toBe("COMPLETED"));
  }
  expect(world.network.legs.map(({ callId }) => callId)).toEqual([waitingCall.id, keyedCall.id]);
  expect(world.errors).toEqual([]);
  await world.stop();
}

test("the previous version's SQLite database opens, and its unfinished work is settled", async () => {
  const path = scratchPath();
  const database = new DatabaseSync(path);
  database.exec(DUMP);
  database.close();
  await expectUnfinishedWorkSettled(sqliteStorage({ path }));
});

const postgres = await findPostgres();
describe.skipIf(postgres.missing)(postgres.title, () => {
  let server: RunningPostgres | undefined;
  beforeAll(async () => {
    server = await postgres.start();
  }, 30_000);
  afterAll(() => server?.stop());

  test("the previous version's PostgreSQL database opens, and its unfinished work is settled", async () => {
    if (!server) throw new Error("PostgreSQL has not started");
    const url = await server.createDatabase();
    const dialect = new PostgresDialect({ pool: new pg.Pool({ connectionString: url }) });
    const db = await databaseBefore("0006_dialing", dialect, { id: sql`text collate "C"`, bytes: "bytea" });
    const rows = DUMP.split("\n").filter((line) => /^insert into "(?!kysely)/.test(line));
    for (const row of rows) await sql.raw(row.replaceAll(/x'([0-9a-f]*)'/g, "'\\x$1'")).execute(db);
    await db.destroy();
    await expectUnfinishedWorkSettled(postgresStorage({ url }));
  });
});
