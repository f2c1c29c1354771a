import type { LoginStore } from "../../src/ports/storage.ts";
import { deleteOldest, deletePiece, MAX_PIECE } from "./pieces.ts";
import { RECORDS } from "./records.ts";
import type { Session } from "./session.ts";

/** The audit log. */
export function auditStore(session: Session): Pick<LoginStore, "note" | "audit"> {
  return {
    note: (entry, keptSince, most) =>
      session.transaction(async (tx) => {
        if (entry.accountId !== null)
          await deleteOldest(tx, session.traits, {
            table: "audit_log",
            most: most - 1,
            rows: (all) => all.where("account_id", "=", entry.accountId),
          });
        await tx.insertInto("audit_log").values(RECORDS.audit_log.row(entry)).execute();
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
        return rows.map(RECORDS.audit_log.record);
      }),
  };
}
