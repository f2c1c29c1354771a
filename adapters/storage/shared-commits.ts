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

/** Work whose changes are in a commit, with its result. */
interface DoneWork {
  readonly piece: PendingWork;
  readonly outcome: { readonly result: unknown } | { readonly error: unknown };
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
 * settles after the commit, when it is durable. After a fault, the pieces of the transaction are run again, so that the
 * others succeed.
 * @param verify called before each transaction; if it throws, the work of the transaction fails
 * @param commitsDurable resolves when all commits until now are durable; undefined if commits already are. The next
 * transaction may begin before that.
 */
export function sharedCommits(
  db: Kysely<Database>,
  verify: () => void,
  commitsDurable: (() => Promise<void>) | undefined,
): <T>(work: Work<T>) => Promise<T> {
  const queue: PendingWork[] = [];
  let isScheduled = false;

  async function commit(): Promise<void> {
    const pieces = takeNext(queue);
    let hasBegun = false;
    try {
      verify();
      const done = await db.transaction().execute((tx) => {
        hasBegun = true;
        return inTransaction(tx, pieces);
      });
      if (commitsDurable) void settleWhen(commitsDurable(), done);
      else for (const work of done) settle(work);
      queue.unshift(...pieces.slice(done.length));
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

function settle({ piece, outcome }: DoneWork): void {
  if ("error" in outcome) piece.reject(outcome.error);
  else piece.resolve(outcome.result);
}

/** Settles committed work. If the commit may be lost, the work fails, and is not run again: it may also be stored. */
async function settleWhen(durable: Promise<void>, done: readonly DoneWork[]): Promise<void> {
  try {
    await durable;
    for (const work of done) settle(work);
  } catch (error) {
    for (const { piece } of done) piece.reject(error);
  }
}

/** Does as much work as time allows. */
async function inTransaction(tx: Kysely<Database>, pieces: readonly PendingWork[]): Promise<DoneWork[]> {
  const [first, ...others] = pieces;
  if (first && others.length === 0) return [{ piece: first, outcome: { result: await first.work(tx) } }];
  const deadline = performance.now() + MAX_MS;
  const done: DoneWork[] = [];
  for (const piece of pieces) {
    if (performance.now() > deadline) break;
    done.push({ piece, outcome: await attempt(tx, piece) });
  }
  return done;
}

async function attempt(tx: Kysely<Database>, piece: PendingWork): Promise<DoneWork["outcome"]> {
  if (piece.isolation === "none") return { result: await piece.work(tx) };
  await tx.executeQuery(SAVEPOINT);
  try {
    const result = await piece.work(tx);
    await tx.executeQuery(RELEASE);
    return { result };
  } catch (error) {
    await undo(tx, error);
    return { error };
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
