import { setImmediate } from "node:timers/promises";
import type { ExpressionBuilder, Kysely } from "kysely";
import type { InstanceStore } from "../../src/ports/storage.ts";
import { IS_LINK } from "./conditions.ts";
import { deletePiece, inPieces, MAX_PIECE } from "./pieces.ts";
import { blankReceipts } from "./receipt-store.ts";
import type { Database, InstanceRow } from "./schema.ts";
import type { Session, Traits } from "./session.ts";
import { type Counted, endCounts } from "./stored-bytes.ts";

/** Deletes old instances, and the link events of a number. */
export function instancePurge(session: Session): Pick<InstanceStore, "forgetPhone" | "purge"> {
  return {
    forgetPhone: (phone) =>
      inPieces((limit) =>
        session.transaction((tx) =>
          deletePiece(tx, session.traits, {
            table: "events",
            limit,
            rows: (all) => all.where(isUnlinkedNumber(phone)),
          }),
        ),
      ),
    purge: (erasedBefore, limit) => purgeInstances(session, erasedBefore, limit),
  };
}

/** A link of this number to an instance that has another number now. */
function isUnlinkedNumber(phone: string) {
  return ({ and, eb, not, exists, selectFrom }: ExpressionBuilder<Database, "events">) =>
    and([
      IS_LINK,
      eb("data", "like", `%"phone":${JSON.stringify(phone)}%`),
      not(
        exists(
          selectFrom("instances")
            .select("instances.id")
            .whereRef("instances.id", "=", "events.instance_id")
            .where("instances.phone", "=", phone),
        ),
      ),
    ]);
}

/** An instance, its receipt, and the counts of its calls and bytes. */
const MAX_INSTANCE_ROWS = 6;

type Purged = Pick<InstanceRow, "id" | "user_id">;

/** Purges deleted instances, except those with calls, in pieces. */
async function purgeInstances(session: Session, erasedBefore: number, limit: number): Promise<string[]> {
  const old = await session.transaction((tx) => erasedInstances(tx, erasedBefore, limit));
  for (let left: readonly Purged[] = old; left.length > 0; ) {
    const purged = await session.transaction((tx) => purgePiece(tx, left, session.traits));
    left = left.slice(purged);
    await setImmediate();
  }
  return old.map(({ id }) => id);
}

/** Purges as many of these instances as one transaction may; returns the number of purged ones. */
async function purgePiece(tx: Kysely<Database>, instances: readonly Purged[], traits: Traits): Promise<number> {
  const purged: Counted[] = [];
  const count = await purgeRows(tx, instances, traits, purged);
  await endCounts(tx, purged);
  return count;
}

async function purgeRows(
  tx: Kysely<Database>,
  instances: readonly Purged[],
  traits: Traits,
  purged: Counted[],
): Promise<number> {
  let rows = 0;
  for (const [gone, { id, user_id }] of instances.entries()) {
    rows += await deletePiece(tx, traits, {
      table: "events",
      limit: MAX_PIECE - rows,
      rows: (all) => all.where("user_id", "=", user_id).where("instance_id", "=", id).orderBy("position", "desc"),
    });
    if (rows === MAX_PIECE) return gone;
    await blankReceipts(tx, [id]);
    const deleted = tx.deleteFrom("instances").where("id", "=", id).returning(["id", "user_id", "stored_bytes"]);
    purged.push(...(await deleted.execute()));
    await tx.deleteFrom("finished_counts").where("instance_id", "=", id).execute();
    rows = Math.min(rows + MAX_INSTANCE_ROWS, MAX_PIECE);
    if (rows === MAX_PIECE) return gone + 1;
  }
  return instances.length;
}

function erasedInstances(db: Kysely<Database>, erasedBefore: number, limit: number): Promise<Purged[]> {
  return db
    .selectFrom("instances")
    .select(["id", "user_id"])
    .where("erased_at", "<", erasedBefore)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom("calls")
            .select("calls.id")
            .whereRef("calls.user_id", "=", "instances.user_id")
            .whereRef("calls.instance_id", "=", "instances.id"),
        ),
      ),
    )
    .orderBy("erased_at")
    .orderBy("id")
    .limit(limit)
    .execute();
}
