import { ConfigurationError } from "../../src/base/error.ts";
import type { RingportOptions } from "../../src/options.ts";
import type { Storage } from "../../src/ports/storage.ts";
import { DEFAULT_DATA, dataFolder, sqlitePath } from "./data-folder.ts";
import { closeOnce, type SharedWorkers } from "./shared-workers.ts";

/**
 * The storage in the options, or the embedded storage, before it is opened. The command line uses it while a server may
 * be running.
 * @param workers for writing large audio files; the command line writes none
 * @throws {ConfigurationError} a database URL or a data folder cannot be used; the message names the fix
 */
export async function embeddedStorage(options: RingportOptions, workers?: SharedWorkers): Promise<Storage> {
  if (options.storage) return options.storage;
  const { databaseSchema: schema, databasePrefix: prefix } = options;
  if (options.databaseUrl !== undefined) {
    const { postgresStorage } = await import("../storage/postgres/postgres-storage.ts");
    return postgresStorage({ url: checkedDatabaseUrl(options.databaseUrl), schema, prefix });
  }
  if (schema !== undefined)
    throw new ConfigurationError(
      "a schema of the database (RINGPORT_DATABASE_SCHEMA) needs PostgreSQL: name it with DATABASE_URL",
    );
  const { sqliteStorage } = await import("../storage/sqlite/sqlite-storage.ts");
  const path = sqlitePath(await dataFolder(options.data ?? DEFAULT_DATA));
  const synchronous = options.embedded?.synchronous ?? "FULL";
  if (!workers) return sqliteStorage({ path, synchronous, prefix });
  const { pool, release } = await workers();
  const storage = sqliteStorage({ path, synchronous, prefix, workers: pool });
  return { ...storage, close: closeOnce(() => storage.close(), release) };
}

function checkedDatabaseUrl(url: string): string {
  if (/^postgres(ql)?:\/\//.test(url)) return url;
  // The rest may hold a password.
  const scheme = /^[a-z][a-z0-9+.-]*:/i.exec(url)?.[0] ?? "no scheme";
  throw new ConfigurationError(
    `the database URL (DATABASE_URL) begins with ${scheme}; it must be like postgres://user@host/database`,
  );
}
