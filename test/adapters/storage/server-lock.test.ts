import { existsSync, symlinkSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { sqliteStorage } from "../../../adapters/storage/sqlite.ts";
import { StorageLocked } from "../../../src/ports/storage.ts";
import { openElsewhere } from "./opener-process.ts";
import { scratchPath } from "./scratch.ts";

describe("the server lock of a SQLite file", () => {
  test("refuses a second server until the first has closed", async () => {
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

  test("admits programs that do not take the lock", async () => {
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

  test("ends with the process that holds it", { timeout: 30_000 }, async () => {
    const path = scratchPath();
    const other = await openElsewhere(path, true);
    expect(other.output).toBe("open");
    const storage = sqliteStorage({ path });
    await expect(storage.open({ exclusive: true })).rejects.toBeInstanceOf(StorageLocked);
    await other.kill();
    await storage.open({ exclusive: true });
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

  test("does not exist for a database in memory", async () => {
    const storages = [sqliteStorage({ path: ":memory:" }), sqliteStorage({ path: ":memory:" })];
    for (const storage of storages) await storage.open({ exclusive: true });
    for (const storage of storages) await storage.close();
    expect(existsSync(":memory:-server.lock") || existsSync("-server.lock")).toBe(false);
  });
});
