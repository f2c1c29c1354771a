import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SealedRecords } from "../../../src/application/encryption/sealed-records.ts";
import { Vault } from "../../../src/application/encryption/vault.ts";
import type { LineRecordStore } from "../../../src/ports/storage.ts";
import { fuzz } from "../../support/fuzz.ts";

const vault = new Vault(new Uint8Array(32).fill(1));

/** The record store of a storage with its contents: by instance, then by key. */
function scene() {
  const storedRecords = new Map<string, Map<string, Uint8Array>>();
  const recordsOf = (instanceId: string) => storedRecords.get(instanceId) ?? new Map<string, Uint8Array>();
  const lineRecords: LineRecordStore = {
    get: async (id, keys) => keys.map((key) => recordsOf(id).get(key)),
    keys: async (id, prefix) => [...recordsOf(id).keys()].filter((key) => key.startsWith(prefix)),
    async set(id, changes, maxRecords) {
      const next = new Map(recordsOf(id));
      for (const [key, ciphertext] of changes) ciphertext ? next.set(key, ciphertext) : next.delete(key);
      if (next.size > maxRecords) return false;
      storedRecords.set(id, next);
      return true;
    },
    forgetNumber: async () => 0,
    clear: async (id) => void storedRecords.delete(id),
  };
  return { storedRecords, records: (id: string) => new SealedRecords(id, { vault, storage: { lineRecords } }) };
}

const key = fc
  .string({ unit: "grapheme", minLength: 1, maxLength: 20 })
  .filter((text) => text.length <= 200 && !text.includes("\0"));
const instanceId = fc.constantFrom("inst_a", "inst_b");
const bytes = fc.uint8Array({ maxLength: 64 });

describe("sealed records", () => {
  fuzz(
    "are returned only for their instance and key",
    fc.asyncProperty(
      fc.record({ id: instanceId, key, value: bytes }),
      fc.record({ id: instanceId, key }),
      async (ownRecord, otherRecord) => {
        const { storedRecords, records } = scene();
        await records(ownRecord.id).set(new Map([[ownRecord.key, ownRecord.value]]));
        expect(await records(ownRecord.id).get([ownRecord.key])).toEqual([ownRecord.value]);
        if (ownRecord.id === otherRecord.id && ownRecord.key === otherRecord.key) return;
        const ciphertext = storedRecords.get(ownRecord.id)?.get(ownRecord.key) as Uint8Array;
        storedRecords.set(otherRecord.id, new Map([[otherRecord.key, ciphertext]]));
        await expect(records(otherRecord.id).get([otherRecord.key])).rejects.toThrow("RINGPORT_SECRET");
        await expect(vault.open(ownRecord.id, ciphertext)).rejects.toThrow(); // as credentials
      },
    ),
  );

  fuzz(
    "are refused if they were tampered with",
    fc.asyncProperty(bytes, fc.nat(), fc.integer({ min: 1, max: 255 }), async (value, at, change) => {
      const { storedRecords, records } = scene();
      await records("inst_a").set(new Map([["k", value]]));
      const ciphertext = storedRecords.get("inst_a")?.get("k") as Uint8Array;
      ciphertext[at % ciphertext.length]! ^= change;
      await expect(records("inst_a").get(["k"])).rejects.toThrow();
    }),
  );

  test("are not readable in the storage", async () => {
    const { storedRecords, records } = scene();
    await records("inst_a").set(new Map([["k", new TextEncoder().encode("the secret key of a phone")]]));
    expect(new TextDecoder().decode(storedRecords.get("inst_a")?.get("k"))).not.toContain("secret");
  });

  test("are deleted individually, and all at once", async () => {
    const sealedRecords = scene().records("inst_a");
    await sealedRecords.set(new Map([1, 2, 3].map((n) => [`k${n}`, Uint8Array.of(n)])));
    await sealedRecords.set(new Map([["k1", undefined]]));
    expect(await sealedRecords.get(["k1", "k2", "none"])).toEqual([undefined, Uint8Array.of(2), undefined]);
    expect(await sealedRecords.keys("k")).toEqual(["k2", "k3"]);
    await sealedRecords.clear();
    expect(await sealedRecords.keys("")).toEqual([]);
  });

  test.each([
    ["an empty key", "", "has 0 characters; it must have 1 to 200"],
    ["a key that is too long", "k".repeat(201), "has 201 characters; it must have 1 to 200"],
    ["a key with NUL", "a\0b", "contains NUL"],
    ["a key with an unpaired surrogate", "a\ud800", "unpaired surrogate"],
  ])("refuse %s", async (_, invalidKey, message) => {
    const { storedRecords, records } = scene();
    const sealedRecords = records("inst_a");
    const changes = new Map([
      ["fine", Uint8Array.of(1)],
      [invalidKey, Uint8Array.of(1)],
    ]);
    await expect(sealedRecords.set(changes)).rejects.toThrow(message);
    await expect(sealedRecords.get([invalidKey])).rejects.toThrow(message);
    if (invalidKey !== "") await expect(sealedRecords.keys(invalidKey)).rejects.toThrow(message);
    expect(storedRecords.size).toBe(0);
  });

  test("are at most 1 MiB each", async () => {
    const sealedRecords = scene().records("inst_a");
    const largestValue = new Uint8Array(1024 * 1024);
    await sealedRecords.set(new Map([["k".repeat(200), largestValue]]));
    await expect(sealedRecords.set(new Map([["k", new Uint8Array(largestValue.length + 1)]]))).rejects.toThrow(
      'the record "k" has 1048577 bytes, at most 1048576 are allowed',
    );
  });

  test("are limited to 20,000 per instance", async () => {
    const { storedRecords, records } = scene();
    storedRecords.set("inst_a", new Map(Array.from({ length: 20_000 }, (_, i) => [`k${i}`, Uint8Array.of(1)])));
    const sealedRecords = records("inst_a");
    await expect(sealedRecords.set(new Map([["more", Uint8Array.of(1)]]))).rejects.toThrow(
      'instance "inst_a" would have more than 20000 records',
    );
    await sealedRecords.set(
      new Map([
        ["more", Uint8Array.of(1)],
        ["k0", undefined],
      ]),
    );
    expect(storedRecords.get("inst_a")?.size).toBe(20_000);
  });

  test("are read at most 20,000 at a time", async () => {
    const keys = Array.from({ length: 20_001 }, (_, i) => `k${i}`);
    await expect(scene().records("inst_a").get(keys)).rejects.toThrow("20001 keys are too many");
  });
});
