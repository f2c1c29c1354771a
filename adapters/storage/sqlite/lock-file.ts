import { statSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import type { Kysely } from "kysely";
import { LeaseLost, StorageLocked } from "../../../src/ports/storage.ts";
import { realSystem } from "../../../src/ports/system.ts";
import type { LockedOpening, ServerLock } from "../database.ts";
import { type Database, WHOLE_DATABASE } from "../schema.ts";
import { isBusy } from "./node-sqlite.ts";

/**
 * Time for a running server to notice that its lock file was deleted, and to end its calls, ms: it checks every second.
 */
const NOTICE_MS = 3_000;

/**
 * Makes the holder of a lock file the server of a SQLite database, which names the file. If the database names another
 * file, that file was deleted or replaced while its server may still be running: that server gets time to notice.
 */
export async function ownDatabase(lock: LockFile, { db, migrationDb, migrate }: LockedOpening): Promise<ServerLock> {
  try {
    const earlierOwner = await ownerOf(db);
    if (earlierOwner !== null && earlierOwner !== lock.id)
      await new Promise<void>((resolve) => void realSystem.after(NOTICE_MS, resolve));
    lock.verify();
    await migrationDb.transaction().execute(async (tx) => {
      await migrate(tx);
      await tx
        .insertInto("owners")
        .values({ name: WHOLE_DATABASE, epoch: 1, owner: lock.id, expires_at: 0 })
        .onConflict((conflict) => conflict.column("name").doUpdateSet({ owner: lock.id }))
        .execute();
    });
  } catch (error) {
    lock.release();
    throw error;
  }
  return {
    verify: () => lock.verify(),
    async release() {
      // If the database is unavailable, or another server has taken it over, the next one waits a moment.
      await db
        .updateTable("owners")
        .set({ owner: null })
        .where("name", "=", WHOLE_DATABASE)
        .where("owner", "=", lock.id)
        .execute()
        .catch(() => {});
      lock.release();
    },
  };
}

/** The lock file of the last server; null if it has closed the database, or there was none. */
async function ownerOf(db: Kysely<Database>): Promise<string | null> {
  const row = await db
    .selectFrom("owners")
    .select("owner")
    .where("name", "=", WHOLE_DATABASE)
    .executeTakeFirst()
    .catch(() => undefined); // an older database has no such table
  return row?.owner ?? null;
}

/** A lock file next to a database: the operating system releases the lock when the process dies. */
interface LockFile {
  /** Device and inode, which identify the file whatever its name. */
  readonly id: string;
  /**
   * Checks that the file at the path is still the locked one. If it was deleted or replaced, locks the file at the
   * path. A file that cannot be inspected stays locked.
   * @throws {LeaseLost} another server has locked it
   */
  verify(): void;
  release(): void;
}

/** @throws {StorageLocked} another server has locked it */
export function lockFile(database: string, Database: typeof DatabaseSync): LockFile {
  const path = `${database}-server.lock`;
  let lock = openLock();
  let id = idOf(path, "");

  /** Locks the file at the path, which is created if it is missing. */
  function openLock(): DatabaseSync {
    const file = new Database(path);
    try {
      file.exec("pragma busy_timeout = 0");
      file.exec("begin exclusive");
    } catch (error) {
      file.close();
      if (!isBusy(error)) throw error;
      throw new StorageLocked(`another server already works on the database ${database}`, { cause: error });
    }
    return file;
  }

  function lockAgain(): void {
    if (lock.isOpen) lock.close(); // first, because closing a file drops all locks of this process on it
    try {
      lock = openLock();
      id = idOf(path, id);
    } catch (cause) {
      if (!(cause instanceof StorageLocked)) return; // the folder no longer exists: no other server can lock a file there either
      throw new LeaseLost(
        `another server has taken over the database ${database}, because the lock file ${path} was deleted or replaced`,
        { cause },
      );
    }
  }

  return {
    get id() {
      return id;
    },
    verify() {
      if (!lock.isOpen || idOf(path, id) !== id) lockAgain();
    },
    release() {
      if (lock.isOpen) lock.close();
    },
  };
}

/** "" if there is no such file, `fallback` if that cannot be determined: the folder may be temporarily unreadable. */
function idOf(path: string, fallback: string): string {
  try {
    const file = statSync(path, { bigint: true, throwIfNoEntry: false });
    return file === undefined ? "" : `${file.dev}:${file.ino}`;
  } catch {
    return fallback;
  }
}
