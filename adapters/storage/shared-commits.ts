import { setImmediate } from "node:timers";
import { CompiledQuery, type Kysely } from "kysely";
import type { Database } from "./schema.ts";

/** Work whose changes are stored completely or not at all. */
type Work<T> = (tx: Kysely<Database>) => Promise<T>;

/** Work that waits for a transaction. */
interface PendingWork {
  readonly work: Work<unknown>;
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

/** No piece starts later than this in a transaction, ms: the event loop, and live audio, waits for its end. */
const MAX_MS = 4;

const SAVEPOINT = CompiledQuery.raw("savepoint piece");
const RELEASE = CompiledQuery.raw("release piece");
const ROLLBACK = CompiledQuery.raw("rollback to piece");

/**
 * For a database that runs one transaction at a time. All work of one turn of the event loop shares a transaction,
 * because a durable commit costs more than the work in it. Each piece succeeds or fails separately, and its promise
 * settles after the commit.
 */
export function sharedCommits(db: Kysely<Database>): <T>(work: Work<T>) => Promise<T> {
  const queue: PendingWork[] = [];
  /** The number of waiting pieces that get a separate transaction. */
  let separateCount = 0;
  let isScheduled = false;

  async function commit(): Promise<void> {
    const pieces = queue.splice(0, separateCount > 0 ? 1 : queue.length);
    separateCount = Math.max(0, separateCount - 1);
    let hasBegun = false;
    try {
      const settlers = await db.transaction().execute((tx) => {
        hasBegun = true;
        return inTransaction(tx, pieces);
      });
      for (const settle of settlers) settle();
      queue.unshift(...pieces.slice(settlers.length));
    } catch (error) {
      // No row was stored. If one piece was too large for the database, the others are retried without it.
      if (hasBegun && pieces.length > 1) {
        queue.unshift(...pieces);
        separateCount = pieces.length;
      } else for (const piece of pieces) piece.reject(error);
    }
    isScheduled = queue.length > 0;
    if (isScheduled) setImmediate(commit);
  }

  return <T>(work: Work<T>) =>
    new Promise<T>((resolve, reject) => {
      queue.push({ work, resolve: resolve as PendingWork["resolve"], reject });
      if (isScheduled) return;
      isScheduled = true;
      setImmediate(commit);
    });
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
