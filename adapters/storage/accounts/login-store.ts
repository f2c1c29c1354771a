import { emailKey } from "../../../src/domain/access/email.ts";
import type { LoginStore } from "../../../src/ports/storage.ts";
import { deleteOldest, deletePiece, inPieces, MAX_PIECE } from "../bounded-deletions.ts";
import { preparedQuery, type Session } from "../connected-database.ts";
import { pageById, readRecord, readRecords } from "../record-lists.ts";
import { IS_RESET_CODE } from "../tables/all-tables.ts";
import { RECORDS } from "../tables/stored-fields.ts";
import { userRemoval } from "./account-store.ts";
import { AdminLeaving, codeStore, hasAdmin, lockCode, register } from "./code-store.ts";

/** Runs once for each request from a browser. */
const SESSION_BY_HASH = preparedQuery((db, { hash }: { hash: string }) =>
  db
    .selectFrom("account_sessions as s")
    .innerJoin("accounts as a", "a.id", "s.account_id")
    .select(["s.id", "s.account_id", "s.hash", "s.created_at", "s.last_used_at", "s.expires_at", "s.user_agent"])
    .select(["a.user_id", "a.email", "a.password_hash", "a.role", "a.created_at as account_created_at"])
    .where("s.hash", "=", hash),
);

/** Store of accounts and sign-ins. */
export function loginStore(session: Session): LoginStore {
  return {
    ...accountReads(session),
    ...codeStore(session),
    ...auditStore(session),
    ...userRemoval(session),
    register: (registration) =>
      session
        .transaction((tx) => register(tx, registration, session.traits.rowLocks))
        .catch((error: unknown) => {
          if (error instanceof AdminLeaving) return { kind: "admin_leaving" };
          throw error;
        }),
    async rehash(accountId, oldHash, newHash) {
      await session.write((db) =>
        db
          .updateTable("accounts")
          .set({ password_hash: newHash })
          .where("id", "=", accountId)
          .where("password_hash", "=", oldHash)
          .execute(),
      );
    },
    changePassword: (newSession, passwordHash, proof) =>
      session.transaction(async (tx) => {
        if ("hash" in proof) {
          const code = await lockCode(tx, proof, session.traits.rowLocks);
          if (code?.account_id !== newSession.accountId) return false;
        }
        // The account is updated first: a session that is being stored with the old hash is stored before this, or not
        // at all.
        const changedRow = await tx
          .updateTable("accounts")
          .set({ password_hash: passwordHash })
          .where("id", "=", newSession.accountId)
          .$if("passwordHash" in proof, (query) =>
            query.where("password_hash", "=", "passwordHash" in proof ? proof.passwordHash : ""),
          )
          .returning("id")
          .executeTakeFirst();
        if (!changedRow) return false;
        await tx.deleteFrom("account_sessions").where("account_id", "=", newSession.accountId).execute();
        await tx
          .deleteFrom("account_codes")
          .where(IS_RESET_CODE)
          .where("account_id", "=", newSession.accountId)
          .execute();
        await tx.insertInto("account_sessions").values(RECORDS.account_sessions.row(newSession)).execute();
        return true;
      }),
    insertSession: (newSession, passwordHash, maxSessions) =>
      session.transaction(async (tx) => {
        const account = await tx
          .selectFrom("accounts")
          .select("id")
          .where("id", "=", newSession.accountId)
          .where("password_hash", "=", passwordHash)
          .$if(session.traits.rowLocks, (query) => query.forNoKeyUpdate())
          .executeTakeFirst();
        if (!account) return false;
        await deleteOldest(tx, session.traits, {
          table: "account_sessions",
          maxRows: maxSessions - 1,
          rows: (query) => query.where("account_id", "=", newSession.accountId),
        });
        await tx.insertInto("account_sessions").values(RECORDS.account_sessions.row(newSession)).execute();
        return true;
      }),
    async sessionByHash(hash) {
      const [row] = await session.query(SESSION_BY_HASH, { hash });
      if (!row) return undefined;
      const account = { ...row, id: row.account_id, created_at: row.account_created_at };
      return { session: RECORDS.account_sessions.record(row), account: RECORDS.accounts.record(account) };
    },
    sessions: (accountId) =>
      readRecords(session, RECORDS.account_sessions, (db) =>
        pageById(db.selectFrom("account_sessions").selectAll().where("account_id", "=", accountId), {}),
      ),
    async prolongSession(id, lastUsedAt, expiresAt) {
      await session.write((db) =>
        db
          .updateTable("account_sessions")
          .set({ last_used_at: lastUsedAt, expires_at: expiresAt })
          .where("id", "=", id)
          .where("last_used_at", "<", lastUsedAt)
          .execute(),
      );
    },
    deleteSession: (accountId, id) =>
      session.write(async (db) => {
        const deletedRow = await db
          .deleteFrom("account_sessions")
          .where("account_id", "=", accountId)
          .where("id", "=", id)
          .returning("id")
          .executeTakeFirst();
        return deletedRow !== undefined;
      }),
    async forgetExpired(before) {
      for (const table of ["account_sessions", "account_codes"] as const)
        await inPieces((limit) =>
          session.transaction((tx) =>
            deletePiece(tx, session.traits, {
              table,
              limit,
              lockedRows: "skip",
              rows: (query) => query.where("expires_at", "<", before).orderBy("expires_at"),
            }),
          ),
        );
    },
  };
}

function accountReads(session: Session): Pick<LoginStore, "hasAdmin" | "account" | "accountByEmail" | "accounts"> {
  const accountWith = (column: "id" | "email_key", value: string) =>
    readRecord(session, RECORDS.accounts, (db) => db.selectFrom("accounts").selectAll().where(column, "=", value));
  return {
    hasAdmin: () => session.read(hasAdmin),
    account: (id) => accountWith("id", id),
    accountByEmail: (email) => accountWith("email_key", emailKey(email)),
    accounts: (limit) =>
      readRecords(session, RECORDS.accounts, (db) => pageById(db.selectFrom("accounts").selectAll(), { limit }, "asc")),
  };
}

/** The audit log. */
function auditStore(session: Session): Pick<LoginStore, "note" | "audit"> {
  return {
    note: (entry, since, maxEntries) =>
      session.transaction(async (tx) => {
        if (entry.accountId !== null)
          await deleteOldest(tx, session.traits, {
            table: "audit_log",
            maxRows: maxEntries - 1,
            rows: (query) => query.where("account_id", "=", entry.accountId),
          });
        await tx.insertInto("audit_log").values(RECORDS.audit_log.row(entry)).execute();
        await deletePiece(tx, session.traits, {
          table: "audit_log",
          limit: MAX_PIECE,
          lockedRows: "skip",
          rows: (query) => query.where("at", "<", since).orderBy("at"),
        });
      }),
    audit: ({ accountId }, page) =>
      readRecords(session, RECORDS.audit_log, (db) => {
        const entries = db.selectFrom("audit_log").selectAll();
        return pageById(accountId === undefined ? entries : entries.where("account_id", "=", accountId), page);
      }),
  };
}
