import { afterAll, beforeAll, expect, test } from "vitest";
import { connectSqlite, SQLITE_TRAITS } from "../../../adapters/storage/connect-sqlite.ts";
import { kyselyStorage } from "../../../adapters/storage/kysely-storage.ts";
import type { Outcome } from "../../../src/domain/outcome.ts";
import type { Storage } from "../../../src/ports/storage.ts";
import { recorded, type Statement } from "./recorded.ts";
import { storedCall, storedEvent, storedInstance, storedWebhook } from "./records.ts";
import { scratchPath } from "./scratch.ts";

/** Rows that one query may read before other work continues. */
const MAX_ROWS = 500;
const MANY = 2 * MAX_ROWS + 100;

const statements: Statement[] = [];
let storage: Storage;

beforeAll(async () => {
  const path = scratchPath();
  storage = kyselyStorage(async () => recorded(await connectSqlite({ path }), statements), SQLITE_TRAITS);
  await storage.open({ exclusive: true });
});
afterAll(() => storage.close());

/** Numbers of rows of the queries of a read, and its result. */
async function reading<T>(read: () => Promise<T>): Promise<{ result: T; sizes: number[] }> {
  statements.length = 0;
  const result = await read();
  return { result, sizes: statements.map(({ rows = 0 }) => rows) };
}

const each = <T>(store: (n: number) => Promise<T>) => Promise.all(Array.from({ length: MANY }, (_, n) => store(n)));

test("the reasons of a day's failed calls are read in pieces", async () => {
  await each(async (n) => {
    await storage.instances.insert(storedInstance(`inst_${n}`), []);
    await storage.calls.insert(storedCall(`call_${n}`, `inst_${n}`), undefined, { kind: "single" }, []);
    const outcome = { reason: n % 2 === 0 ? "busy" : "no_answer" } as Outcome;
    await storage.calls.update(`call_${n}`, 1, { status: "FAILED", endedAt: 1, outcome }, []);
  });
  const { result, sizes } = await reading(() => storage.calls.tally("usr_1", 0, 9));
  expect(result).toEqual({ completed: 0, failed: MANY, failures: { busy: MANY / 2, no_answer: MANY / 2 } });
  expect(Math.max(...sizes)).toBe(MAX_ROWS);
});

test("webhooks are read in pieces", async () => {
  await each((n) => storage.webhooks.insert(storedWebhook(`hook_${n}`), MANY));
  await storage.events.append([storedEvent("evt_1", "call_0")]);
  const enabled = await reading(() => storage.webhooks.enabled());
  expect(enabled.result).toHaveLength(MANY);
  const behind = await reading(() => storage.webhooks.behind());
  expect(behind.result).toHaveLength(MANY);
  expect(Math.max(...enabled.sizes, ...behind.sizes)).toBe(MAX_ROWS);
});
