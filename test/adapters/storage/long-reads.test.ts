import { afterAll, beforeAll, expect, test } from "vitest";
import { databaseStorage } from "../../../adapters/storage/all-stores.ts";
import { connectSqlite, SQLITE_TRAITS } from "../../../adapters/storage/sqlite/connect-sqlite.ts";
import type { Outcome } from "../../../src/domain/calls/outcome.ts";
import type { Storage } from "../../../src/ports/storage.ts";
import { recordStatements, type Statement } from "./recorded.ts";
import { storedCall, storedEvent, storedInstance, storedWebhook } from "./records.ts";
import { scratchPath } from "./scratch.ts";

/** Maximum number of rows that one query reads before other work continues. */
const MAX_ROWS = 500;
const RECORD_COUNT = 2 * MAX_ROWS + 100;

const statements: Statement[] = [];
let storage: Storage;

beforeAll(async () => {
  const path = scratchPath();
  storage = databaseStorage(async () => recordStatements(await connectSqlite({ path }), statements), SQLITE_TRAITS);
  await storage.open({ exclusive: true });
});
afterAll(() => storage.close());

/** The row counts of a read's queries, and the read's result. */
async function measure<T>(read: () => Promise<T>): Promise<{ result: T; sizes: number[] }> {
  statements.length = 0;
  const result = await read();
  return { result, sizes: statements.map(({ rows = 0 }) => rows) };
}

const forEachNumber = <T>(store: (n: number) => Promise<T>) =>
  Promise.all(Array.from({ length: RECORD_COUNT }, (_, n) => store(n)));

test("the reasons for a day's failed calls are read in pieces", async () => {
  await forEachNumber(async (n) => {
    await storage.instances.insert(storedInstance(`inst_${n}`), []);
    await storage.calls.insert(storedCall(`call_${n}`, `inst_${n}`), undefined, { kind: "single" }, []);
    const outcome = { reason: n % 2 === 0 ? "busy" : "no_answer" } as Outcome;
    await storage.calls.update(`call_${n}`, 1, { status: "FAILED", endedAt: 1, outcome }, []);
  });
  const { result, sizes } = await measure(() => storage.calls.tally("usr_1", 0, 9));
  expect(result).toEqual({
    completed: 0,
    failed: RECORD_COUNT,
    failures: { busy: RECORD_COUNT / 2, no_answer: RECORD_COUNT / 2 },
  });
  expect(Math.max(...sizes)).toBe(MAX_ROWS);
});

test("webhooks are read in pieces", async () => {
  await forEachNumber((n) => storage.webhooks.insert(storedWebhook(`hook_${n}`), RECORD_COUNT));
  await storage.events.append([storedEvent("evt_1", "call_0")]);
  const enabledWebhooks = await measure(() => storage.webhooks.enabled());
  expect(enabledWebhooks.result).toHaveLength(RECORD_COUNT);
  const lateWebhooks = await measure(() => storage.webhooks.behind());
  expect(lateWebhooks.result).toHaveLength(RECORD_COUNT);
  expect(Math.max(...enabledWebhooks.sizes, ...lateWebhooks.sizes)).toBe(MAX_ROWS);
});

test("a long queue is read in pieces, and a dial reads its next call alone", async () => {
  const instance = { ...storedInstance("inst_queue"), userId: "usr_2" };
  await storage.instances.insert(instance, []);
  const policy = { kind: "fifo", depth: RECORD_COUNT } as const;
  const ids = Array.from({ length: RECORD_COUNT }, (_, n) => `call_queue_${10_000 + n}`);
  for (const id of ids) void storage.calls.insert(storedCall(id, instance.id), undefined, policy, []);
  await expect.poll(async () => (await storage.calls.counts()).QUEUED).toBe(RECORD_COUNT);

  const textRowCounts = () => statements.filter(({ sql }) => sql.startsWith("select *")).map(({ rows = 0 }) => rows);
  const activeCalls = await measure(() => storage.calls.active(instance.id));
  expect(activeCalls.result.map(({ id }) => id)).toEqual(ids);
  expect(Math.max(...textRowCounts())).toBeLessThanOrEqual(50);

  const nextCall = await measure(() => storage.calls.nextWaiting(instance.id));
  expect(nextCall.result?.id).toBe(ids[0]);
  expect(nextCall.sizes).toEqual([1]);
  const claimedCall = await measure(() => storage.calls.claimed(instance.id, "node_1"));
  expect(claimedCall.result).toEqual([]);
  expect(claimedCall.sizes).toEqual([0]);

  await storage.instances.update(instance.id, 1, { status: "DELETED" }, []);
  const orphanedCalls = await measure(() => storage.calls.orphaned("node_1", RECORD_COUNT));
  expect(orphanedCalls.result.map(({ id }) => id)).toEqual(ids);
  expect(Math.max(...textRowCounts())).toBeLessThanOrEqual(50);
});
