import { setTimeout as sleep } from "node:timers/promises";

/** Primary result codes (sqlite.org/rescode.html) of a database that cannot do it now. */
const UNAVAILABLE: Readonly<Record<number, string>> = {
  5: "the database is locked by another process",
  6: "the database is locked by another process",
  8: "the database cannot be written",
  10: "the disk of the database failed",
  13: "the database or its disk is full",
  14: "the database file cannot be opened",
};

/** SQLite's own sentences for the same: in Deno, opening and `exec` give no code. */
const SENTENCES: readonly (readonly [string, number])[] = [
  ["database is locked", 5],
  ["database table is locked", 6],
  ["attempt to write a readonly database", 8],
  ["disk I/O error", 10],
  ["database or disk is full", 13],
  ["unable to open database file", 14],
  ["file is not a database", 26],
];

const PATIENCE_MS = 2_000;
const PAUSE_MS = 10;

/** A sentence where SQLite cannot do it now; undefined for every other error. */
export function sqliteUnavailable(error: unknown): string | undefined {
  const sentence = UNAVAILABLE[primaryCode(error)];
  return sentence && `${sentence} (${(error as Error).message})`;
}

/** Whether the file holds something else. */
export function isNoDatabase(error: unknown): boolean {
  return primaryCode(error) === 26;
}

/** Whether another connection holds the lock that was asked for. */
export function isBusy(error: unknown): boolean {
  const code = primaryCode(error);
  return code === 5 || code === 6;
}

/**
 * Does the work as soon as no other process holds the database, for up to two seconds. SQLite's own waiting
 * (`busy_timeout`) would stop the event loop, and with it the audio of every call; between these tries the loop runs.
 */
export function whenFree<T>(work: () => T): Promise<T> {
  try {
    return Promise.resolve(work()); // nearly always: no second promise for a wait that does not come
  } catch (error) {
    return isBusy(error) ? tryAgain(work) : Promise.reject(error);
  }
}

async function tryAgain<T>(work: () => T): Promise<T> {
  const deadline = performance.now() + PATIENCE_MS;
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
  return (fromSqlite && SENTENCES.find(([sentence]) => error.message.startsWith(sentence))?.[1]) || 0;
}
