import type { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { StorageUnavailable } from "../../src/ports/storage.ts";
import { isBusy } from "./sqlite-errors.ts";

/** Databases up to this size are compacted after every purge. It takes about 5 ms per MB; nothing else runs meanwhile. */
const SMALL_BYTES = 8 * 1024 * 1024;
const ATTEMPTS = 100;
const PAUSE_MS = 10;

/**
 * Takes what was deleted out of the database file and its WAL. Deleted rows are zeros already (`secure_delete`), but a
 * page that was split keeps a copy of rows that went to the other half; only VACUUM writes every page anew.
 * @param endReads ends the transaction that reads share: the WAL cannot be emptied under it
 * @throws {StorageUnavailable} another process keeps the database busy
 */
export async function scrubSqlite(database: DatabaseSync, thorough: boolean, endReads: () => void): Promise<void> {
  let compacted = !thorough && sizeOf(database) > SMALL_BYTES;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    // From here to the end of the step nothing else runs in this process.
    if (!database.isTransaction) {
      endReads();
      compacted ||= compact(database);
      if (compacted && emptyWal(database)) return;
    }
    await sleep(PAUSE_MS);
  }
  throw new StorageUnavailable("the database is too busy to take deleted records out of its files");
}

/** Writes every page anew; false while another process writes. */
function compact(database: DatabaseSync): boolean {
  try {
    database.exec("vacuum");
    return true;
  } catch (error) {
    if (isBusy(error)) return false;
    throw error;
  }
}

function sizeOf(database: DatabaseSync): number {
  const row = database.prepare("select page_count * page_size as bytes from pragma_page_count, pragma_page_size").get();
  return Number(row?.bytes);
}

/** Moves the WAL into the database and cuts it to nothing; false while another process reads from it. */
function emptyWal(database: DatabaseSync): boolean {
  const row = database.prepare("pragma wal_checkpoint(truncate)").get();
  return row?.busy === 0;
}
