import { statSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { LeaseLost, StorageLocked } from "../../src/ports/storage.ts";
import { isBusy } from "./sqlite-errors.ts";

/** A lock file next to a database: the operating system releases the lock when the process dies. */
export interface LockFile {
  /** Identifies the file itself, whatever its name: its device and inode. */
  readonly id: string;
  /**
   * Checks that the file at the path is still the locked one. If it was deleted or replaced, locks the one there. A file
   * that cannot be looked at stays locked.
   * @throws {LeaseLost} another server has locked it
   */
  verify(): void;
  release(): void;
}

/** @throws {StorageLocked} another server has locked it */
export function lockFile(database: string, Database: typeof DatabaseSync): LockFile {
  const path = `${database}-server.lock`;
  let lock = locked();
  let id = idOf(path, "");

  /** Locks the file at the path, which is created if it is missing. */
  function locked(): DatabaseSync {
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
      lock = locked();
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

/** "" if there is no such file, `unknown` if that cannot be determined: the folder may be temporarily unreadable. */
function idOf(path: string, unknown: string): string {
  try {
    const file = statSync(path, { bigint: true, throwIfNoEntry: false });
    return file === undefined ? "" : `${file.dev}:${file.ino}`;
  } catch {
    return unknown;
  }
}
