import type { Kysely } from "kysely";
import { CodedError } from "../../../src/base/error.ts";
import { emailKey } from "../../../src/domain/access/email.ts";
import type {
  CodeRecord,
  LoginStore,
  NewAccount,
  RegistrationResult,
  UsedCode,
  User,
} from "../../../src/ports/storage.ts";
import type { Session } from "../connected-database.ts";
import { countRows, pageById, readRecord, readRecords } from "../record-lists.ts";
import { type Database, IS_ADMIN, IS_FIRST_CODE, IS_INVITATION, IS_RESET_CODE } from "../tables/all-tables.ts";
import { RECORDS } from "../tables/stored-fields.ts";

/** One-time codes. */
export function codeStore(
  session: Session,
): Pick<LoginStore, "insertCode" | "codeByHash" | "invitations" | "deleteInvitation"> {
  return {
    insertCode: (code, maxOpen) =>
      session.transaction(async (tx) => {
        if (code.purpose === "first" && (await hasAdmin(tx))) return false;
        if (code.purpose === "invitation" && (await countOpenInvitations(tx, code, session.traits.rowLocks)) >= maxOpen)
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
      readRecord(session, RECORDS.account_codes, (db) =>
        db.selectFrom("account_codes").selectAll().where("hash", "=", hash),
      ),
    invitations: () =>
      readRecords(session, RECORDS.account_codes, (db) =>
        pageById(db.selectFrom("account_codes").selectAll().where(IS_INVITATION), {}),
      ),
    deleteInvitation: (id) =>
      session.write(async (db) => {
        const deletedRow = await db
          .deleteFrom("account_codes")
          .where("id", "=", id)
          .where("purpose", "=", "invitation")
          .returning("id")
          .executeTakeFirst();
        return deletedRow !== undefined;
      }),
  };
}

/** True if there is an administrator. */
export async function hasAdmin(db: Kysely<Database>): Promise<boolean> {
  return (await db.selectFrom("accounts").select("id").where(IS_ADMIN).executeTakeFirst()) !== undefined;
}

/** Counts the invitations that have not expired by the time another one is created. */
async function countOpenInvitations(
  tx: Kysely<Database>,
  { accountId, createdAt }: CodeRecord,
  rowLocks: boolean,
): Promise<number> {
  // The lock makes the next invitation by this administrator wait for the commit, so that it counts this one.
  if (rowLocks && accountId !== null)
    await tx.selectFrom("accounts").select("id").where("id", "=", accountId).forNoKeyUpdate().execute();
  return countRows(tx, "account_codes", (rows) => rows.where(IS_INVITATION).where("expires_at", ">", createdAt));
}

/** A valid code, locked until the transaction ends; undefined if there is none. */
export async function lockCode(
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

/** Rolls back a registration: the removal of the administrator's account has begun. */
export class AdminLeaving extends CodedError {
  readonly code = "admin_leaving";
}

/**
 * Stores a new account, in a transaction. Unique indexes allow one administrator, and one account for each address.
 * @throws {AdminLeaving}
 */
export async function register(
  tx: Kysely<Database>,
  { account, session, user, takesOver, code }: NewAccount,
  rowLocks: boolean,
): Promise<RegistrationResult> {
  const codeRow = code && (await lockCode(tx, code, rowLocks));
  if (code && !codeRow) return { kind: "code_invalid" };
  const oldUserId = takesOver === undefined ? undefined : await userWithoutAccount(tx, takesOver);
  const row = await tx
    .insertInto("accounts")
    .values({
      ...RECORDS.accounts.row({ ...account, userId: oldUserId ?? user.id }),
      email_key: emailKey(account.email),
      removal_begun_at: null,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst();
  if (!row) return { kind: (await isEmailTaken(tx, account.email)) ? "email_taken" : "admin_exists" };
  if (await isAdminLeaving(tx)) throw new AdminLeaving();
  if (oldUserId === undefined) await insertUser(tx, user);
  if (codeRow) await tx.deleteFrom("account_codes").where("id", "=", codeRow.id).execute();
  await tx.insertInto("account_sessions").values(RECORDS.account_sessions.row(session)).execute();
  return { kind: "registered", account: RECORDS.accounts.record(row) };
}

/** The oldest user that has no account, and has this name or none. */
async function userWithoutAccount(tx: Kysely<Database>, name: string): Promise<string | undefined> {
  const oldestUser = await tx
    .selectFrom("users")
    .leftJoin("accounts", "accounts.user_id", "users.id")
    .select("users.id")
    .where("accounts.id", "is", null)
    .where((where) => where.or([where("users.name", "=", name), where("users.name", "=", where.ref("users.id"))]))
    .orderBy("users.created_at")
    .orderBy("users.id")
    .limit(1)
    .executeTakeFirst();
  return oldestUser?.id;
}

async function isAdminLeaving(tx: Kysely<Database>): Promise<boolean> {
  const query = tx.selectFrom("accounts").select("id").where(IS_ADMIN).where("removal_begun_at", "is not", null);
  return (await query.executeTakeFirst()) !== undefined;
}

async function isEmailTaken(tx: Kysely<Database>, email: string): Promise<boolean> {
  const row = await tx.selectFrom("accounts").select("id").where("email_key", "=", emailKey(email)).executeTakeFirst();
  return row !== undefined;
}

/**
 * Stores the user, under its id if the name is taken: an existing user with that name may belong to another person,
 * because its tokens are older than this account.
 */
async function insertUser(tx: Kysely<Database>, { id, name, createdAt }: User): Promise<void> {
  const insertedRow = await tx
    .insertInto("users")
    .values({ id, name, created_at: createdAt })
    .onConflict((conflict) => conflict.column("name").doNothing())
    .returning("id")
    .executeTakeFirst();
  if (!insertedRow) await tx.insertInto("users").values({ id, name: id, created_at: createdAt }).execute();
}
