import type { DatabaseSync } from "node:sqlite";
import { setTimeout } from "node:timers";

/** A transaction that reads share. */
export interface SharedReads {
  /** Runs a read inside the open transaction, or a new one. */
  within<T>(read: () => T): T;
  /** Called after a commit: the next read starts a new transaction, which sees it. */
  renew(): void;
}

/** Commits of another process become visible within this time, ms; our own immediately. */
const MAX_MS = 2;

/**
 * Reads that are close together see the same state of the database and lock it only once. In WAL mode, locking takes
 * longer than reading a row.
 * @param database only for reading
 */
export function sharedReads(database: DatabaseSync): SharedReads {
  const begin = database.prepare("begin");
  const end = database.prepare("commit");
  /** Time at which the open transaction began, by the monotonic clock, ms; undefined if none is open. */
  let begunAt: number | undefined;
  let scheduled = false;

  function renew(): void {
    if (begunAt === undefined) return;
    begunAt = undefined;
    if (database.isOpen) end.run();
  }

  function late(): void {
    scheduled = false;
    renew();
  }

  return {
    within(read) {
      // The timer may be late, so the data it would have refreshed is read now.
      if (begunAt !== undefined && performance.now() - begunAt > MAX_MS) renew();
      if (begunAt === undefined) {
        begin.run();
        begunAt = performance.now();
        if (!scheduled) setTimeout(late, MAX_MS);
        scheduled = true;
      }
      return read();
    },
    renew,
  };
}
