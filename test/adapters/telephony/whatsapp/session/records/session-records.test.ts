import { describe, expect, test } from "vitest";
import { SessionRecords } from "../../../../../../adapters/telephony/whatsapp/session/records/session-records.ts";
import { LeaseLost, StorageUnavailable } from "../../../../../../src/ports/storage.ts";
import { ManualSystem } from "../../../../../../src/testing/manual-system.ts";
import { TestLineHost } from "../../../../../../src/testing/telephony-host.ts";

function setUp() {
  const system = new ManualSystem();
  const host = new TestLineHost();
  const faults: Error[] = [];
  const set = host.records.set.bind(host.records);
  Object.assign(host.records, {
    async set(changes: Parameters<typeof set>[0]) {
      const fault = faults.shift();
      if (fault !== undefined) throw fault;
      await set(changes);
    },
  });
  const storedValue = () => host.storedRecords.get("key")?.[0];
  return { system, host, faults, storedValue, records: new SessionRecords(host.records, system) };
}

const recordOf = (value: number) => new Map([["key", Uint8Array.of(value)]]);
const outage = () => new StorageUnavailable("the database does not respond");

describe("a client's records", () => {
  test("are the line's records", async () => {
    const { records } = setUp();
    await records.set(recordOf(1));
    expect(await records.get(["key", "other"])).toEqual([Uint8Array.of(1), undefined]);
    expect(await records.keys("k")).toEqual(["key"]);
    await records.clear();
    expect(await records.keys("")).toEqual([]);
  });

  test("are retried until the storage accepts them, in order", async () => {
    const { records, faults, system, storedValue } = setUp();
    faults.push(outage(), outage(), outage());
    const writes = Promise.all([records.set(recordOf(1)), records.set(recordOf(2)), records.set(recordOf(3))]);
    await system.advance(10_000);
    await writes;
    expect(storedValue()).toBe(3);
  });

  test("flushed() waits for all earlier writes", async () => {
    const { records, faults, system, storedValue } = setUp();
    faults.push(outage());
    void records.set(recordOf(7));
    const flushedRead = records.flushed().then(() => storedValue());
    await system.advance(1_000);
    expect(await flushedRead).toBe(7);
  });

  test("a permanent fault rejects its write and does not delay others", async () => {
    const { records, faults, storedValue } = setUp();
    faults.push(new RangeError("a key has 201 characters"), new LeaseLost("another server has taken over"));
    const writes = [records.set(recordOf(1)), records.set(recordOf(2)), records.set(recordOf(3))];
    expect((await Promise.allSettled(writes)).map(({ status }) => status)).toEqual([
      "rejected",
      "rejected",
      "fulfilled",
    ]);
    expect(storedValue()).toBe(3);
  });

  test("wait for those of the previous client, which is then cut off", async () => {
    const { records, faults, host, system, storedValue } = setUp();
    faults.push(outage(), outage());
    const earlierWrites = [records.set(recordOf(1)), records.set(recordOf(2)).then(() => records.set(recordOf(3)))];
    const successor = new SessionRecords(host.records, system, records);
    const pendingRead = successor.get(["key"]);
    const laterWrite = successor
      .set(recordOf(4))
      .then(() => records.set(recordOf(5)).catch((error: Error) => error.message));
    await system.advance(3_000);
    await Promise.all(earlierWrites);
    expect(await pendingRead).toEqual([Uint8Array.of(3)]);
    expect(await laterWrite).toBe("not stored: this client is no longer in use");
    expect(storedValue()).toBe(4);
  });

  test("are not written if they are cut off together with the previous client's", async () => {
    const { records, faults, host, system, storedValue } = setUp();
    faults.push(outage(), outage());
    const writes = [records.set(recordOf(1))];
    const successor = new SessionRecords(host.records, system, records);
    writes.push(successor.set(recordOf(2)));
    await system.settle();
    successor.cutOff();
    await successor.flushed();
    expect((await Promise.allSettled(writes)).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect([storedValue(), system.waiting]).toEqual([undefined, 0]);
  });

  test("are empty once the client is cut off, and its writes are refused", async () => {
    const { records, faults, system, storedValue } = setUp();
    await records.set(recordOf(1));
    faults.push(outage(), outage());
    const pendingWrite = records.set(recordOf(2));
    await system.settle();
    records.cutOff();
    const results = await Promise.allSettled([pendingWrite, records.set(recordOf(3)), records.clear()]);
    expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
    await records.flushed();
    expect(storedValue()).toBe(1);
    expect(await records.get(["key"])).toEqual([undefined]);
    expect(await records.keys("")).toEqual([]);
    expect(system.waiting).toBe(0);
  });
});
