import { describe, expect, test } from "vitest";
import { isNestedObject } from "../../../../../adapters/telephony/whatsapp/store/client-types.ts";
import { RecordSet } from "../../../../../adapters/telephony/whatsapp/store/record-set.ts";
import { RecordWriter } from "../../../../../adapters/telephony/whatsapp/store/record-writer.ts";
import { encodeRecord } from "../../../../../src/base/record-format.ts";
import { MapRecords } from "../../../../support/whatsapp/map-records.ts";

function setUp(options: { maxRecords?: number; maxCached?: number } = {}) {
  const records = new MapRecords();
  const writer = new RecordWriter(records);
  const set = new RecordSet<object>({ records, writer, prefix: "a/", isRecord: isNestedObject, ...options });
  return { records, writer, set };
}

const put = (set: RecordSet<object>, ...names: string[]): Promise<void> =>
  set.set(new Map(names.map((name) => [name, { name }])));

describe("records of one kind", () => {
  test("are stored under their prefix, and read in name order", async () => {
    const { records, set } = setUp();
    await put(set, "x", "y");
    expect([...records.values.keys()]).toEqual(["a/x", "a/y"]);
    expect(await set.getAll(["y", "missing", "x", "y"])).toEqual([
      { name: "y" },
      undefined,
      { name: "x" },
      { name: "y" },
    ]);
  });

  test("do not mix with records of another kind", async () => {
    const { records, writer, set } = setUp();
    const otherSet = new RecordSet<object>({ records, writer, prefix: "b/", isRecord: isNestedObject });
    await put(set, "x");
    expect(await otherSet.names()).toEqual([]);
    await otherSet.clear();
    expect(await set.get("x")).toEqual({ name: "x" });
  });

  test("are read once if cached", async () => {
    const { records, set } = setUp({ maxCached: 2 });
    await put(set, "x", "y", "z");
    const reopenedSet = new RecordSet<object>({ ...optionsOf(records), maxCached: 2 });
    await reopenedSet.getAll(["x", "y"]);
    await reopenedSet.getAll(["x", "y"]);
    await reopenedSet.get("z"); // takes the place of x
    await reopenedSet.getAll(["y", "z"]);
    expect(records.reads).toEqual([2, 1]);
    await reopenedSet.get("x");
    expect(records.reads).toEqual([2, 1, 1]);
  });

  test("are not read if missing", async () => {
    const { records, set } = setUp();
    expect(await set.get("x")).toBeUndefined();
    expect(records.reads).toEqual([]);
  });

  test("are read again after a failed write", async () => {
    const { records, set } = setUp({ maxCached: 10 });
    await put(set, "x");
    records.failure = new Error("down");
    await expect(set.set(new Map([["x", { name: "new" }]]))).rejects.toThrow("down");
    records.failure = undefined;
    expect(await set.get("x")).toEqual({ name: "x" });
    expect(records.reads).toEqual([1]);
  });

  test("are not overwritten by an older read", async () => {
    const { records, set } = setUp({ maxCached: 10 });
    await put(set, "x");
    const reopenedSet = new RecordSet<object>({ ...optionsOf(records), maxCached: 10 });
    await reopenedSet.names();
    let release = (): void => {};
    const barrier = new Promise<void>((resolve) => {
      release = resolve;
    });
    const get = records.get.bind(records);
    records.get = async (keys) => {
      const values = await get(keys);
      await barrier;
      return values;
    };
    const pendingRead = reopenedSet.get("x");
    await reopenedSet.set(new Map([["x", { name: "new" }]]));
    release();
    expect(await pendingRead).toEqual({ name: "x" });
    expect(await reopenedSet.get("x")).toEqual({ name: "new" });
  });

  test("above the limit evict the least recently written ones", async () => {
    const { records, set } = setUp({ maxRecords: 3, maxCached: 10 });
    await put(set, "x", "y", "z");
    await put(set, "x"); // now the latest
    await put(set, "new");
    expect(await set.names()).toEqual(["z", "x", "new"]);
    expect([...records.values.keys()].sort()).toEqual(["a/new", "a/x", "a/z"]);
    expect(await set.get("y")).toBeUndefined();
    await put(set, "1", "2", "3", "4"); // a single write above the limit is kept whole
    expect(await set.names()).toEqual(["1", "2", "3", "4"]);
  });

  test("are deleted without a write if absent", async () => {
    const { records, set } = setUp();
    await set.set(new Map([["x", undefined]]));
    await set.clear();
    expect(records.writes).toEqual([]);
  });

  test("are listed once the storage works again", async () => {
    const { records, set } = setUp();
    records.failure = new Error("down");
    await expect(set.get("x")).rejects.toThrow("down");
    records.failure = undefined;
    expect(await set.get("x")).toBeUndefined();
  });

  test.each<[string, Uint8Array]>([
    ["no format", Uint8Array.of()],
    ["another format", Uint8Array.of(9)],
    ["another kind", encodeRecord("text")],
  ])("reject bytes of %s with the record's name and the fix", async (_, bytes) => {
    const { records, set } = setUp();
    records.values.set("a/x", bytes);
    await expect(set.get("x")).rejects.toThrow(
      /record "a\/x" cannot be read \(.+\): unlink the number and link it again/,
    );
  });
});

describe("writes", () => {
  test("are stored together if concurrent", async () => {
    const { records, set } = setUp();
    await set.names();
    await Promise.all([put(set, "1"), put(set, "2", "3"), put(set, "4")]);
    expect(records.writes).toEqual([1, 3]);
    expect(await set.names()).toHaveLength(4);
  });

  test("are retried individually if they fail together, so that one cannot fail the others", async () => {
    const { records, set } = setUp();
    await set.names();
    const results = await Promise.allSettled([put(set, "1"), put(set, "2"), put(set, "3".repeat(200)), put(set, "4")]);
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected", "fulfilled"]);
    expect([...records.values.keys()]).toEqual(["a/1", "a/2", "a/4"]);
  });

  test("keep their order", async () => {
    const { set } = setUp();
    await Promise.all([1, 2, 3, 4, 5].map((n) => set.set(new Map([["x", { n }]]))));
    expect(await set.get("x")).toEqual({ n: 5 });
  });
});

function optionsOf(records: MapRecords) {
  return { records, writer: new RecordWriter(records), prefix: "a/", isRecord: isNestedObject };
}
