import type { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { StorageUnavailable } from "../../src/ports/storage.ts";
import { isBusy } from "./sqlite-errors.ts";

/** Up to this size, a database is compacted after every purge. It blocks the event loop for about 5 ms per MB. */
const SMALL_BYTES = 8 * 1024 * 1024;
const ATTEMPTS = 100;
const PAUSE_MS = 10;

/**
 * Removes deleted records from the database file and its WAL. Deleted rows are zeros already (`secure_delete`), but a
 * split page keeps a copy of the rows in its other half. Only VACUUM rewrites every page.
 * @param endReads ends the shared transaction of reads, which keeps the WAL from being emptied
 * @throws {StorageUnavailable} another process keeps the database busy
 */
export async function scrubSqlite(database: DatabaseSync, thorough: boolean, endReads: () => void): Promise<void> {
  let compacted = !thorough && sizeOf(database) > SMALL_BYTES;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    // Until the end of this step no other code runs in this process.
    if (!database.isTransaction) {
      endReads();
      compacted ||= compact(database);
      if (compacted && emptyWal(database)) return;
    }
    await sleep(PAUSE_MS);
  }
  throw new StorageUnavailable("the database is too busy to remove deleted records from its files");
}

/** Rewrites every page; returns false while another process writes. */
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

/** Moves the WAL into the database and truncates it; returns false while another process reads from it. */
function emptyWal(database: DatabaseSync): boolean {
  const row = database.prepare("pragma wal_checkpoint(truncate)").get();
  return row?.busy === 0;
}
