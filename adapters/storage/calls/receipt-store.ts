import type { Kysely } from "kysely";
import { CodedError } from "../../../src/base/error.ts";
import type { NewReceipt, Receipt, ReceiptKey, ReceiptStore } from "../../../src/ports/storage.ts";
import { deletePiece, inPieces } from "../bounded-deletions.ts";
import { preparedQuery, type Session, type Traits } from "../connected-database.ts";
import type { Database, ReceiptTable } from "../tables/all-tables.ts";

type NewRow = Omit<ReceiptTable, "existing_status"> & { readonly expired_before: number };

const FIND_RECEIPT = preparedQuery(
  (db, { userId, scope, key, expiredBefore }: ReceiptKey & { readonly expiredBefore: number }) =>
    db
      .selectFrom("receipts")
      .select(["fingerprint", "record_id", "existing_status"])
      .where("user_id", "=", userId)
      .where("scope", "=", scope)
      .where("key", "=", key)
      .where("created_at", ">=", expiredBefore),
);
/** Returns no row if the key has a receipt that has not expired. */
const INSERT_RECEIPT = preparedQuery((db, { expired_before, ...row }: NewRow) =>
  db
    .insertInto("receipts")
    .values(row)
    .onConflict((conflict) =>
      conflict
        .columns(["user_id", "scope", "key"])
        .doUpdateSet(({ ref }) => ({
          fingerprint: ref("excluded.fingerprint"),
          record_id: ref("excluded.record_id"),
          existing_status: null,
          created_at: ref("excluded.created_at"),
        }))
        .where("receipts.created_at", "<", expired_before),
    )
    .returning("key"),
);

/** Rolls back the creation of a record: the key already has a receipt. */
export class KeyTaken extends CodedError {
  readonly code = "key_taken";
}

/** Receipts of idempotent requests. */
export function receiptStore(session: Session): ReceiptStore {
  return {
    async find(key, expiredBefore): Promise<Receipt | undefined> {
      const [row] = await session.query(FIND_RECEIPT, { ...key, expiredBefore });
      if (!row) return undefined;
      const { fingerprint, record_id: recordId, existing_status: existing } = row;
      return { fingerprint, recordId, ...(existing !== null && { existing }) };
    },
    forget: (begunBefore) =>
      inPieces((limit) => session.transaction((tx) => deleteStartedBefore(tx, begunBefore, session.traits, limit))),
  };
}

/**
 * Stores the receipt of a record in its transaction. Two creations under one key wait for each other here.
 * @throws {KeyTaken} the key already has a receipt; the transaction must store nothing
 */
export async function insertReceipt(tx: Kysely<Database>, receipt: NewReceipt, recordId: string): Promise<void> {
  const [row] = await INSERT_RECEIPT(tx, {
    user_id: receipt.userId,
    scope: receipt.scope,
    key: receipt.key,
    fingerprint: receipt.fingerprint,
    record_id: recordId,
    created_at: receipt.begunAt,
    expired_before: receipt.expiredBefore,
  });
  if (!row) throw new KeyTaken();
}

/** Erases the request details in receipts of removed records; returns the number of receipts. The keys stay used. */
export async function blankReceipts(tx: Kysely<Database>, recordIds: readonly string[]): Promise<number> {
  const { numUpdatedRows } = await tx
    .updateTable("receipts")
    .set({ fingerprint: "" })
    .where("record_id", "in", recordIds)
    .executeTakeFirstOrThrow();
  return Number(numUpdatedRows);
}

/** Deletes old receipts. Concurrent deletions skip each other's rows, which prevents a deadlock. */
function deleteStartedBefore(tx: Kysely<Database>, before: number, traits: Traits, limit: number): Promise<number> {
  return deletePiece(tx, traits, {
    table: "receipts",
    limit,
    lockedRows: "skip",
    rows: (query) => query.where("created_at", "<", before).orderBy("created_at"),
  });
}
