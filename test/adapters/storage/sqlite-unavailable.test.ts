import { DatabaseSync } from "node:sqlite";
import { Kysely, sql } from "kysely";
import { expect, test } from "vitest";
import { connectSqlite } from "../../../adapters/storage/sqlite/connect-sqlite.ts";
import { sqliteStorage } from "../../../adapters/storage/sqlite/sqlite-storage.ts";
import type { Call } from "../../../src/domain/calls/call.ts";
import { type Storage, StorageUnavailable } from "../../../src/ports/storage.ts";
import { storedCall, storedInstance } from "./records.ts";
import { scratchPath } from "./scratch.ts";

test("a full database rejects whole writes, and then recovers", async () => {
  const storage = await openWithInstance(sqliteStorage({ path: scratchPath(), maxPageCount: 160 }));
  const callsBefore = await storage.calls.list("usr_1", {}, {});
  const error = await storage.calls
    .insert(call("call_1"), new Uint8Array(1_000_000), { kind: "single" }, [queuedEvent("call_1")])
    .catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(StorageUnavailable);
  expect(String(error)).toContain("full");
  expect(await storage.calls.list("usr_1", {}, {})).toEqual(callsBefore);
  expect(await storage.calls.audio("call_1")).toBeUndefined();
  expect(await storage.events.ofCall("call_1", {})).toEqual([]);
  const laterInsert = await storage.calls.insert(call("call_1"), new Uint8Array(10), { kind: "single" }, [
    queuedEvent("call_1"),
  ]);
  expect(laterInsert.kind).toBe("created");
  await storage.close();
});

test("a locked database is unavailable and does not block the event loop", {
  timeout: 20_000,
}, async () => {
  const path = scratchPath();
  const storage = await openWithInstance(sqliteStorage({ path }));
  const otherConnection = new DatabaseSync(path);
  otherConnection.exec("begin exclusive");

  let maxStallMs = 0;
  let lastAt = performance.now();
  const stallTimer = setInterval(() => {
    maxStallMs = Math.max(maxStallMs, performance.now() - lastAt);
    lastAt = performance.now();
  }, 5);
  const write = storage.calls.insert(call("call_1"), undefined, { kind: "single" }, []);
  await expect(write).rejects.toBeInstanceOf(StorageUnavailable);
  clearInterval(stallTimer);
  expect(maxStallMs).toBeLessThan(500); // waiting inside SQLite would be one stall of two seconds

  otherConnection.exec("rollback");
  otherConnection.close();
  expect(await storage.calls.get("call_1")).toBeUndefined();
  expect((await storage.calls.insert(call("call_1"), undefined, { kind: "single" }, [])).kind).toBe("created");
  await storage.close();
});

test("a write waits for another process's lock", async () => {
  const path = scratchPath();
  const storage = await openWithInstance(sqliteStorage({ path }));
  const otherConnection = new DatabaseSync(path);
  otherConnection.exec("begin exclusive");
  setTimeout(() => otherConnection.exec("rollback"), 200);
  expect((await storage.calls.insert(call("call_1"), undefined, { kind: "single" }, [])).kind).toBe("created");
  otherConnection.close();
  await storage.close();
});

test("an unreadable file is reported as unavailable", async () => {
  const storage = sqliteStorage({ path: `${scratchPath()}/missing/ringport.db` });
  await expect(storage.open({ exclusive: true })).rejects.toBeInstanceOf(StorageUnavailable);
});

test("a closed storage is unavailable and can be closed again", async () => {
  const storage = sqliteStorage({ path: ":memory:" });
  await expect(storage.calls.counts()).rejects.toBeInstanceOf(StorageUnavailable);
  await storage.close();
  await Promise.all([storage.open({ exclusive: true }), storage.open({ exclusive: true })]);
  const pendingCounts = storage.calls.counts();
  await Promise.all([storage.close(), storage.close()]);
  expect(await pendingCounts).toEqual({});
  await expect(storage.calls.counts()).rejects.toBeInstanceOf(StorageUnavailable);
});

test("every commit is synchronized by default", async () => {
  expect(await synchronousLevel({})).toBe(2);
  expect(await synchronousLevel({ synchronous: "FULL" })).toBe(2);
  expect(await synchronousLevel({ synchronous: "NORMAL" })).toBe(1);
});

async function synchronousLevel(options: { synchronous?: "FULL" | "NORMAL" }): Promise<number | undefined> {
  const connection = await connectSqlite({ path: scratchPath(), ...options });
  const { rows } = await sql<{ synchronous: number }>`pragma synchronous`.execute(
    new Kysely({ dialect: connection.dialect }),
  );
  await connection.close?.();
  return rows[0]?.synchronous;
}

async function openWithInstance(storage: Storage): Promise<Storage> {
  await storage.open({ exclusive: true });
  await storage.instances.insert(storedInstance("inst_1"), []);
  return storage;
}

function call(id: string): Call {
  return storedCall(id, "inst_1");
}

function queuedEvent(callId: string) {
  return {
    id: `evt_of_${callId}`,
    type: "queued",
    timestamp: 1,
    callId,
    instanceId: "inst_1",
    userId: "usr_1",
    data: { type: "FIXED_TTS" },
  } as const;
}
