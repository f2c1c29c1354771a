import process from "node:process";
import type { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { StorageUnavailable } from "../../../src/ports/storage.ts";

/** The warning of Node versions that call their SQLite experimental; it is useless to users of a command. */
const EXPERIMENTAL_SQLITE = /^SQLite is an experimental feature/;

let loading: Promise<typeof import("node:sqlite")> | undefined;

/**
 * The runtime's SQLite, loaded without its warning; all other warnings are shown.
 * @throws {Error} the runtime has none
 */
export function nodeSqlite(): Promise<typeof import("node:sqlite")> {
  loading ??= withoutWarning(() => import("node:sqlite"));
  return loading;
}

/** Runs a function with a filter for one warning: Node emits it once, while it loads the module. */
async function withoutWarning<T>(load: () => Promise<T>): Promise<T> {
  const emitWarning = process.emitWarning;
  const emitFiltered = (...args: unknown[]): void => {
    const [warning] = args;
    const text = warning instanceof Error ? warning.message : String(warning);
    if (!EXPERIMENTAL_SQLITE.test(text)) Reflect.apply(emitWarning, process, args);
  };
  process.emitWarning = emitFiltered;
  try {
    return await load();
  } finally {
    if (process.emitWarning === emitFiltered) process.emitWarning = emitWarning;
  }
}

/** Primary result codes (sqlite.org/rescode.html) of an unavailable database. */
const UNAVAILABLE_REASONS: Readonly<Record<number, string>> = {
  5: "the database is locked by another process",
  6: "the database is locked by another process",
  8: "the database cannot be written",
  10: "the disk of the database failed",
  13: "the database or its disk is full",
  14: "the database file cannot be opened",
};

/** SQLite's messages for these codes: in Deno, opening and `exec` report no code. */
const MESSAGES: readonly (readonly [string, number])[] = [
  ["database is locked", 5],
  ["database table is locked", 6],
  ["attempt to write a readonly database", 8],
  ["disk I/O error", 10],
  ["database or disk is full", 13],
  ["unable to open database file", 14],
  ["file is not a database", 26],
];

const BUSY_TIMEOUT_MS = 2_000;
const PAUSE_MS = 10;

/** The reason why SQLite is unavailable; undefined for every other error. */
export function sqliteUnavailable(error: unknown): string | undefined {
  const reason = UNAVAILABLE_REASONS[primaryCode(error)];
  return reason && `${reason} (${(error as Error).message})`;
}

/** True if the file is not a database. */
export function isNoDatabase(error: unknown): boolean {
  return primaryCode(error) === 26;
}

/** True if another connection holds the lock. */
export function isBusy(error: unknown): boolean {
  const code = primaryCode(error);
  return code === 5 || code === 6;
}

/**
 * Does the work as soon as no other process locks the database, for up to two seconds. SQLite's own waiting
 * (`busy_timeout`) would block the event loop, and the audio of every call.
 */
export function whenFree<T>(work: () => T): Promise<T> {
  try {
    return Promise.resolve(work()); // nearly always, so without a second promise
  } catch (error) {
    return isBusy(error) ? retry(work) : Promise.reject(error);
  }
}

async function retry<T>(work: () => T): Promise<T> {
  const deadline = performance.now() + BUSY_TIMEOUT_MS;
  for (;;) {
    await sleep(PAUSE_MS);
    try {
      return work();
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw error;
    }
  }
}

/** The lowest byte of an extended result code; 0 for an error that is not SQLite's. */
function primaryCode(error: unknown): number {
  if (!(error instanceof Error)) return 0;
  if ("errcode" in error && typeof error.errcode === "number") return error.errcode & 0xff;
  const fromSqlite = "code" in error && error.code === "ERR_SQLITE_ERROR";
  return (fromSqlite && MESSAGES.find(([message]) => error.message.startsWith(message))?.[1]) || 0;
}

/**
 * Maximum size of a database that is compacted after every purge, which blocks the event loop for about 5 ms per MB.
 */
const SMALL_BYTES = 8 * 1024 * 1024;
const SCRUB_ATTEMPTS = 100;

/**
 * Removes deleted records from the database file and its WAL. Deleted rows are already zeros (`secure_delete`), but a
 * split page keeps a copy of the rows in its other half. Only VACUUM rewrites every page.
 * @param endReads ends the shared transaction of reads, which keeps the WAL from being emptied
 * @throws {StorageUnavailable} another process keeps the database busy
 */
export async function scrubSqlite(database: DatabaseSync, thorough: boolean, endReads: () => void): Promise<void> {
  let isCompacted = !thorough && sizeOf(database) > SMALL_BYTES;
  for (let attempt = 0; attempt < SCRUB_ATTEMPTS; attempt++) {
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
