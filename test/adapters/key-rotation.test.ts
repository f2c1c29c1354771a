import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { postgresStorage } from "../../adapters/storage/postgres/postgres-storage.ts";
import { sqliteStorage } from "../../adapters/storage/sqlite/sqlite-storage.ts";
import { openHeaders } from "../../src/application/encryption/sealed-headers.ts";
import { recordId } from "../../src/application/encryption/sealed-records.ts";
import { Vault } from "../../src/application/encryption/vault.ts";
import type { Storage } from "../../src/ports/storage.ts";
import { realSystem } from "../../src/ports/system.ts";
import type { InstanceRef, LineHost } from "../../src/ports/telephony.ts";
import { createRingport, type Ringport } from "../../src/ringport.ts";
import { ScriptedTelephony } from "../../src/testing/scripted-telephony.ts";
import { ALICE, ToneSpeech } from "../support/application.ts";
import { findPostgres, type RunningPostgres } from "../support/postgres.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const [FIRST, SECOND, THIRD] = ["0a".repeat(32), "0b".repeat(32), "0c".repeat(32)] as const;
const PHONE = "+12025550199";
const RECORD = Uint8Array.of(1, 2, 3);

/** A network whose lines open only with their stored credentials. */
class RememberingTelephony extends ScriptedTelephony {
  override async open(instance: InstanceRef, host: LineHost) {
    const credentials = await host.credentials.load();
    const [record] = await host.records.get(["device"]);
    const isLinked = credentials && new TextDecoder().decode(credentials) === PHONE && record?.join() === RECORD.join();
    if (isLinked) this.devices.set(instance.id, PHONE);
    return super.open(instance, host);
  }
}

interface Process {
  readonly ringport: Ringport;
  readonly network: ScriptedTelephony;
  /** All log output. */
  readonly log: { readonly level: string; readonly message: string; readonly fields: Record<string, unknown> }[];
}

/** Starts Ringport on this storage with these secrets. */
async function start(storage: Storage, secret: string, previousSecrets?: readonly string[]): Promise<Process> {
  const log: Process["log"] = [];
  const logAt = (level: string) => (fields: object, message: string) =>
    void log.push({ level, message, fields: { ...fields } });
  const network = new RememberingTelephony(realSystem);
  const ringport = createRingport({
    storage,
    telephony: network,
    speech: new ToneSpeech(),
    data: temporaryFolder("rotation"),
    secret,
    previousSecrets,
    log: { debug: logAt("debug"), info: logAt("info"), warn: logAt("warn"), error: logAt("error") },
  });
  await ringport.start();
  return { ringport, network, log };
}

const RESEALED_MESSAGE =
  "everything is sealed with the current key; remove the previous secrets once no server of this database seals with them";

/** Starts Ringport with a key, links a number and stops. */
async function linkNumber(storage: Storage, secret: string): Promise<{ instanceId: string; webhookId: string }> {
  const { ringport, network } = await start(storage, secret);
  const { id: instanceId } = await ringport.instances.create(ALICE, { name: "Reception" });
  await ringport.instances.configure(ALICE, instanceId);
  await network.line(instanceId).records.set(new Map([["device", RECORD]]));
  await network.line(instanceId).scan(PHONE);
  const { id: webhookId } = await ringport.webhooks.create(ALICE, {
    url: "https://example.com/hooks",
    headers: { "x-key": "7f3a9c" },
  });
  await ringport.webhooks.rotateSecret(ALICE, webhookId);
  await ringport.stop();
  return { instanceId, webhookId };
}

const statusOf = async ({ ringport }: Process, id: string) => (await ringport.instances.get(ALICE, id)).status;

function rotationTests(name: string, createStorage: () => Promise<() => Storage>): void {
  describe(`a key change on ${name}`, () => {
    test("keeps every number linked, and soon no longer needs the old key", { timeout: 60_000 }, async () => {
      const storage = await createStorage();
      const { instanceId, webhookId } = await linkNumber(storage(), FIRST);

      const duringRotation = await start(storage(), SECOND, [THIRD, FIRST]);
      await expect.poll(() => statusOf(duringRotation, instanceId)).toBe("ACTIVE");
      await expect.poll(() => duringRotation.log.map(({ message }) => message)).toContain(RESEALED_MESSAGE);
      // Credentials, a record, and two keys and the headers of a webhook.
      expect(duringRotation.log.find(({ message }) => message === RESEALED_MESSAGE)?.fields).toEqual({
        resealed: 5,
        unreadable: 0,
      });
      await duringRotation.ringport.stop();

      const afterRotation = await start(storage(), SECOND);
      await expect.poll(() => statusOf(afterRotation, instanceId)).toBe("ACTIVE");
      await afterRotation.ringport.stop();

      const reopenedStorage = storage();
      await reopenedStorage.open({ exclusive: false });
      const vault = new Vault(new Uint8Array(Buffer.from(SECOND, "hex")));
      const { sealedKey, sealedOldKey, sealedHeaders } = (await reopenedStorage.webhooks.get(webhookId)) ?? {};
      for (const sealedValue of [sealedKey, sealedOldKey]) await vault.open(webhookId, sealedValue as Uint8Array);
      expect(await openHeaders(vault, webhookId, sealedHeaders ?? null)).toEqual({ "x-key": "7f3a9c" });
      const [record] = await reopenedStorage.lineRecords.get(instanceId, ["device"]);
      expect(await vault.open(recordId(instanceId, "device"), record as Uint8Array)).toEqual(RECORD);
      await reopenedStorage.close();
    });

    test("opens no record without the old key, deletes none, and names the fix", { timeout: 60_000 }, async () => {
      const storage = await createStorage();
      const { instanceId } = await linkNumber(storage(), FIRST);

      const wrongKey = await start(storage(), SECOND);
      await expect
        .poll(() => wrongKey.log.map(({ fields }) => String(fields.err)).join())
        .toContain("RINGPORT_PREVIOUS_SECRETS");
      expect(await statusOf(wrongKey, instanceId)).toBe("CONFIGURED");
      await wrongKey.ringport.stop();

      const wrongPrevious = await start(storage(), SECOND, [THIRD]);
      await expect
        .poll(() => wrongPrevious.log.filter(({ level }) => level === "warn").map(({ message }) => message))
        .toContain("no key opens some sealed values: add the key that they were sealed with to the previous secrets");
      await wrongPrevious.ringport.stop();

      const rightKey = await start(storage(), FIRST);
      await expect.poll(() => statusOf(rightKey, instanceId)).toBe("ACTIVE");
      await rightKey.ringport.stop();
    });
  });
}

rotationTests("SQLite", async () => {
  const path = `${temporaryFolder("rotation")}/ringport.db`;
  return () => sqliteStorage({ path });
});

const postgres = await findPostgres();
describe.skipIf(postgres.missing)(postgres.title, () => {
  let server: RunningPostgres;
  beforeAll(async () => {
    server = await postgres.start();
  }, 60_000);
  afterAll(() => server?.stop(), 60_000);
  rotationTests("PostgreSQL", async () => {
    const url = await server.createDatabase();
    return () => postgresStorage({ url });
  });
});

test("an invalid previous secret is refused before anything is opened, and not shown", async () => {
  const telephony = new ScriptedTelephony(realSystem);
  const ringport = createRingport({
    storage: sqliteStorage({ path: ":memory:" }),
    telephony,
    secret: FIRST,
    previousSecrets: [`${"0b".repeat(31)}zz`],
  });
  const error = await ringport.start().then(
    () => undefined,
    (error: unknown) => error as Error,
  );
  expect(error?.message).toContain("a previous secret (RINGPORT_PREVIOUS_SECRETS) must be 64 hex digits");
  expect(error?.message).not.toContain("0b0b");
});
