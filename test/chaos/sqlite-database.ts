import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fillDisk } from "../support/mount.ts";
import { until } from "../support/server-client.ts";
import type { FaultyDatabase } from "./faulty-database.ts";

const LOCKED = "the database is locked";
const DISK_FULL = "the disk is full";

/** @param disk a separate folder @param isSmall true if its file system can be filled */
export function sqliteDatabase(disk: string, isSmall: boolean): FaultyDatabase {
  const data = join(disk, "data");
  const filler = join(disk, "filler");
  mkdirSync(data, { recursive: true });
  let lock: DatabaseSync | undefined;

  const unlock = (): void => {
    lock?.close();
    lock = undefined;
  };
  const tryLock = (): boolean => {
    const database = new DatabaseSync(join(data, "ringport.sqlite"));
    try {
      database.exec("pragma busy_timeout = 0; begin immediate");
      lock = database;
      return true;
    } catch {
      database.close(); // the server is writing
      return false;
    }
  };

  return {
    name: "SQLite",
    env: { RINGPORT_DATA: data },
    outages: isSmall ? [LOCKED, DISK_FULL] : [LOCKED],
    isReadable: () => true,
    migrationDone: async () => {},
    async fail(outage) {
      if (outage === DISK_FULL) fillDisk(filler);
      else await until(tryLock, (isHeld) => isHeld, 5_000, "the lock of the database", 1);
    },
    async repair() {
      unlock();
      rmSync(filler, { force: true });
    },
    whenReleased: async () => {},
    async dispose() {
      unlock();
      rmSync(data, { recursive: true, force: true });
    },
  };
}
