import { cp, mkdir, open, readdir, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { nodeSqlite } from "../storage/sqlite/node-sqlite.ts";
import { RECORDINGS_FOLDER, SPOOL_FOLDER } from "./data-folder.ts";

/** More pages than any database has: the whole copy is one step, so concurrent writes do not restart it. */
const ALL_PAGES = 2 ** 31 - 1;

/** Contents of a backup. */
export interface Backup {
  /** Absolute path. */
  readonly folder: string;
  readonly databaseBytes: number;
  /** Number of WAV files. */
  readonly recordings: number;
}

/**
 * Copies a database and the recordings next to it into a new folder (mode 700); a server may be using them. The database
 * is copied first, as a consistent snapshot. The key is not copied, so a stolen backup reveals no credentials.
 * @throws {Error} the new folder cannot be created, or is not empty
 */
export async function backUpData(databasePath: string, to: string): Promise<Backup> {
  const folder = resolve(to);
  await makeEmptyFolder(folder);
  const database = join(folder, basename(databasePath));
  await backupSqlite(databasePath, database);
  let recordings = 0;
  for (const name of [RECORDINGS_FOLDER, SPOOL_FOLDER])
    recordings += await copyWavFiles(join(dirname(databasePath), name), join(folder, name));
  return { folder, databaseBytes: (await stat(database)).size, recordings };
}

/**
 * Writes a consistent copy of a database to a new file with mode 600. Other processes may use the database in the
 * meantime (https://www.sqlite.org/backup.html). Deno does not allow `VACUUM INTO` without all permissions.
 * @throws {Error} `to` exists, the database cannot be read, or the disk is full
 */
async function backupSqlite(path: string, to: string): Promise<void> {
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

async function makeEmptyFolder(folder: string): Promise<void> {
  await mkdir(dirname(folder), { recursive: true });
  await mkdir(folder, { mode: 0o700 }).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST" || (await readdir(folder)).length > 0) throw error;
  });
}

/** Returns the number of files, without those that are deleted during the backup. */
async function copyWavFiles(from: string, to: string): Promise<number> {
  const files = (await readdir(from).catch(ifMissing([]))).filter((name) => name.endsWith(".wav"));
  if (files.length > 0) await mkdir(to, { mode: 0o700 });
  let count = 0;
  for (const name of files) {
    const copy = cp(join(from, name), join(to, name), { preserveTimestamps: true }).then(() => true);
    if (await copy.catch(ifMissing(false))) count++;
  }
  return count;
}

/** Turns "no such file" into a value. */
const ifMissing =
  <T>(value: T) =>
  (error: NodeJS.ErrnoException): T => {
    if (error.code === "ENOENT") return value;
    throw error;
  };
