import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { PGlite } from "@electric-sql/pglite";
import { PGliteDialect } from "kysely";
import { type Storage, StorageLocked } from "ringport";
import { kyselyStorage } from "ringport/kysely";

/**
 * A storage in PGlite, a PostgreSQL that runs in this process and keeps its data in a folder.
 * @param start starts PGlite, each time the storage is opened
 */
export function pgliteStorage(folder: string, start = () => new PGlite(folder)): Storage {
  return kyselyStorage(new PGliteDialect({ pglite: start }), {
    sql: "postgres",
    name: folder,
    lock: async () => lock(folder),
  });
}

/**
 * PGlite does not notice a second process in its folder, so this process takes a lock before PGlite starts. The
 * operating system releases the lock when the process ends, so a new server need not wait for a lease.
 */
function lock(folder: string): () => Promise<void> {
  mkdirSync(dirname(folder), { recursive: true });
  const file = new DatabaseSync(`${folder}.lock`);
  try {
    file.exec("begin exclusive");
  } catch (cause) {
    file.close();
    throw new StorageLocked(`another server is already using the database ${folder}`, { cause });
  }
  return async () => file.close();
}
