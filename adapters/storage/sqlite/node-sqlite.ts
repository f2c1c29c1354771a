import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";

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
