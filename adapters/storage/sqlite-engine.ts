import { open } from "node:fs/promises";
import type { DatabaseSync } from "node:sqlite";
import { StorageLocked, StorageUnavailable } from "../../src/ports/storage.ts";
import { scrubSqlite } from "./scrub-sqlite.ts";
import type { Engine, Traits } from "./session.ts";
import { sharedReads } from "./shared-reads.ts";
import type { SqliteStorageOptions } from "./sqlite.ts";
import { sqliteConnection, sqliteDialect } from "./sqlite-dialect.ts";
import { isBusy, isNoDatabase, sqliteUnavailable, whenFree } from "./sqlite-errors.ts";
import { checkedNames } from "./table-names.ts";

/** One connection, whose immediate transactions exclude every other writer. */
export const SQLITE_TRAITS: Traits = { rowLocks: false, unavailable: sqliteUnavailable };

/**
 * Opens the database file.
 * @throws {Error} the runtime carries no SQLite, or the prefix cannot be used
 */
export async function connectSqlite({
  path,
  synchronous = "FULL",
  maxPageCount,
  prefix,
}: SqliteStorageOptions): Promise<Engine> {
  const tables = checkedNames({ prefix });
  const sqlite = await import("node:sqlite").catch((cause: unknown) => {
    throw new Error("the SQLite storage needs Node 22.16 or later, Bun 1.4 or later, or Deno", { cause });
  });
  if (path !== ":memory:") await ownersOnly(path);
  const database = opened(path, sqlite.DatabaseSync);
  try {
    // Waiting is done by whenFree(), which leaves the event loop running.
    database.exec("pragma busy_timeout = 0");
    await whenFree(() => database.exec("pragma journal_mode = wal"));
    // Deleted rows become zeros. A call is as fast as without it; an audio file takes 0.5 ms per MB when it goes.
    database.exec("pragma secure_delete = on");
    database.exec(`pragma synchronous = ${synchronous === "NORMAL" ? "normal" : "full"}`);
    if (maxPageCount !== undefined) database.exec(`pragma max_page_count = ${Math.trunc(maxPageCount)}`);
  } catch (error) {
    database.close();
    throw explained(path, error);
  }
  const reader = readingConnection(fileOf(database), sqlite.DatabaseSync);
  const reads = reader && sharedReads(reader);
  return {
    name: path,
    tables,
    dialect: sqliteDialect(database, () => reads?.renew()),
    ...(reader && { read: sqliteConnection(reader, reads?.within).rows }),
    columnTypes: { id: "text", bytes: "blob" },
    scrub: (thorough) => scrubSqlite(database, thorough, () => reads?.renew()),
    async own({ migrationDb, migrate }) {
      const release = takeLock(fileOf(database), sqlite.DatabaseSync);
      try {
        await migrationDb.transaction().execute(migrate);
      } catch (error) {
        release();
        throw error;
      }
      return { release: async () => release() };
    },
    close() {
      reader?.close();
      database.close();
    },
  };
}

function opened(path: string, Database: typeof DatabaseSync): DatabaseSync {
  try {
    return new Database(path);
  } catch (error) {
    throw explained(path, error);
  }
}

/** What a person needs to know of a file that SQLite does not take. */
function explained(path: string, error: unknown): unknown {
  if (isNoDatabase(error))
    return new Error(`${path} is no SQLite database: restore it from a backup, or move it away to begin anew`, {
      cause: error,
    });
  const sentence = sqliteUnavailable(error);
  return sentence === undefined ? error : new StorageUnavailable(`${path}: ${sentence}`, { cause: error });
}

/** Tokens and numbers are nobody else's to read: a new file is made with mode 600, which its WAL then takes over. */
async function ownersOnly(path: string): Promise<void> {
  // Only a file that is not there is opened: closing any other descriptor of a database in use would drop its locks.
  const file = await open(path, "wx", 0o600).catch(() => undefined);
  await file?.close();
}

/** The file that SQLite opened, symbolic links resolved; "" for a database in memory. */
function fileOf(database: DatabaseSync): string {
  const row = database.prepare("select file from pragma_database_list where name = 'main'").get();
  return typeof row?.file === "string" ? row.file : "";
}

/** A second connection on which nothing but what is committed can be seen, so that readers wait for no transaction. */
function readingConnection(file: string, Database: typeof DatabaseSync): DatabaseSync | undefined {
  if (file === "") return undefined;
  const reader = new Database(file);
  reader.exec("pragma busy_timeout = 0; pragma query_only = on");
  return reader;
}

/**
 * A second database beside the first, held locked: the operating system lets go of it when the process dies.
 * @returns lets go of it
 */
function takeLock(file: string, Database: typeof DatabaseSync): () => void {
  if (file === "") return () => {};
  const side = new Database(`${file}-server.lock`);
  try {
    side.exec("pragma busy_timeout = 0");
    side.exec("begin exclusive");
  } catch (error) {
    side.close();
    if (!isBusy(error)) throw error;
    throw new StorageLocked(`another server already works on the database ${file}`, { cause: error });
  }
  return () => side.close();
}
