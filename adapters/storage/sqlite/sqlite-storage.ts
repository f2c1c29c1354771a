import type { Storage } from "../../../src/ports/storage.ts";
import { databaseStorage } from "../all-stores.ts";
import type { AudioFileWorkers } from "./audio-files.ts";
import { connectSqlite, SQLITE_TRAITS } from "./connect-sqlite.ts";
import type { CheckpointWorkers } from "./wal-checkpoints.ts";

/** Options of {@link sqliteStorage}. */
export interface SqliteStorageOptions {
  /**
   * The database file, created if it is missing (its folder is not); ":memory:" for a database that ends with the
   * storage.
   */
  readonly path: string;
  /** FULL (default) survives a power failure; NORMAL is about four times faster and may lose the last writes. */
  readonly synchronous?: "FULL" | "NORMAL";
  /** Maximum size of the database, in pages of 4,096 bytes. Default: unlimited. */
  readonly maxPageCount?: number;
  /** The prefix of tables and indexes, in a file that another program also uses. Default: nothing. */
  readonly prefix?: string | undefined;
  /**
   * Writes large audio files, and moves commits from the WAL into the database, away from the thread that carries
   * audio. Default: on that thread.
   */
  readonly workers?: AudioFileWorkers & CheckpointWorkers;
}

/**
 * A storage in one file, with the built-in SQLite of Node (22.18 and later), Bun (1.4 and later) and Deno.
 * @example const storage = sqliteStorage({ path: "./data/ringport.db" });
 */
export function sqliteStorage(options: SqliteStorageOptions): Storage {
  return databaseStorage(() => connectSqlite(options), SQLITE_TRAITS);
}
