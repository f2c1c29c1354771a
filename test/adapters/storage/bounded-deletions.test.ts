import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { databaseStorage } from "../../../adapters/storage/all-stores.ts";
import { MAX_PIECE } from "../../../adapters/storage/bounded-deletions.ts";
import { connectPostgres, POSTGRES_TRAITS } from "../../../adapters/storage/postgres/connect-postgres.ts";
import { connectSqlite, SQLITE_TRAITS } from "../../../adapters/storage/sqlite/connect-sqlite.ts";
import type { Storage } from "../../../src/ports/storage.ts";
import { findPostgres, type RunningPostgres } from "../../support/postgres.ts";
import { recordStatements, type Statement } from "./recorded.ts";
import { storedCall, storedDelivery, storedEvent, storedInstance, storedSession, storedWebhook } from "./records.ts";
import { scratchPath } from "./scratch.ts";

/** Number of rows that do not fit into two pieces. */
const ROW_COUNT = 2 * MAX_PIECE + 100;
const NUMBERS = Array.from({ length: ROW_COUNT }, (_, n) => n);

interface Deletion {
  /** Stores many related rows. */
  fill(storage: Storage): Promise<unknown>;
  delete(storage: Storage): Promise<unknown>;
  /** Number of remaining rows. */
  remainingRows(storage: Storage): Promise<number>;
}

/** Stores 25 rows at a time; on a busy machine, more would wait too long for connections. */
async function forEachNumber(store: (n: number) => Promise<unknown>): Promise<void> {
  for (let start = 0; start < NUMBERS.length; start += 25)
    await Promise.all(NUMBERS.slice(start, start + 25).map(store));
}
const expiredTimes = { expiresAt: 1, createdAt: 1 };

const DELETIONS: Readonly<Record<string, Deletion>> = {
  "deliveries that ended long ago": {
    fill: ({ webhooks }) =>
      forEachNumber((n) =>
        webhooks.insertDelivery(storedDelivery(`dlv_${n}`, "hook_1", { status: "failed" }), 2 * ROW_COUNT),
      ),
    delete: ({ webhooks }) => webhooks.forgetDeliveries(9),
    remainingRows: async ({ webhooks }) => (await webhooks.deliveries("hook_1", {}, { limit: ROW_COUNT })).length,
  },
  "a webhook with its deliveries": {
    async fill({ webhooks }) {
      await webhooks.insert(storedWebhook("hook_1"), 10);
      await forEachNumber((n) => webhooks.insertDelivery(storedDelivery(`dlv_${n}`, "hook_1"), 2 * ROW_COUNT));
    },
    delete: ({ webhooks }) => webhooks.delete("hook_1"),
    remainingRows: async ({ webhooks }) =>
      (await webhooks.deliveries("hook_1", {}, { limit: ROW_COUNT })).length + ((await webhooks.get("hook_1")) ? 1 : 0),
  },
  "old receipts": {
    fill: ({ instances }) =>
      forEachNumber((n) => {
        const key = { userId: "usr_1", scope: "", key: `key ${n}` };
        const receipt = { ...key, fingerprint: "body", begunAt: 1, expiredBefore: 0 };
        return instances.insert(storedInstance(`inst_${n}`), [], receipt);
      }),
    delete: ({ receipts }) => receipts.forget(9),
    remainingRows: ({ receipts }) => receipts.forget(9),
  },
  "a call with its events and transcript": {
    async fill({ instances, calls, events, transcripts }) {
      await instances.insert(storedInstance("inst_1"), []);
      await calls.insert(storedCall("call_1", "inst_1"), undefined, { kind: "single" }, []);
      await calls.update("call_1", 1, { status: "FAILED", endedAt: 1 }, []);
      await events.append(NUMBERS.map((n) => storedEvent(`evt_${n}`, "call_1")));
      const line = { callId: "call_1", speaker: "callee", text: "Yes", timestamp: 1, startMs: 1, endMs: 2 } as const;
      await transcripts.append(NUMBERS.map((position) => ({ ...line, position, confidence: null })));
    },
    async delete({ calls }) {
      expect(await calls.remove(["call_1"])).toEqual({
        ids: ["call_1"],
        events: ROW_COUNT,
        transcriptLines: ROW_COUNT,
        receipts: 0,
      });
    },
    remainingRows: async ({ calls, events, transcripts }) =>
      ((await calls.get("call_1")) ? 1 : 0) +
      (await events.ofCall("call_1", { limit: ROW_COUNT })).length +
      (await transcripts.ofCalls(["call_1"])).length,
  },
  "a deleted instance with its events": {
    async fill({ instances, events }) {
      await instances.insert({ ...storedInstance("inst_1"), status: "DELETED", erasedAt: 1 }, []);
      await events.append(NUMBERS.map((n) => storedEvent(`evt_${n}`, null)));
    },
    async delete({ instances }) {
      expect(await instances.purge(9, 10)).toEqual(["inst_1"]);
    },
    remainingRows: async ({ instances, events }) =>
      ((await instances.get("inst_1")) ? 1 : 0) + (await events.ofUser("usr_1", {}, { limit: ROW_COUNT })).length,
  },
  "expired sessions": {
    async fill({ logins }) {
      await storeAccount(logins);
      await forEachNumber((n) =>
        logins.insertSession({ ...storedSession(`ses_${n}`), ...expiredTimes }, "hash", 2 * ROW_COUNT),
      );
    },
    delete: ({ logins }) => logins.forgetExpired(9),
    remainingRows: async ({ logins }) =>
      (await logins.sessions("acc_1")).filter(({ expiresAt }) => expiresAt < 9).length,
  },
  "everything of a user": {
    async fill({ consents, events }) {
      const consent = { userId: "usr_1", source: null, createdAt: 1, updatedAt: 1, status: "granted" } as const;
      await forEachNumber((n) => consents.put({ ...consent, phone: `+1202555${1000 + n}` }, ROW_COUNT));
      await events.append(NUMBERS.map((n) => storedEvent(`evt_${n}`, null)));
    },
    async delete({ logins }) {
      while (await logins.forgetUser("usr_1", 10 * MAX_PIECE));
    },
    remainingRows: async ({ consents, events }) =>
      (await consents.list("usr_1", {}, { limit: ROW_COUNT })).length +
      (await events.ofUser("usr_1", {}, { limit: ROW_COUNT })).length,
  },
};

/** Stores the administrator's account, whose hash is "hash". */
async function storeAccount(logins: Storage["logins"]): Promise<void> {
  const account = { id: "acc_1", email: "a@example.com", passwordHash: "hash", role: "admin", createdAt: 1 } as const;
  const user = { id: "usr_2", name: "Bob", createdAt: 1 };
  await logins.register({ account, session: storedSession("ses_first"), user, code: undefined });
}

/** Runs a deletion; returns the size of each piece, the number of concurrent writes, and the remaining rows. */
async function deleteDuringWrites(storage: Storage, statements: Statement[], deletion: Deletion) {
  await storage.accounts.ensureUser({ id: "usr_1", name: "Ada", createdAt: 1 });
  await deletion.fill(storage);
  statements.length = 0;
  let isEnded = false;
  const deletionEnd = deletion.delete(storage).finally(() => {
    isEnded = true;
  });
  let writes = 0;
  for (; !isEnded; writes++) await storage.webhooks.update("hook_9", 1, { disabledReason: null });
  await deletionEnd;
  const sizes = statements.filter(({ sql }) => sql.startsWith("delete")).map(({ rows = 0 }) => rows);
  return { sizes, writes, remainingRows: await deletion.remainingRows(storage) };
}

describe("SQLite", () => {
  test.each(Object.keys(DELETIONS))("deletes %s in pieces, with other writes between them", async (name) => {
    const statements: Statement[] = [];
    const path = scratchPath();
    const storage = databaseStorage(
      async () => recordStatements(await connectSqlite({ path }), statements),
      SQLITE_TRAITS,
    );
    await storage.open({ exclusive: true });
    const { sizes, writes, remainingRows } = await deleteDuringWrites(storage, statements, DELETIONS[name] as Deletion);
    expect(remainingRows).toBe(0);
    expect(Math.max(...sizes)).toBe(MAX_PIECE);
    expect(writes).toBeGreaterThanOrEqual(ROW_COUNT / MAX_PIECE);
    await storage.close();
  });
});

const postgres = await findPostgres();
describe.skipIf(postgres.missing)(postgres.title, () => {
  let server: RunningPostgres;
  beforeAll(async () => {
    server = await postgres.start();
  }, 30_000);
  afterAll(() => server?.stop());

  test.each(Object.keys(DELETIONS))("deletes %s in pieces", async (name) => {
    const statements: Statement[] = [];
    const url = await server.createDatabase();
    const storage = databaseStorage(
      async () => recordStatements(await connectPostgres({ url }), statements),
      POSTGRES_TRAITS,
    );
    await storage.open({ exclusive: true });
    const { sizes, remainingRows } = await deleteDuringWrites(storage, statements, DELETIONS[name] as Deletion);
    expect(remainingRows).toBe(0);
    expect(Math.max(...sizes)).toBe(MAX_PIECE);
    await storage.close();
  });
});
