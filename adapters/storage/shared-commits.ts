import { setImmediate } from "node:timers";
import { CompiledQuery, type Kysely } from "kysely";
import type { Database } from "./schema.ts";

/** What is stored together or not at all. */
type Work<T> = (tx: Kysely<Database>) => Promise<T>;

/** Work that waits for a transaction. */
interface Piece {
  readonly work: Work<unknown>;
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

/** No piece is begun later than this in a transaction, ms: the event loop, and with it live audio, waits for its end. */
const LONGEST_MS = 4;

const SAVEPOINT = CompiledQuery.raw("savepoint piece");
const RELEASE = CompiledQuery.raw("release piece");
const ROLLBACK = CompiledQuery.raw("rollback to piece");

/**
 * For a database where only one transaction can run at a time: all work that has come up in one turn of the event loop
 * shares a transaction, because a durable commit costs more than the work in it. Each piece stands or falls by itself,
 * and its promise settles behind the commit.
 */
export function sharedCommits(db: Kysely<Database>): <T>(work: Work<T>) => Promise<T> {
  const waiting: Piece[] = [];
  /** So many of those that wait get a transaction of their own. */
  let alone = 0;
  let scheduled = false;

  async function commit(): Promise<void> {
    const pieces = waiting.splice(0, alone > 0 ? 1 : waiting.length);
    alone = Math.max(0, alone - 1);
    let begun = false;
    try {
      const settled = await db.transaction().execute((tx) => {
        begun = true;
        return inTransaction(tx, pieces);
      });
      for (const settle of settled) settle();
      waiting.unshift(...pieces.slice(settled.length));
    } catch (error) {
      // Nothing was stored. Where one piece was too much for the database, the others shall not suffer for it.
      if (begun && pieces.length > 1) {
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

/** Does as much of the work as there is time for; answers what to do about each piece once that is committed. */
async function inTransaction(tx: Kysely<Database>, pieces: readonly Piece[]): Promise<(() => void)[]> {
  const [only, ...others] = pieces;
  if (only && others.length === 0) {
    const result = await only.work(tx);
    return [() => only.resolve(result)];
  }
  const until = performance.now() + LONGEST_MS;
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

/** @throws what went wrong, where the database has given up the whole transaction, as it does when its disk is full */
async function undo(tx: Kysely<Database>, cause: unknown): Promise<void> {
  try {
    await tx.executeQuery(ROLLBACK);
    await tx.executeQuery(RELEASE);
  } catch {
    throw cause;
  }
}
