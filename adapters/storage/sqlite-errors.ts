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

const PATIENCE_MS = 2_000;
const PAUSE_MS = 10;

/** A sentence where SQLite cannot do it now; undefined for every other error. */
export function sqliteUnavailable(error: unknown): string | undefined {
  const sentence = UNAVAILABLE[primaryCode(error)];
  return sentence && `${sentence} (${(error as Error).message})`;
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
export async function whenFree<T>(work: () => T): Promise<T> {
  let deadline: number | undefined;
  for (;;) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error)) throw error;
      deadline ??= performance.now() + PATIENCE_MS;
      if (performance.now() > deadline) throw error;
      await sleep(PAUSE_MS);
    }
  }
}

/** The lowest byte of an extended result code; 0 for an error that is not SQLite's. */
function primaryCode(error: unknown): number {
  const code = error instanceof Error && "errcode" in error ? error.errcode : undefined;
  return typeof code === "number" ? code & 0xff : 0;
}
