import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { connectPostgres, POSTGRES_TRAITS } from "../../../adapters/storage/connect-postgres.ts";
import { connectSqlite, SQLITE_TRAITS } from "../../../adapters/storage/connect-sqlite.ts";
import { kyselyStorage } from "../../../adapters/storage/kysely-storage.ts";
import type { ConnectedDatabase, Traits } from "../../../adapters/storage/session.ts";
import type { Storage } from "../../../src/ports/storage.ts";
import { findPostgres, type RunningPostgres } from "../../support/postgres.ts";
import { scratchPath } from "./scratch.ts";
import { databaseBefore } from "./steps-before.ts";

/** A new database. */
interface Place {
  connect(): Promise<ConnectedDatabase>;
  readonly traits: Traits;
}

async function opened({ connect, traits }: Place): Promise<Storage> {
  const storage = kyselyStorage(connect, traits);
  await storage.open({ exclusive: false });
  onTestFinished(() => storage.close());
  return storage;
}

function countsBytes(newPlace: () => Promise<Place>): void {
  test("counts a recording of an earlier version that is longer than nine hours", async () => {
    const place = await newPlace();
    const connected = await place.connect();
    const db = await databaseBefore("0037_stored_bytes", connected.dialect, connected.columnTypes);
    await sql`insert into calls
      (id, instance_id, user_id, status, type, target_phone, message, recorded_ms, created_at, slot, version)
      values ('call_1', 'inst_1', 'usr_1', 'COMPLETED', 'FIXED_TTS', '+15550100', '{}', 40000000, 1, 0, 1)`.execute(db);
    await db.destroy();
    await connected.close?.();
    const { retention } = await opened(place);
    expect(await retention.storedBytes("usr_1")).toBe(4096 + 2 + 64 * 40_000_000);
  });
}

describe("SQLite", () =>
  countsBytes(async () => {
    const path = scratchPath();
    return { connect: () => connectSqlite({ path }), traits: SQLITE_TRAITS };
  }));

const postgres = await findPostgres();
describe.skipIf(postgres.missing)(postgres.title, () => {
  let server: RunningPostgres;
  beforeAll(async () => {
    server = await postgres.start();
  }, 30_000);
  afterAll(() => server?.stop());

  countsBytes(async () => {
    const url = await server.createDatabase();
    return { connect: () => connectPostgres({ url }), traits: POSTGRES_TRAITS };
  });
});
