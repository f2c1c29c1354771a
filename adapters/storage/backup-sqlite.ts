import { open } from "node:fs/promises";
import { nodeSqlite } from "./node-sqlite.ts";

/** More pages than a database has: the whole copy is one step, so writers in the meantime do not restart it. */
const ALL_PAGES = 2 ** 31 - 1;

/**
 * Writes a consistent copy of a database into a new file with mode 600. Other processes may use the database
 * in the meantime (https://www.sqlite.org/backup.html); Deno permits no `VACUUM INTO` without all permissions.
 * @throws {Error} `to` exists; the database cannot be read; the disk is full
 */
export async function backupSqlite(path: string, to: string): Promise<void> {
  const { backup, DatabaseSync } = await nodeSqlite();
  const file = await open(to, "wx", 0o600);
  await file.close();
  const database = new DatabaseSync(path);
  try {
    await backup(database, to, { rate: ALL_PAGES });
  } finally {
    database.close();
  }
}
