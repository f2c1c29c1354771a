import type { Kysely } from "kysely";
import type { CodeRecord, LoginStore, UsedCode } from "../../src/ports/storage.ts";
import { IS_ADMIN, IS_FIRST_CODE, IS_INVITATION, IS_RESET_CODE } from "./conditions.ts";
import { RECORDS } from "./records.ts";
import type { Database } from "./schema.ts";
import type { Session } from "./session.ts";

/** One-time codes. */
export function codeStore(
  session: Session,
): Pick<LoginStore, "insertCode" | "codeByHash" | "invitations" | "deleteInvitation"> {
  return {
    insertCode: (code, most) =>
      session.transaction(async (tx) => {
        if (code.purpose === "first" && (await hasAdmin(tx))) return false;
        if (code.purpose === "invitation" && (await openInvitations(tx, code, session.traits.rowLocks)) >= most)
          return false;
        const row = RECORDS.account_codes.row(code);
        await tx
          .insertInto("account_codes")
          .values(row)
          .$if(code.purpose === "first", (query) =>
            query.onConflict((conflict) => conflict.column("purpose").where(IS_FIRST_CODE).doUpdateSet(row)),
          )
          .$if(code.purpose === "reset", (query) =>
            query.onConflict((conflict) => conflict.column("account_id").where(IS_RESET_CODE).doUpdateSet(row)),
          )
          .execute();
        return true;
      }),
    codeByHash: (hash) =>
      session.read(async (db) => {
        const row = await db.selectFrom("account_codes").selectAll().where("hash", "=", hash).executeTakeFirst();
        return row && RECORDS.account_codes.record(row);
      }),
    invitations: () =>
      session.read(async (db) => {
        const rows = await db
          .selectFrom("account_codes")
          .selectAll()
          .where(IS_INVITATION)
          .orderBy("id", "desc")
          .execute();
        return rows.map(RECORDS.account_codes.record);
      }),
    deleteInvitation: (id) =>
      session.write(async (db) => {
        const deleted = await db
          .deleteFrom("account_codes")
          .where("id", "=", id)
          .where("purpose", "=", "invitation")
          .returning("id")
          .executeTakeFirst();
        return deleted !== undefined;
      }),
  };
}

/** True if there is an administrator. */
export async function hasAdmin(db: Kysely<Database>): Promise<boolean> {
  return (await db.selectFrom("accounts").select("id").where(IS_ADMIN).executeTakeFirst()) !== undefined;
}

/** The invitations that have not expired when a further one is created. */
async function openInvitations(
  tx: Kysely<Database>,
  { accountId, createdAt }: CodeRecord,
  rowLocks: boolean,
): Promise<number> {
  // Locked: the next invitation by this administrator counts this one.
  if (rowLocks && accountId !== null)
    await tx.selectFrom("accounts").select("id").where("id", "=", accountId).forNoKeyUpdate().execute();
  const { count } = await tx
    .selectFrom("account_codes")
    .select((eb) => eb.fn.countAll().as("count"))
    .where(IS_INVITATION)
    .where("expires_at", ">", createdAt)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** A valid code, locked against use by other transactions until this one ends; undefined if there is none. */
export async function lockedCode(
  tx: Kysely<Database>,
  { hash, purpose, now }: UsedCode,
  rowLocks: boolean,
): Promise<Database["account_codes"] | undefined> {
  return tx
    .selectFrom("account_codes")
    .selectAll()
    .where("hash", "=", hash)
    .where("purpose", "=", purpose)
    .where("expires_at", ">", now)
    .$if(rowLocks, (query) => query.forUpdate())
    .executeTakeFirst();
}
