import { existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { type EmbeddedWorkers, embeddedWorkers } from "../../../adapters/defaults/worker-pool.ts";
import { type AudioFileWorkers, MAX_SMALL_FILE_BYTES } from "../../../adapters/storage/sqlite/audio-files.ts";
import { sqliteStorage } from "../../../adapters/storage/sqlite/sqlite-storage.ts";
import type { Storage } from "../../../src/ports/storage.ts";
import { storedCall, storedInstance } from "./records.ts";
import { scratchPath } from "./scratch.ts";

const FILE = Uint8Array.from({ length: 10 * 2 ** 20 }, (_, i) => Math.imul(i, 2_654_435_761) >>> 13);
const message = { type: "FIXED_AUDIO", format: "wav", durationMs: 1_000, truncated: false } as const;
const call = (id: string) => storedCall(id, "inst_1", { message });
const SINGLE_POLICY = { kind: "single" } as const;

const workers = embeddedWorkers({ size: 1 });
afterAll(() => workers.close());
const storages: Storage[] = [];
afterEach(async () => {
  for (const storage of storages.splice(0)) await storage.close();
});

async function openStorage(path: string, maxPageCount?: number): Promise<Storage> {
  const storage = sqliteStorage({ path, workers, ...(maxPageCount === undefined ? {} : { maxPageCount }) });
  await storage.open({ exclusive: true });
  storages.push(storage);
  return storage;
}

async function openWithInstance(maxPageCount?: number): Promise<{ path: string; storage: Storage }> {
  const path = scratchPath();
  const storage = await openStorage(path, maxPageCount);
  await storage.instances.insert(storedInstance("inst_1"), []);
  return { path, storage };
}

/** Ids of the calls whose files are in the database. */
function filesIn(path: string): unknown[] {
  const database = new DatabaseSync(path, { readOnly: true });
  const rows = database.prepare("select distinct call_id from call_audio order by call_id").all();
  database.close();
  return rows.map(({ call_id }) => call_id);
}

const expectFilesIn = (path: string, ids: string[]) =>
  expect.poll(() => filesIn(path), { timeout: 10_000, interval: 20 }).toEqual(ids);

describe("a large audio file in SQLite", () => {
  test("is readable while its call is active, and deleted afterwards", async () => {
    const { path, storage } = await openWithInstance();
    expect((await storage.calls.insert(call("call_1"), FILE, SINGLE_POLICY, [])).kind).toBe("created");
    expect(Buffer.compare((await storage.calls.audio("call_1"))!, FILE)).toBe(0);
    await storage.calls.update("call_1", 1, { status: "FAILED", endedAt: 2 }, []);
    expect(await storage.calls.audio("call_1")).toBeUndefined();
    await expectFilesIn(path, []);
  });

  test("is read and written by no worker after the storage has closed", async () => {
    const { path, storage } = await openWithInstance();
    await storage.calls.insert(call("call_1"), FILE, SINGLE_POLICY, []);
    await storage.calls.update("call_1", 1, { status: "FAILED", endedAt: 2 }, []);
    await storage.close();
    expect(existsSync(`${path}-wal`)).toBe(false); // the last connection to close deletes it
    expect(filesIn(path)).toEqual([]);
  });

  test("does not prevent a start if its deletion fails", async () => {
    const { path, storage } = await openWithInstance();
    await storage.calls.insert(call("call_1"), FILE, SINGLE_POLICY, []);
    await storage.close();
    const database = new DatabaseSync(path);
    database.exec("update calls set status = 'FAILED'");
    database.close();
    const failingWorkers = {
      async *run() {
        yield { unavailableReason: "the disk is full" };
      },
    } as unknown as EmbeddedWorkers;
    const reopenedStorage = sqliteStorage({ path, workers: failingWorkers });
    await reopenedStorage.open({ exclusive: true });
    await reopenedStorage.close();
    expect(filesIn(path)).toEqual(["call_1"]);
    await openStorage(path);
    await expectFilesIn(path, []);
  });

  test("is deleted if no call is created for it", async () => {
    const { path, storage } = await openWithInstance();
    await storage.calls.insert(call("call_1"), FILE, SINGLE_POLICY, []);
    expect((await storage.calls.insert(call("call_2"), FILE, SINGLE_POLICY, [])).kind).toBe("existing");
    await expectFilesIn(path, ["call_1"]);
  });

  test("is deleted at the next start if it has no active call", async () => {
    const { path, storage } = await openWithInstance();
    await storage.calls.insert(call("call_1"), FILE, SINGLE_POLICY, []);
    await storage.close();
    const database = new DatabaseSync(path);
    database.prepare("insert into call_audio values ('call_lost', 0, ?), ('call_begun', 7, ?)").run(FILE, FILE);
    database.close();
    expect(filesIn(path)).toEqual(["call_1", "call_begun", "call_lost"]);
    await openStorage(path);
    expect(filesIn(path)).toEqual(["call_1"]);
  });

  test("is stored in parts with separate commits", async () => {
    const { path, storage } = await openWithInstance();
    await storage.calls.insert(call("call_1"), FILE, SINGLE_POLICY, []);
    const database = new DatabaseSync(path, { readOnly: true });
    const rows = database.prepare("select part, length(bytes) bytes from call_audio order by part").all();
    database.close();
    expect(rows.map(({ part }) => part)).toEqual(Array.from({ length: 20 }, (_, part) => part));
    expect(new Set(rows.map(({ bytes }) => bytes))).toEqual(new Set([512 << 10]));
  });

  test("is refused with its call when full", async () => {
    const { path, storage } = await openWithInstance(500);
    await expect(storage.calls.insert(call("call_1"), FILE, SINGLE_POLICY, [])).rejects.toMatchObject({
      name: "StorageUnavailable",
      message: expect.stringContaining("full"),
    });
    expect(filesIn(path)).toEqual([]);
    expect(await storage.calls.get("call_1")).toBeUndefined();
  });
});

test("only files above 256 KiB use a worker", async () => {
  const jobs: unknown[] = [];
  const countedWorkers = {
    run(...[job, options]: Parameters<AudioFileWorkers["run"]>) {
      jobs.push([job.task, job.file?.byteLength]);
      return workers.run(job, options);
    },
  } as EmbeddedWorkers;
  const storage = sqliteStorage({ path: scratchPath(), workers: countedWorkers });
  await storage.open({ exclusive: true });
  storages.push(storage);
  await storage.instances.insert(storedInstance("inst_1"), []);
  const store = (id: string, bytes: number) =>
    storage.calls.insert(call(id), FILE.subarray(0, bytes), { kind: "fifo", depth: 10 }, []);
  await store("call_1", MAX_SMALL_FILE_BYTES);
  expect((await storage.calls.audio("call_1"))?.length).toBe(MAX_SMALL_FILE_BYTES);
  await storage.calls.update("call_1", 1, { status: "FAILED", endedAt: 2 }, []);
  expect(jobs).toEqual([]);
  await store("call_2", MAX_SMALL_FILE_BYTES + 1);
  expect((await storage.calls.audio("call_2"))?.length).toBe(MAX_SMALL_FILE_BYTES + 1);
  await storage.calls.update("call_2", 1, { status: "FAILED", endedAt: 2 }, []);
  expect(await storage.calls.audio("call_2")).toBeUndefined();
  expect(jobs).toEqual([
    ["store", MAX_SMALL_FILE_BYTES + 1],
    ["read", undefined],
    ["delete", undefined],
  ]);
});
