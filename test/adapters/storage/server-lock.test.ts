import { existsSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { dirname } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { sqliteStorage } from "../../../adapters/storage/sqlite/sqlite-storage.ts";
import { LeaseLost, type Storage, StorageLocked } from "../../../src/ports/storage.ts";
import { realSystem } from "../../../src/ports/system.ts";
import { openInOtherProcess } from "./opener-process.ts";
import { scratchPath } from "./scratch.ts";

const write = (storage: Storage, id: string) => storage.accounts.ensureUser({ id, name: id, createdAt: 1 });

describe("a SQLite file's server lock", () => {
  test("refuses a second server until the first closes", async () => {
    const path = scratchPath();
    const first = sqliteStorage({ path });
    const second = sqliteStorage({ path });
    await first.open({ exclusive: true });
    const refusal = await second.open({ exclusive: true }).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(StorageLocked);
    expect(String(refusal)).toContain(path);
    expect([first.lease, (refusal as StorageLocked).remainingMs]).toEqual([undefined, undefined]);
    await first.close();
    await second.open({ exclusive: true });
    await second.close();
  });

  test("admits programs that do not acquire the lock", async () => {
    const path = scratchPath();
    const server = sqliteStorage({ path });
    const tool = sqliteStorage({ path });
    await server.open({ exclusive: true });
    await tool.open({ exclusive: false });
    await tool.accounts.ensureUser({ id: "usr_1", name: "Ada", createdAt: 1 });
    expect((await server.accounts.userByName("Ada"))?.id).toBe("usr_1");
    await tool.close();
    await server.close();
  });

  test("ends with its process", { timeout: 30_000 }, async () => {
    const path = scratchPath();
    const otherProcess = await openInOtherProcess(path, true);
    expect(otherProcess.output).toBe("open");
    const storage = sqliteStorage({ path });
    await expect(storage.open({ exclusive: true })).rejects.toBeInstanceOf(StorageLocked);
    await otherProcess.kill();
    await storage.open({ exclusive: true });
    await storage.close();
  });

  test("is acquired again by a running server whose lock file was deleted", { timeout: 30_000 }, async () => {
    const path = scratchPath();
    const server = sqliteStorage({ path });
    await server.open({ exclusive: true });
    for (const check of [() => server.verifyOwner?.(), () => write(server, "usr_1")]) {
      rmSync(`${path}-server.lock`);
      await check();
      await expect(sqliteStorage({ path }).open({ exclusive: true })).rejects.toBeInstanceOf(StorageLocked);
      const otherProcess = await openInOtherProcess(path, true);
      expect(otherProcess.output).toContain("StorageLocked");
      await otherProcess.end();
    }
    await server.close();
  });

  test("is lost to a server with a new lock file, which waits until the first one has noticed", async () => {
    const path = scratchPath();
    const [first, second] = [sqliteStorage({ path }), sqliteStorage({ path })];
    await first.open({ exclusive: true });
    rmSync(`${path}-server.lock`);
    let isOpen = false;
    const opening = second.open({ exclusive: true }).then(() => (isOpen = true));
    await expect.poll(() => existsSync(`${path}-server.lock`)).toBe(true);
    await expect(first.verifyOwner?.()).rejects.toBeInstanceOf(LeaseLost);
    expect(isOpen).toBe(false);
    await expect(write(first, "usr_1")).rejects.toBeInstanceOf(LeaseLost);
    await opening;
    await first.close();
    await write(second, "usr_2");
    await second.verifyOwner?.();
    expect(await second.accounts.userByName("usr_1")).toBeUndefined();
    const third = sqliteStorage({ path });
    await expect(third.open({ exclusive: true })).rejects.toBeInstanceOf(StorageLocked);
    await second.close();
  });

  test("is kept while its file is unreadable", { timeout: 30_000 }, async () => {
    const path = scratchPath();
    const server = sqliteStorage({ path });
    await server.open({ exclusive: true });
    const folder = dirname(path);
    renameSync(folder, `${folder}-away`);
    symlinkSync(folder, folder); // a loop: ELOOP
    try {
      await server.verifyOwner?.();
      await write(server, "usr_1");
    } finally {
      rmSync(folder);
      renameSync(`${folder}-away`, folder);
    }
    const otherProcess = await openInOtherProcess(path, true);
    expect(otherProcess.output).toContain("StorageLocked");
    await otherProcess.end();
    await server.verifyOwner?.();
    await server.close();
  });

  test("does not delay the next server after a kill", { timeout: 30_000 }, async () => {
    const path = scratchPath();
    const otherProcess = await openInOtherProcess(path, true);
    await otherProcess.kill();
    const storage = sqliteStorage({ path });
    const timers = vi.spyOn(realSystem, "after");
    await storage.open({ exclusive: true });
    expect(timers.mock.calls.filter(([ms]) => ms >= 3_000)).toEqual([]);
    await storage.close();
  });

  test("covers all names of one file", async () => {
    const path = scratchPath();
    const first = sqliteStorage({ path });
    await first.open({ exclusive: true });
    symlinkSync(path, `${path}.link`);
    const second = sqliteStorage({ path: `${path}.link` });
    await expect(second.open({ exclusive: true })).rejects.toBeInstanceOf(StorageLocked);
    await first.close();
  });

  test("does not exist for an in-memory database", async () => {
    const storages = [sqliteStorage({ path: ":memory:" }), sqliteStorage({ path: ":memory:" })];
    for (const storage of storages) await storage.open({ exclusive: true });
    for (const storage of storages) await storage.close();
    expect(existsSync(":memory:-server.lock") || existsSync("-server.lock")).toBe(false);
  });
});
