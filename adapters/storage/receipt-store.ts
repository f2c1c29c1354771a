import { type Kysely, sql } from "kysely";
import { type Receipt, type ReceiptResult, type ReceiptStore, StorageUnavailable } from "../../src/ports/storage.ts";
import { deletedRows } from "./deleted-rows.ts";
import { prepared } from "./prepared.ts";
import type { Database } from "./schema.ts";
import type { Session } from "./session.ts";

const FINISHED = prepared((db, { userId, scope, key, result }: ReceiptResult) =>
  db
    .updateTable("receipts")
    .set({ result })
    .where("user_id", "=", userId)
    .where("scope", "=", scope)
    .where("key", "=", key)
    .returning("key"),
);

/** Idempotency keys and their results. */
export function receiptStore(session: Session): ReceiptStore {
  return {
    begin: ({ userId, scope, key }, fingerprint, now, expiredBefore) =>
      session.transaction(async (tx): Promise<Receipt> => {
        await forgetBegunBefore(tx, expiredBefore, session.traits.rowLocks);
        for (;;) {
          const begun = await tx
            .insertInto("receipts")
            .values({ user_id: userId, scope, key, fingerprint, result: null, created_at: now })
            .onConflict((conflict) => conflict.columns(["user_id", "scope", "key"]).doNothing())
            .returning("key")
            .executeTakeFirst();
          if (begun) return { kind: "begun" };
          const known = await tx
            .selectFrom("receipts")
            .select(["fingerprint", "result"])
            .where("user_id", "=", userId)
            .where("scope", "=", scope)
            .where("key", "=", key)
            .executeTakeFirst();
          if (!known) continue; // abandoned between the two statements
          return known.result === null
            ? { kind: "running" }
            : { kind: "done", fingerprint: known.fingerprint, result: known.result };
        }
      }),
    finish: (receipt) => session.write((db) => finishReceipt(db, receipt)),
    async abandon({ userId, scope, key }) {
      await session.write((db) =>
        db
          .deleteFrom("receipts")
          .where("user_id", "=", userId)
          .where("scope", "=", scope)
          .where("key", "=", key)
          .where("result", "is", null)
          .execute(),
      );
    },
    async abandonUnfinished() {
      await session.write((db) => db.deleteFrom("receipts").where("result", "is", null).execute());
    },
    forget: (begunBefore) => session.write((db) => forgetBegunBefore(db, begunBefore, session.traits.rowLocks)),
    forgetPhone: (phone) =>
      session.write(async (db) =>
        deletedRows(
          await db
            .deleteFrom("receipts")
            .where("result", "like", `%"targetPhone":${JSON.stringify(phone)}%`)
            .executeTakeFirst(),
        ),
      ),
  };
}

/**
 * Stores the result of a request, inside the transaction of its changes.
 * @throws {StorageUnavailable} the key is not begun: a creation without its receipt could happen twice
 */
export async function finishReceipt(tx: Kysely<Database>, receipt: ReceiptResult): Promise<void> {
  const [row] = await FINISHED(tx, receipt);
  if (!row) throw new StorageUnavailable("the idempotency key of the request was released; send the request again");
}

/** Two requests that delete at the same time skip each other's rows, which prevents a deadlock. */
async function forgetBegunBefore(tx: Kysely<Database>, before: number, rowLocks: boolean): Promise<number> {
  const old = tx.deleteFrom("receipts");
  const deletion = rowLocks
    ? old.where(({ selectFrom }) => {
        const free = selectFrom("receipts").select(sql`ctid`.as("ctid")).where("created_at", "<", before);
        return sql<boolean>`ctid = any(array(${free.forUpdate().skipLocked()}))`;
      })
    : old.where("created_at", "<", before);
  return deletedRows(await deletion.executeTakeFirst());
}
