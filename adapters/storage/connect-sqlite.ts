import { open } from "node:fs/promises";
import type { DatabaseSync } from "node:sqlite";
import { sql } from "kysely";
import { ConfigurationError } from "../../src/base/error.ts";
import { StorageUnavailable } from "../../src/ports/storage.ts";
import { sqliteAudioFiles } from "./audio-files.ts";
import { lockFile } from "./lock-file.ts";
import { nodeSqlite } from "./node-sqlite.ts";
import { ownedFile } from "./owned-file.ts";
import { scrubSqlite } from "./scrub-sqlite.ts";
import type { ConnectedDatabase, Traits } from "./session.ts";
import { sharedReads } from "./shared-reads.ts";
import type { SqliteStorageOptions } from "./sqlite.ts";
import { sqliteConnection, sqliteDialect } from "./sqlite-dialect.ts";
import { isNoDatabase, sqliteUnavailable, whenFree } from "./sqlite-errors.ts";
import { checkedNames } from "./table-names.ts";

/** One connection, whose immediate transactions exclude every other writer. */
export const SQLITE_TRAITS: Traits = {
  rowLocks: false,
  jsonText: (column, member) => sql`${sql.ref(column)} ->> ${sql.lit(member)}`,
  unavailable: sqliteUnavailable,
};

/**
 * Opens the database file.
 * @throws {ConfigurationError} the runtime has no SQLite, or the prefix is invalid
 */
export async function connectSqlite({
  path,
  synchronous = "FULL",
  maxPageCount,
  prefix,
  workers,
}: SqliteStorageOptions): Promise<ConnectedDatabase> {
  const tables = checkedNames({ prefix });
  const sqlite = await nodeSqlite().catch((cause: unknown) => {
    throw new ConfigurationError("the SQLite storage needs Node 22.18 or later, Bun 1.4 or later, or Deno", { cause });
  });
  if (path !== ":memory:") await createPrivateFile(path);
  const database = opened(path, sqlite.DatabaseSync);
  try {
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
    columnTypes: { id: "text", bytes: "blob" },
    scrub: (thorough) => scrubSqlite(database, thorough, () => reads?.renew()),
    async lock(opening) {
      const file = fileOf(database);
      if (file !== "") return ownedFile(lockFile(file, sqlite.DatabaseSync), opening);
      await opening.migrationDb.transaction().execute(opening.migrate);
      return { release: async () => {} };
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
