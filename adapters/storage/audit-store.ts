import type { Selectable } from "kysely";
import type { AuditRecord, LoginStore } from "../../src/ports/storage.ts";
import { deleteOldest, deletePiece, MAX_PIECE } from "./pieces.ts";
import type { AuditTable } from "./schema.ts";
import type { Session } from "./session.ts";

/** The audit log. */
export function auditStore(session: Session): Pick<LoginStore, "note" | "audit"> {
  return {
    note: ({ id, at, accountId, email, action, subject }, keptSince, most) =>
      session.transaction(async (tx) => {
        if (accountId !== null)
          await deleteOldest(tx, session.traits, {
            table: "audit_log",
            most: most - 1,
            rows: (all) => all.where("account_id", "=", accountId),
          });
        await tx
          .insertInto("audit_log")
          .values({
            id,
            at,
            account_id: accountId,
            email,
            action,
            subject: subject === null ? null : JSON.stringify(subject),
          })
          .execute();
        await deletePiece(tx, session.traits, {
          table: "audit_log",
          limit: MAX_PIECE,
          locked: "skip",
          rows: (all) => all.where("at", "<", keptSince).orderBy("at"),
        });
      }),
    audit: ({ accountId }, { limit, after }) =>
      session.read(async (db) => {
        const rows = await db
          .selectFrom("audit_log")
          .selectAll()
          .$if(accountId !== undefined, (query) => query.where("account_id", "=", accountId ?? ""))
          .$if(after !== undefined, (query) => query.where("id", "<", after ?? ""))
          .orderBy("id", "desc")
          .limit(limit)
          .execute();
        return rows.map(recordOf);
      }),
  };
}

function recordOf(row: Selectable<AuditTable>): AuditRecord {
  return {
    id: row.id,
    at: row.at,
    accountId: row.account_id,
    email: row.email,
    action: row.action,
    subject: row.subject === null ? null : JSON.parse(row.subject),
  };
}
