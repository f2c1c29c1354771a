import { open } from "node:fs/promises";
import type { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import { ConfigurationError } from "../../../src/base/error.ts";
import { StorageUnavailable } from "../../../src/ports/storage.ts";
import type { ConnectedDatabase, Traits } from "../database.ts";
import type { ColumnTypes } from "../migrations/first-tables.ts";
import { checkNames } from "../table-names.ts";
import { sqliteAudioFiles } from "./audio-files.ts";
import { lockFile, ownDatabase } from "./lock-file.ts";
import { isBusy, isNoDatabase, nodeSqlite, sqliteUnavailable, whenFree } from "./node-sqlite.ts";
import { sharedReads, sqliteConnection, sqliteDialect } from "./sqlite-dialect.ts";
import type { SqliteStorageOptions } from "./sqlite-storage.ts";

/** One connection, whose immediate transactions exclude every other writer. */
export const SQLITE_TRAITS: Traits = {
  rowLocks: false,
  jsonText: (column, member) => sql`${sql.ref(column)} ->> ${sql.lit(member)}`,
  unavailable: sqliteUnavailable,
};

export const SQLITE_COLUMNS: ColumnTypes = { id: "text", bytes: "blob" };

/**
 * Opens the database file.
 * @param prepare called with the new connection before its first use
 * @throws {ConfigurationError} the runtime has no SQLite, or the prefix is invalid
 */
export async function connectSqlite(
  { path, synchronous = "FULL", maxPageCount, prefix, workers }: SqliteStorageOptions,
  prepare: (database: DatabaseSync) => void = () => {},
): Promise<ConnectedDatabase> {
  const tables = checkNames({ prefix });
  const sqlite = await nodeSqlite().catch((cause: unknown) => {
    throw new ConfigurationError("the SQLite storage needs Node 22.18 or later, Bun 1.4 or later, or Deno", { cause });
  });
  if (path !== ":memory:") await createPrivateFile(path);
  const database = openDatabase(path, sqlite.DatabaseSync);
  try {
    prepare(database);
    // whenFree() waits without blocking the event loop.
    database.exec("pragma busy_timeout = 0");
    await whenFree(() => database.exec("pragma journal_mode = wal"));
    // Deleted rows become zeros. It does not slow calls down; the deletion of an audio file takes 0.5 ms per MB.
    database.exec("pragma secure_delete = on");
    database.exec(`pragma synchronous = ${synchronous === "NORMAL" ? "normal" : "full"}`);
    if (maxPageCount !== undefined) database.exec(`pragma max_page_count = ${Math.trunc(maxPageCount)}`);
  } catch (error) {
    database.close();
    throw withPath(path, error);
  }
  const reader = readingConnection(fileOf(database), sqlite.DatabaseSync);
  const reads = reader && sharedReads(reader);
  const files = reader && workers && sqliteAudioFiles(workers, { path, prefix, synchronous, maxPageCount }, database);
  return {
    files,
    name: path,
    tables,
    dialect: sqliteDialect(database, () => reads?.renew()),
    ...(reader && { read: sqliteConnection(reader, reads?.within).rows }),
    columnTypes: SQLITE_COLUMNS,
    scrub: (thorough) => scrubSqlite(database, thorough, () => reads?.renew()),
    async lock(opening) {
      const file = fileOf(database);
      if (file !== "") return ownDatabase(lockFile(file, sqlite.DatabaseSync), opening);
      await opening.migrationDb.transaction().execute(opening.migrate);
      return { release: async () => {} };
    },
    close() {
      reader?.close();
      database.close();
    },
  };
}

function openDatabase(path: string, Database: typeof DatabaseSync): DatabaseSync {
  try {
    return new Database(path);
  } catch (error) {
    throw withPath(path, error);
  }
}

/** An error of SQLite with the path of the file and the fix. */
function withPath(path: string, error: unknown): unknown {
  if (isNoDatabase(error))
    return new ConfigurationError(
      `${path} is not a SQLite database: restore it from a backup, or move it away to start with an empty one`,
      {
        cause: error,
      },
    );
  const reason = sqliteUnavailable(error);
  return reason === undefined ? error : new StorageUnavailable(`${path}: ${reason}`, { cause: error });
}

/** Creates a missing file with mode 600, because it contains tokens and numbers. Its WAL gets the same mode. */
async function createPrivateFile(path: string): Promise<void> {
  // Never opens an existing file: closing another descriptor of a database in use would drop its locks.
  const file = await open(path, "wx", 0o600).catch(() => undefined);
  await file?.close();
}

/** The path that SQLite opened, without symbolic links; "" for a database in memory. */
function fileOf(database: DatabaseSync): string {
  const row = database.prepare("select file from pragma_database_list where name = 'main'").get();
  return typeof row?.file === "string" ? row.file : "";
}

/** A second connection that sees only committed data, so that readers wait for no transaction. */
function readingConnection(file: string, Database: typeof DatabaseSync): DatabaseSync | undefined {
  if (file === "") return undefined;
  const reader = new Database(file);
  reader.exec("pragma busy_timeout = 0; pragma query_only = on");
  return reader;
}

/** Up to this size, a database is compacted after every purge. It blocks the event loop for about 5 ms per MB. */
const SMALL_BYTES = 8 * 1024 * 1024;
const ATTEMPTS = 100;
const PAUSE_MS = 10;

/**
 * Removes deleted records from the database file and its WAL. Deleted rows are already zeros (`secure_delete`), but a
 * split page keeps a copy of the rows in its other half. Only VACUUM rewrites every page.
 * @param endReads ends the shared transaction of reads, which keeps the WAL from being emptied
 * @throws {StorageUnavailable} another process keeps the database busy
 */
async function scrubSqlite(database: DatabaseSync, thorough: boolean, endReads: () => void): Promise<void> {
  let isCompacted = !thorough && sizeOf(database) > SMALL_BYTES;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    // Until the end of this step no other code runs in this process.
    if (!database.isTransaction) {
      endReads();
      isCompacted ||= compact(database);
      if (isCompacted && emptyWal(database)) return;
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
