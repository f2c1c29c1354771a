import type { DatabaseSync } from "node:sqlite";
import { setTimeout } from "node:timers";

/** Lets reads share a transaction. */
export interface SharedReads {
  /** Runs a read inside the transaction that is open, or a new one. */
  within<T>(read: () => T): T;
  /** Something was committed: the next read begins a transaction that sees it. */
  renew(): void;
}

/** What another process commits is seen this much later at most, ms; what this one commits is seen at once. */
const LONGEST_MS = 2;

/**
 * Reads that come close together see the same moment of the database, so that they need its locks only once: in WAL
 * mode asking for them takes longer than reading a row.
 * @param database only for reading
 */
export function sharedReads(database: DatabaseSync): SharedReads {
  const begin = database.prepare("begin");
  const end = database.prepare("commit");
  let begun = false;
  let scheduled = false;

  function renew(): void {
    if (!begun) return;
    begun = false;
    if (database.isOpen) end.run();
  }

  function late(): void {
    scheduled = false;
    renew();
  }

  return {
    within(read) {
      if (!begun) {
        begin.run();
        begun = true;
        if (!scheduled) setTimeout(late, LONGEST_MS);
        scheduled = true;
      }
      return read();
    },
    renew,
  };
}
