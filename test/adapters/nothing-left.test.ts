import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { describe, expect, test } from "vitest";
import { postgresStorage } from "../../adapters/storage/postgres/postgres-storage.ts";
import type { RingportOptions } from "../../src/options.ts";
import { createRingport, type Ringport } from "../../src/ringport.ts";
import { ManualSystem } from "../../src/testing/manual-system.ts";
import { ALICE, ToneSpeech } from "../support/application.ts";
import { FaultyStorage } from "../support/faulty-storage.ts";
import { findPostgres } from "../support/postgres.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const HOUR_MS = 3_600_000;
/** Number of calls: enough rows to split pages of the database. */
const CALLS = 300;
/** Number of a simulated callee who only listens. */
const LISTENER = "+12025550100";

const numberOf = (n: number): string => `+49301${String(700_000 + n)}`;
const textOf = (n: number): string => `Meeting with Doctor Hidden, number ${n}. ${"Please come. ".repeat(n % 40)}`;
/** Values that must not be found: numbers without their plus, texts, the instance's name and metadata. */
const PERSONAL_DATA = /49301\d{6}|12025550\d{3}|Doctor Hidden|Mrs Secret|private remark/;

/** A Ringport whose database and folder are full of expired personal data. */
async function filledRingport(
  options: RingportOptions,
  system = new ManualSystem(),
): Promise<{ ringport: Ringport; system: ManualSystem }> {
  const speech = new ToneSpeech();
  const ringport = createRingport({ system, speech, embedded: { synchronous: "NORMAL" }, ...options });
  const principal = ALICE;
  const instance = await ringport.instances.create(
    principal,
    { name: "Mrs Secret", metadata: { note: "private remark" } },
    { idempotencyKey: "instance" },
  );
  for (let n = 0; n < CALLS; n++) {
    const { id } = await ringport.calls.create(principal, inputOf(instance.id, numberOf(n), textOf(n)), {
      idempotencyKey: `call-${n}`,
    });
    await ringport.calls.hangUp(principal, id);
  }

  const { payload } = await ringport.instances.configure(principal, instance.id);
  await ringport.fetch(new Request(payload, { method: "POST" }));
  const input = { ...inputOf(instance.id, LISTENER, "Doctor Hidden"), recording: true };
  const { id } = await ringport.calls.create(principal, input);
  await expect
    .poll(
      async () => {
        await system.advance(500);
        return (await ringport.calls.get(principal, id)).status;
      },
      { timeout: 30_000, interval: 1 },
    )
    .toBe("COMPLETED");
  const deletion = ringport.instances.delete(principal, instance.id);
  await system.advance(5_000);
  await deletion;
  return { ringport, system };
}

function inputOf(instanceId: string, phoneNumber: string, text: string) {
  return { instanceId, type: "FIXED_TTS", target: { phoneNumber }, tts: { text, voiceId: "en-US-1" } } as const;
}

/** Files in the folder that hold personal data, in their bytes or as recordings. */
function filesWithPersonalData(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => path.endsWith(".wav") || PERSONAL_DATA.test(readFileSync(path, "latin1")));
}

describe("no personal data is left in the files", { timeout: 120_000 }, () => {
  test("after the retention of calls, while running", async () => {
    const data = temporaryFolder("retention");
    const { ringport, system } = await filledRingport({ data, retentionDays: 1 });
    expect(filesWithPersonalData(data).length).toBeGreaterThanOrEqual(3); // the database and two recordings
    // Files are deleted in real time, while the clock is stopped.
    const filesAnHourLater = async () => {
      await system.advance(HOUR_MS);
      return filesWithPersonalData(data);
    };
    await expect.poll(filesAnHourLater, { timeout: 60_000, interval: 100 }).toEqual([]);
    await ringport.stop();
    expect(filesWithPersonalData(data)).toEqual([]);
  });

  test("after numbers are erased", async () => {
    const data = temporaryFolder("erasure");
    const { ringport } = await filledRingport({ data });
    const erasure = await ringport.erase({ phone: LISTENER });
    expect(erasure).toMatchObject({ calls: 1, recordings: 1 });
    expect(filesWithPersonalData(data).some((path) => path.endsWith(".wav"))).toBe(false);
    for (let n = 0; n < 20; n++) expect(await ringport.erase({ phone: numberOf(n) })).toMatchObject({ calls: 1 });
    const storedNumbers = readFileSync(join(data, "ringport.sqlite"), "latin1").match(/49301\d{6}/g) ?? [];
    expect(storedNumbers.length).toBeGreaterThan(0);
    expect(storedNumbers.filter((number) => Number(number.slice(5)) < 700_020)).toEqual([]);
    await ringport.stop();
  });
});

/** A clock that is stopped while the storage works, so that real time does not count. */
class SystemWaitingForStorage extends ManualSystem {
  readonly #storage: FaultyStorage;

  constructor(storage: FaultyStorage) {
    super();
    this.#storage = storage;
  }

  override async settle(): Promise<void> {
    do await super.settle();
    while (this.#storage.pendingCount > 0);
  }
}

const postgres = await findPostgres();
describe.skipIf(postgres.missing)(postgres.title, () => {
  test("retention leaves no personal data in rows", { timeout: 120_000 }, async () => {
    const server = await postgres.start();
    try {
      const databaseUrl = await server.createDatabase();
      const data = temporaryFolder("retention");
      const storage = new FaultyStorage(postgresStorage({ url: databaseUrl }));
      const system = new SystemWaitingForStorage(storage);
      // Renewals every 2 s for 26 hours would take most of the time.
      const lease = { leaseMs: 3 * HOUR_MS, leaseRenewMs: HOUR_MS };
      const { ringport } = await filledRingport({ data, storage, retentionDays: 1, ...lease }, system);
      expect(await tablesWithPersonalData(databaseUrl)).toEqual(["calls", "events", "instances"]);
      expect(filesWithPersonalData(data).length).toBeGreaterThan(0); // recordings
      await system.advance(26 * HOUR_MS);
      // Recordings are deleted in real time; the next sweep is an hour later.
      const tablesAnHourLater = () => system.advance(HOUR_MS).then(() => tablesWithPersonalData(databaseUrl));
      await expect.poll(tablesAnHourLater, { timeout: 60_000 }).toEqual([]);
      expect(filesWithPersonalData(data)).toEqual([]);
      await ringport.stop();
    } finally {
      await server.stop();
    }
  });
});

/** Tables that have rows with personal data. */
async function tablesWithPersonalData(url: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows: tables } = await client.query<{ name: string }>(
    "select table_name as name from information_schema.tables where table_schema = current_schema() order by 1",
  );
  const tableNames: string[] = [];
  for (const { name } of tables) {
    const { rows } = await client.query(`select row_to_json(t)::text as line from "${name}" t`);
    if (rows.some(({ line }) => PERSONAL_DATA.test(line))) tableNames.push(name);
  }
  await client.end();
  return tableNames;
}
