import { statSync } from "node:fs";
import { open } from "node:fs/promises";
import type { DatabaseSync } from "node:sqlite";
import { type Kysely, sql } from "kysely";
import { ConfigurationError } from "../../../src/base/error.ts";
import { LeaseLost, StorageLocked, StorageUnavailable } from "../../../src/ports/storage.ts";
import { realSystem } from "../../../src/ports/system.ts";
import type { ConnectedDatabase, LockedOpening, ServerLock, Traits } from "../connected-database.ts";
import type { ColumnTypes } from "../migrations/migrate.ts";
import { type Database, WHOLE_DATABASE } from "../tables/all-tables.ts";
import { checkNames } from "../tables/table-names.ts";
import { sqliteAudioFiles } from "./audio-files.ts";
import { isBusy, isNoDatabase, nodeSqlite, scrubSqlite, sqliteUnavailable, whenFree } from "./node-sqlite.ts";
import { sharedReads, sqliteConnection, sqliteDialect } from "./sqlite-dialect.ts";
import type { SqliteStorageOptions } from "./sqlite-storage.ts";
import { MAX_WAL_PAGES, WalCheckpoints } from "./wal-checkpoints.ts";
import { WalSync } from "./wal-sync.ts";

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
    // Deleted rows become zeros. This does not slow calls down; deleting an audio file takes 0.5 ms per MB.
    database.exec("pragma secure_delete = on");
    database.exec(`pragma synchronous = ${synchronous === "NORMAL" ? "normal" : "full"}`);
    if (maxPageCount !== undefined) database.exec(`pragma max_page_count = ${Math.trunc(maxPageCount)}`);
  } catch (error) {
    database.close();
    throw withPath(path, error);
  }
  const file = fileOf(database);
  const walSync = synchronous === "FULL" && file !== "" ? new WalSync(database, file) : undefined;
  const reader = readingConnection(file, sqlite.DatabaseSync);
  const reads = reader && sharedReads(reader);
  const checkpoints = reader && workers && new WalCheckpoints(workers, path);
  if (checkpoints) database.exec(`pragma wal_autocheckpoint = ${MAX_WAL_PAGES}`);
  const files = reader && workers && sqliteAudioFiles(workers, { path, prefix, synchronous, maxPageCount });
  return {
    files,
    name: path,
    tables,
    dialect: sqliteDialect(database, () => {
      reads?.renew();
      checkpoints?.onCommit();
    }),
    ...(reader && { read: sqliteConnection(reader, reads?.within).rows }),
    columnTypes: SQLITE_COLUMNS,
    commitsDurable: walSync && (() => walSync.commitsDurable()),
    scrub: (thorough) => scrubSqlite(database, thorough, () => reads?.renew()),
    async lock(opening) {
      if (file !== "") return ownDatabase(lockFile(file, sqlite.DatabaseSync), opening);
      await opening.migrationDb.transaction().execute(opening.migrate);
      return { release: async () => {} };
    },
    async close() {
      await Promise.all([checkpoints?.close(), files?.close()]);
      walSync?.close();
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

/** A SQLite error with the path of the file and the fix. */
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

/**
 * Time for a running server to notice that its lock file was deleted, and to end its calls, ms: it checks every second.
 */
const NOTICE_MS = 3_000;

/**
 * Makes the holder of a lock file the server of a SQLite database, which names the file. If the database names another
 * file, that file has been deleted or replaced, but its server may still be running, so it gets time to notice.
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
  /** Device and inode, which identify the file regardless of its name. */
  readonly id: string;
  /**
   * Checks that the file at the path is still the locked one. If it was deleted or replaced, locks the file at the
   * path. A file that cannot be inspected stays locked.
   * @throws {LeaseLost} another server has locked it
   */
  verify(): void;
  release(): void;
}

/** Locks the file next to a database. @throws {StorageLocked} another server has locked it */
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
      throw new StorageLocked(`another server is already using the database ${database}`, { cause: error });
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

/** Identifies the file at a path; "" if it is missing, `fallback` if the folder is, perhaps temporarily, unreadable. */
function idOf(path: string, fallback: string): string {
  try {
    const file = statSync(path, { bigint: true, throwIfNoEntry: false });
    return file === undefined ? "" : `${file.dev}:${file.ino}`;
  } catch {
    return fallback;
  }
}
