import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { embedded } from "../../adapters/defaults.ts";
import type { EmbeddedPorts, RingportOptions } from "../../src/options.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const freshFolder = (): string => temporaryFolder("embedded");

/** Creates the ports, then closes what they have opened. */
async function openPorts(options: RingportOptions): Promise<Omit<EmbeddedPorts, "secret"> & { secret: Uint8Array }> {
  const defaults = await embedded(options);
  const secret = await defaults.secret();
  for (const network of defaults.telephony) await network.close();
  await Promise.all([defaults.speech.close(), defaults.decoder.close()]);
  await defaults.storage.close();
  return { ...defaults, secret };
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

describe("the embedded defaults", () => {
  test("create a folder and a key that only their owner can read", async () => {
    const data = join(freshFolder(), "a", "b");
    const { secret, telephony } = await openPorts({ data });
    expect(secret).toHaveLength(32);
    expect(telephony.map(({ name }) => name)).toEqual(["simulator"]);
    expect(statSync(data).mode & 0o777).toBe(0o700);
    expect(statSync(join(data, "secret.key")).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(data, "secret.key"), "utf8")).toBe(`${hex(secret)}\n`);
    expect(hex((await openPorts({ data })).secret)).toBe(hex(secret));
    expect(readdirSync(data)).toEqual(["secret.key"]);
  });

  test("processes that start together agree on one key", async () => {
    const data = freshFolder();
    const allPorts = await Promise.all(Array.from({ length: 8 }, () => openPorts({ data })));
    expect(new Set(allPorts.map(({ secret }) => hex(secret))).size).toBe(1);
    expect(readdirSync(data)).toEqual(["secret.key"]);
  });

  test("a configured secret is used, and none is stored", async () => {
    const data = freshFolder();
    const { secret } = await openPorts({ data, secret: "0F".repeat(32) });
    expect(hex(secret)).toBe("0f".repeat(32));
    expect(existsSync(join(data, "secret.key"))).toBe(false);
  });

  test.each(["", "abc", "z".repeat(64), "0".repeat(63)])(
    "a wrong secret is refused without showing it",
    async (secret) => {
      const data = join(freshFolder(), "data");
      const error = await openPorts({ data, secret }).catch((cause: Error) => cause);
      expect(error).toBeInstanceOf(Error);
      expect((error as Error).message).toContain("RINGPORT_SECRET");
      if (secret.length > 3) expect((error as Error).message).not.toContain(secret);
      expect(existsSync(data)).toBe(false);
    },
  );

  test("a broken key file is refused and left unchanged", async () => {
    const data = freshFolder();
    writeFileSync(join(data, "secret.key"), "broken");
    await expect(openPorts({ data })).rejects.toThrow(join(data, "secret.key"));
    expect(readFileSync(join(data, "secret.key"), "utf8")).toBe("broken");
  });

  test("no file is created for an embedder that supplies everything", async () => {
    const data = join(freshFolder(), "data");
    const { storage, speech, decoder, telephony } = await openPorts({ data: freshFolder() });
    const configuredPorts = await embedded({ data, storage, speech, decoder, telephony, secret: "00".repeat(32) });
    expect(await configuredPorts.secret()).toHaveLength(32);
    expect(configuredPorts.storage).toBe(storage);
    expect(await configuredPorts.speech.voices()).toEqual(await speech.voices());
    expect(configuredPorts.decoder).toBe(decoder);
    expect(configuredPorts.telephony).toBe(telephony);
    expect(existsSync(data)).toBe(false);
  });

  test("no key is created before its first use", async () => {
    const data = join(freshFolder(), "data");
    const { storage, speech, decoder } = await openPorts({ data: freshFolder() });
    const defaults = await embedded({ data, storage, speech, decoder });
    expect(existsSync(data)).toBe(false);
    await defaults.secret();
    expect(readdirSync(data)).toEqual(["secret.key"]);
    await defaults.telephony[0]?.close();
  });

  test("a single telephony equals a list of one", async () => {
    const { telephony } = await openPorts({ data: freshFolder() });
    const [network] = telephony;
    expect((await openPorts({ data: freshFolder(), telephony: network })).telephony).toEqual([network]);
  });

  test("a database URL of another kind is refused without showing its password", async () => {
    const error = await openPorts({ data: freshFolder(), databaseUrl: "mysql://u:hunter2@h/d" }).catch(
      (cause: Error) => cause,
    );
    expect((error as Error).message).toContain("mysql:");
    expect((error as Error).message).not.toContain("hunter2");
  });

  test("the tables of the embedded database accept a prefix, but no schema", async () => {
    const data = freshFolder();
    await expect(openPorts({ data, databaseSchema: "calls" })).rejects.toThrow(
      /RINGPORT_DATABASE_SCHEMA.*DATABASE_URL/,
    );
    const { storage } = await openPorts({ data, databasePrefix: "rp_" });
    await storage.open({ exclusive: true });
    await storage.close();
    const database = new DatabaseSync(join(data, "ringport.sqlite"));
    expect(database.prepare("select count(*) as users from rp_users").get()).toEqual({ users: 0 });
    database.close();
  });

  test.skipIf(process.getuid?.() === 0)("a read-only folder is named (skipped for root, which may write)", async () => {
    const data = freshFolder();
    chmodSync(data, 0o500);
    await expect(openPorts({ data })).rejects.toThrow(
      `the data folder ${data} cannot be used: this user may not write there; run as a user who may, or choose another one with RINGPORT_DATA`,
    );
  });

  test("the documentation page has its files, and no others", async () => {
    const { asset } = await openPorts({ data: freshFolder() });
    expect((await asset?.("swagger-ui-bundle.js"))?.length).toBeGreaterThan(100_000);
    expect((await asset?.("swagger-ui.css"))?.length).toBeGreaterThan(10_000);
    expect(await asset?.("../package.json")).toBeUndefined();
    expect(await asset?.("index.html")).toBeUndefined();
  });
});
