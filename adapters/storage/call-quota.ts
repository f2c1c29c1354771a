import { type Kysely, sql } from "kysely";
import type { CallQuota } from "../../src/ports/storage.ts";
import { prepared } from "./prepared.ts";
import type { CallRow, Database, RemovedCallTable } from "./schema.ts";

interface Counted {
  readonly token_id: string;
  readonly since: number;
}

interface Spent extends Counted {
  /** How many newer calls to skip. */
  readonly newer: number;
}

/** The number of the lock that makes two creations with one token wait for each other. */
const TOKEN_LOCK = 0x72_70_63_71;

/** The number of calls that count, deleted ones included; read from the index alone. */
const COUNTED = prepared((db, { token_id, since }: Counted) => {
  const counted = (table: "calls" | "removed_calls") =>
    db
      .selectFrom(table)
      .select(({ fn }) => fn.countAll<number | bigint | string>().as("n"))
      .where("token_id", "=", token_id)
      .where("created_at", ">", since);
  return counted("calls").unionAll(counted("removed_calls"));
});

/**
 * The creation time of the call at the last place of the quota: the newest after `newer` others, deleted ones included.
 * Both parts are read backwards from the end of an index.
 */
const SPENT = prepared((db, { token_id, since, newer }: Spent) =>
  db
    .selectFrom("calls")
    .select("created_at")
    .where("token_id", "=", token_id)
    .where("created_at", ">", since)
    .unionAll(
      db
        .selectFrom("removed_calls")
        .select("created_at")
        .where("token_id", "=", token_id)
        .where("created_at", ">", since),
    )
    .orderBy("created_at", "desc")
    .limit(1)
    .offset(newer),
);

/**
 * The creation time of the oldest call that blocks another one, ms; undefined if the quota has room. The result is valid
 * until the transaction ends.
 * @param locks lock the token first, because transactions overlap
 */
export async function quotaSpent(
  tx: Kysely<Database>,
  tokenId: string,
  { maxCalls, since }: CallQuota,
  locks: boolean,
): Promise<number | undefined> {
  if (locks) await sql`select pg_advisory_xact_lock(${TOKEN_LOCK}, hashtext(${tokenId}))`.execute(tx);
  const counts = await COUNTED(tx, { token_id: tokenId, since });
  if (counts.reduce((sum, { n }) => sum + Number(n), 0) < maxCalls) return undefined;
  const [last] = await SPENT(tx, { token_id: tokenId, since, newer: maxCalls - 1 });
  return last?.created_at;
}

/** Keeps counting deleted calls, and transfers, for their tokens, until they are older than `since`. */
export async function keepCounting(
  tx: Kysely<Database>,
  counted: readonly Pick<CallRow, "token_id" | "created_at">[],
  since: number,
): Promise<void> {
  const rows = counted.flatMap(({ token_id, created_at }): RemovedCallTable[] =>
    token_id === null || created_at <= since ? [] : [{ token_id, created_at }],
  );
  if (rows.length > 0) await tx.insertInto("removed_calls").values(rows).execute();
  if (since < Infinity) await tx.deleteFrom("removed_calls").where("created_at", "<=", since).execute();
}
