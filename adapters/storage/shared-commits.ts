import { setImmediate } from "node:timers";
import { CompiledQuery, type Kysely } from "kysely";
import type { Database } from "./tables/all-tables.ts";

/** Work whose changes are stored completely or not at all. */
type Work<T> = (tx: Kysely<Database>) => Promise<T>;

/**
 * The way work shares its transaction with other work: after a fault, the shared work is run again with more isolation.
 */
type Isolation = "none" | "savepoint" | "transaction";

/** Work that waits for a transaction. */
interface PendingWork {
  readonly work: Work<unknown>;
  isolation: Isolation;
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

/**
 * Time after which no further piece starts in a transaction, ms: the event loop, and with it live audio, waits for its
 * end.
 */
const MAX_MS = 4;

const SAVEPOINT = CompiledQuery.raw("savepoint piece");
const RELEASE = CompiledQuery.raw("release piece");
const ROLLBACK = CompiledQuery.raw("rollback to piece");

/**
 * Runs all work from one turn of the event loop in one transaction, because a durable commit costs more than the work
 * in it. For a database that runs one transaction at a time. Each piece succeeds or fails separately, and its promise
 * settles after the commit. After a fault, the pieces of the transaction are run again, so that the others succeed.
 * @param verify called before each transaction; if it throws, the work of the transaction fails
 */
export function sharedCommits(db: Kysely<Database>, verify: () => void): <T>(work: Work<T>) => Promise<T> {
  const queue: PendingWork[] = [];
  let isScheduled = false;

  async function commit(): Promise<void> {
    const pieces = takeNext(queue);
    let hasBegun = false;
    try {
      verify();
      const settlers = await db.transaction().execute((tx) => {
        hasBegun = true;
        return inTransaction(tx, pieces);
      });
      for (const settle of settlers) settle();
      queue.unshift(...pieces.slice(settlers.length));
    } catch (error) {
      // No row was stored. Savepoints, which take time, are for the transactions in which a piece fails; if one piece was
      // too large for the database, the others are retried without it.
      if (hasBegun && pieces.length > 1) {
        for (const piece of pieces) piece.isolation = piece.isolation === "none" ? "savepoint" : "transaction";
        queue.unshift(...pieces);
      } else for (const piece of pieces) piece.reject(error);
    }
    isScheduled = queue.length > 0;
    if (isScheduled) setImmediate(commit);
  }

  return <T>(work: Work<T>) =>
    new Promise<T>((resolve, reject) => {
      queue.push({ work, isolation: "none", resolve: resolve as PendingWork["resolve"], reject });
      if (isScheduled) return;
      isScheduled = true;
      setImmediate(commit);
    });
}

/** Removes the next pieces of equal isolation from the queue; only one if it needs its own transaction. */
function takeNext(queue: PendingWork[]): PendingWork[] {
  const isolation = queue[0]?.isolation;
  if (isolation === "transaction") return queue.splice(0, 1);
  const end = queue.findIndex((piece) => piece.isolation !== isolation);
  return queue.splice(0, end === -1 ? queue.length : end);
}

/** Does as much work as time allows; returns the callbacks to run after the commit. */
async function inTransaction(tx: Kysely<Database>, pieces: readonly PendingWork[]): Promise<(() => void)[]> {
  const [first, ...others] = pieces;
  if (first && others.length === 0) {
    const result = await first.work(tx);
    return [() => first.resolve(result)];
  }
  const deadline = performance.now() + MAX_MS;
  const settlers: (() => void)[] = [];
  for (const piece of pieces) {
    if (performance.now() > deadline) break;
    settlers.push(await attempt(tx, piece));
  }
  return settlers;
}

async function attempt(tx: Kysely<Database>, piece: PendingWork): Promise<() => void> {
  if (piece.isolation === "none") {
    const result = await piece.work(tx);
    return () => piece.resolve(result);
  }
  await tx.executeQuery(SAVEPOINT);
  try {
    const result = await piece.work(tx);
    await tx.executeQuery(RELEASE);
    return () => piece.resolve(result);
  } catch (error) {
    await undo(tx, error);
    return () => piece.reject(error);
  }
}

/** @throws the cause, if the database has rolled back the whole transaction, as it does on a full disk */
async function undo(tx: Kysely<Database>, cause: unknown): Promise<void> {
  try {
    await tx.executeQuery(ROLLBACK);
    await tx.executeQuery(RELEASE);
  } catch {
    throw cause;
  }
}
