import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fillDisk } from "../support/mount.ts";
import { until } from "../support/server-client.ts";
import type { Place } from "./place.ts";

const LOCKED = "the database is locked";
const FULL = "the disk is full";

/** @param disk a separate folder @param small true if its file system can be filled */
export function sqlitePlace(disk: string, small: boolean): Place {
  const data = join(disk, "data");
  const filler = join(disk, "filler");
  mkdirSync(data, { recursive: true });
  let lock: DatabaseSync | undefined;

  const unlock = (): void => {
    lock?.close();
    lock = undefined;
  };
  const locked = (): boolean => {
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
    outages: small ? [LOCKED, FULL] : [LOCKED],
    readable: () => true,
    migrated: async () => {},
    async fail(outage) {
      if (outage === FULL) fillDisk(filler);
      else await until(locked, (held) => held, 5_000, "the lock of the database", 1);
    },
    async mend() {
      unlock();
      rmSync(filler, { force: true });
    },
    released: async () => {},
    async dispose() {
      unlock();
      rmSync(data, { recursive: true, force: true });
    },
  };
}
