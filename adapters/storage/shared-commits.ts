import { setImmediate } from "node:timers";
import { CompiledQuery, type Kysely } from "kysely";
import type { Database } from "./schema.ts";

/** Work whose changes are stored completely or not at all. */
type Work<T> = (tx: Kysely<Database>) => Promise<T>;

/** Work that waits for a transaction. */
interface Piece {
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
 * For a database that runs one transaction at a time. All work of one turn of the event loop shares a transaction, because
 * a durable commit costs more than the work in it. Each piece succeeds or fails separately, and its promise settles
 * after the commit.
 */
export function sharedCommits(db: Kysely<Database>): <T>(work: Work<T>) => Promise<T> {
  const waiting: Piece[] = [];
  /** The number of waiting pieces that get a separate transaction. */
  let alone = 0;
  let scheduled = false;

  async function commit(): Promise<void> {
    const pieces = waiting.splice(0, alone > 0 ? 1 : waiting.length);
    alone = Math.max(0, alone - 1);
    let hasBegun = false;
    try {
      const settled = await db.transaction().execute((tx) => {
        hasBegun = true;
        return inTransaction(tx, pieces);
      });
      for (const settle of settled) settle();
      waiting.unshift(...pieces.slice(settled.length));
    } catch (error) {
      // No row was stored. If one piece was too large for the database, the others are retried without it.
      if (hasBegun && pieces.length > 1) {
        waiting.unshift(...pieces);
        alone = pieces.length;
      } else for (const piece of pieces) piece.reject(error);
    }
    scheduled = waiting.length > 0;
    if (scheduled) setImmediate(commit);
  }

  return <T>(work: Work<T>) =>
    new Promise<T>((resolve, reject) => {
      waiting.push({ work, resolve: resolve as Piece["resolve"], reject });
      if (scheduled) return;
      scheduled = true;
      setImmediate(commit);
    });
}

/** Does as much work as time allows; returns the callbacks to run after the commit. */
async function inTransaction(tx: Kysely<Database>, pieces: readonly Piece[]): Promise<(() => void)[]> {
  const [only, ...others] = pieces;
  if (only && others.length === 0) {
    const result = await only.work(tx);
    return [() => only.resolve(result)];
  }
  const until = performance.now() + MAX_MS;
  const settled: (() => void)[] = [];
  for (const piece of pieces) {
    if (performance.now() > until) break;
    settled.push(await attempt(tx, piece));
  }
  return settled;
}

async function attempt(tx: Kysely<Database>, piece: Piece): Promise<() => void> {
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
