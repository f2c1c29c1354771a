import type { Storage } from "../../src/ports/storage.ts";
import { kyselyStorage } from "./kysely-storage.ts";
import { connectSqlite, SQLITE_TRAITS } from "./sqlite-engine.ts";

/** Options of {@link sqliteStorage}. */
export interface SqliteStorageOptions {
  /** The database file, made when it is missing (its folder is not); ":memory:" for one that ends with the storage. */
  readonly path: string;
  /** FULL (default) survives a power failure; NORMAL is about four times as fast and may lose the last writes in one. */
  readonly synchronous?: "FULL" | "NORMAL";
  /** Most pages (4,096 bytes each) the database may grow to; unlimited when not given. */
  readonly maxPageCount?: number;
  /** What the names of tables and indexes begin with, in a file that another program uses as well. Default: nothing. */
  readonly prefix?: string | undefined;
}

/**
 * A storage in one file, on the SQLite that Node (22.16 and later), Bun (1.4 and later) and Deno carry.
 * @example const storage = sqliteStorage({ path: "./data/ringport.db" });
 */
export function sqliteStorage(options: SqliteStorageOptions): Storage {
  return kyselyStorage(() => connectSqlite(options), SQLITE_TRAITS);
}
