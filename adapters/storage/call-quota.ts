import { type Kysely, sql } from "kysely";
import type { CallQuota } from "../../src/ports/storage.ts";
import { deletePiece, MAX_PIECE } from "./pieces.ts";
import { prepared } from "./prepared.ts";
import type { CallRow, Database, RemovedCallTable } from "./schema.ts";
import type { Traits } from "./session.ts";

interface Counted {
  readonly token_id: string;
  readonly since: number;
}

interface Spent extends Counted {
  /** Number of newer calls to skip. */
  readonly newer: number;
}

/** The number of the lock that makes two creations with one token wait for each other. */
const TOKEN_LOCK = 0x72_70_63_71;

/** The number of calls that count, deleted ones included; read from the index alone. */
const COUNTED = prepared((db, { token_id, since }: Counted) =>
  db
    .selectFrom("calls")
    .select(({ fn }) => fn.countAll<number | bigint | string>().as("n"))
    .where("token_id", "=", token_id)
    .where("counted_at", ">", since)
    .unionAll(
      db
        .selectFrom("removed_calls")
        .select(({ fn }) => fn.countAll<number | bigint | string>().as("n"))
        .where("token_id", "=", token_id)
        .where("created_at", ">", since),
    ),
);

/**
 * The time at which the call at the last place of the quota was counted: the newest after `newer` others, deleted ones included.
 * Both parts are read backwards from the end of an index.
 */
const SPENT = prepared((db, { token_id, since, newer }: Spent) =>
  db
    .selectFrom("calls")
    .select("counted_at")
    .where("token_id", "=", token_id)
    .where("counted_at", ">", since)
    .unionAll(
      db
        .selectFrom("removed_calls")
        .select("created_at as counted_at")
        .where("token_id", "=", token_id)
        .where("created_at", ">", since),
    )
    .orderBy("counted_at", "desc")
    .limit(1)
    .offset(newer),
);

/**
 * The time at which the oldest call that blocks another one was counted, ms; undefined if the quota has room. The result is valid
 * until the transaction ends.
 * @param locks lock the token first, because transactions overlap
 */
export async function quotaSpent(
  tx: Kysely<Database>,
  tokenId: string,
  { maxCalls, since, now }: CallQuota,
  locks: boolean,
): Promise<number | undefined> {
  if (locks) await sql`select pg_advisory_xact_lock(${TOKEN_LOCK}, hashtext(${tokenId}))`.execute(tx);
  const counts = await COUNTED(tx, { token_id: tokenId, since });
  if (counts.reduce((sum, { n }) => sum + Number(n), 0) < maxCalls) return undefined;
  if (now !== undefined) await countAheadAsNow(tx, tokenId, now);
  const [last] = await SPENT(tx, { token_id: tokenId, since, newer: maxCalls - 1 });
  return last?.counted_at ?? undefined;
}

/** Moves what a clock counted while it was ahead to now: it would block the token until that time. */
async function countAheadAsNow(tx: Kysely<Database>, tokenId: string, now: number): Promise<void> {
  await tx
    .updateTable("calls")
    .set({ counted_at: now })
    .where("token_id", "=", tokenId)
    .where("counted_at", ">", now)
    .execute();
  await tx
    .updateTable("removed_calls")
    .set({ created_at: now })
    .where("token_id", "=", tokenId)
    .where("created_at", ">", now)
    .execute();
}

/** Keeps counting deleted calls, and transfers, for their tokens, until they are older than `since`. */
export async function keepCounting(
  tx: Kysely<Database>,
  counted: readonly Pick<CallRow, "token_id" | "counted_at">[],
  since: number,
  traits: Traits,
): Promise<void> {
  const rows = counted.flatMap(({ token_id, counted_at }): RemovedCallTable[] =>
    token_id === null || counted_at === null || counted_at <= since ? [] : [{ token_id, created_at: counted_at }],
  );
  if (rows.length > 0) await tx.insertInto("removed_calls").values(rows).execute();
  if (since !== Infinity) await forgetCounted(tx, since, traits, MAX_PIECE);
}

/** Forgets some of the deleted calls and transfers that were counted at a time or earlier; returns how many. */
export function forgetCounted(tx: Kysely<Database>, until: number, traits: Traits, limit: number): Promise<number> {
  return deletePiece(tx, traits, {
    table: "removed_calls",
    limit,
    locked: "skip",
    rows: (all) => all.where("created_at", "<=", until).orderBy("created_at"),
  });
}
