import { type Kysely, sql } from "kysely";
import type { AccountStore, LoginStore } from "../../../src/ports/storage.ts";
import { deleteOldest, deletePiece, MAX_PIECE } from "../bounded-deletions.ts";
import { forgetStoredAudio } from "../calls/stored-audio-store.ts";
import { preparedQuery, type Session } from "../connected-database.ts";
import { countRows, readRecord, readRecords } from "../record-lists.ts";
import { endCounts } from "../stored-bytes.ts";
import { type Database, IS_REVOKED } from "../tables/all-tables.ts";
import { RECORDS } from "../tables/stored-fields.ts";

const TOKEN_BY_HASH = preparedQuery((db, { hash }: { hash: string }) =>
  db.selectFrom("tokens").selectAll().where("hash", "=", hash),
);

/** Users and their tokens. */
export function accountStore(session: Session): AccountStore {
  const userByName = (name: string) =>
    readRecord(session, RECORDS.users, (db) => db.selectFrom("users").selectAll().where("name", "=", name));

  return {
    userByName,
    users: (limit) =>
      readRecords(session, RECORDS.users, (db) =>
        db
          .selectFrom("users")
          .selectAll()
          .orderBy("created_at")
          .orderBy("id")
          .$if(limit !== undefined, (query) => query.limit(limit ?? 0)),
      ),
    async ensureUser(user) {
      await session.write((db) =>
        db
          .insertInto("users")
          .values(RECORDS.users.row(user))
          .onConflict((conflict) => conflict.column("name").doNothing())
          .execute(),
      );
      return (await userByName(user.name)) ?? user;
    },
    insertToken: (token, account) =>
      session.transaction(async (tx) => {
        if (account) {
          if (!(await lockAccount(tx, account.id, session.traits.rowLocks))) return "account_deleted";
          if ((await countValidTokens(tx, token.userId)) >= account.most) return "at_limit";
          await deleteOldest(tx, session.traits, {
            table: "tokens",
            maxRows: account.most,
            rows: (query) => query.where("user_id", "=", token.userId).where(IS_REVOKED),
          });
        }
        await tx.insertInto("tokens").values(RECORDS.tokens.row(token)).execute();
        return "inserted";
      }),
    async tokenByHash(hash) {
      const [row] = await session.query(TOKEN_BY_HASH, { hash });
      return row && RECORDS.tokens.record(row);
    },
    tokensByHash: (hashes) =>
      session.read(async (db) => {
        if (hashes.length === 0) return [];
        const rows = await db.selectFrom("tokens").selectAll().where("hash", "in", hashes).execute();
        return rows.map(RECORDS.tokens.record);
      }),
    tokens: (userId) =>
      readRecords(session, RECORDS.tokens, (db) =>
        db
          .selectFrom("tokens")
          .selectAll()
          .$if(userId !== undefined, (query) => query.where("user_id", "=", userId ?? ""))
          .orderBy("created_at")
          .orderBy("id"),
      ),
    revokeToken: (id, at) =>
      session.write(async (db) => {
        const revokedRow = await db
          .updateTable("tokens")
          .set({ revoked_at: at })
          .where("id", "=", id)
          .where("revoked_at", "is", null)
          .returning("id")
          .executeTakeFirst();
        return revokedRow !== undefined;
      }),
    async markUsed(id, at) {
      await session.write((db) =>
        db
          .updateTable("tokens")
          .set({ last_used_at: at })
          .where("id", "=", id)
          .where((where) => where.or([where("last_used_at", "is", null), where("last_used_at", "<", at)]))
          .execute(),
      );
    },
  };
}

/**
 * Locks an account, and returns true if it exists. The account is neither deleted nor given another token until the
 * transaction ends.
 */
async function lockAccount(tx: Kysely<Database>, id: string, rowLocks: boolean): Promise<boolean> {
  const row = await tx
    .selectFrom("accounts")
    .select("id")
    .where("id", "=", id)
    .$if(rowLocks, (query) => query.forNoKeyUpdate())
    .executeTakeFirst();
  return row !== undefined;
}

function countValidTokens(tx: Kysely<Database>, userId: string): Promise<number> {
  return countRows(tx, "tokens", (rows) => rows.where("user_id", "=", userId).where("revoked_at", "is", null));
}

/** Deletes a user's records and account. */
export function userRemoval(session: Session): Pick<LoginStore, "beginRemoval" | "forgetUser" | "deleteAccount"> {
  const forgetRecords = (
    tx: Kysely<Database>,
    table: "events" | "tokens" | "receipts" | "consents",
    userId: string,
    limit: number,
  ) => deletePiece(tx, session.traits, { table, limit, rows: (query) => query.where("user_id", "=", userId) });

  return {
    beginRemoval: (id, at) =>
      session.transaction(async (tx) => {
        // A concurrent registration is either stored first, and is counted, or finds that the removal has begun.
        if (session.traits.rowLocks) await lockAccounts(tx);
        const account = await tx.selectFrom("accounts").select("role").where("id", "=", id).executeTakeFirst();
        if (!account) return "deleted";
        if (account.role === "admin" && (await hasOtherAccounts(tx, id))) return "last_admin";
        await tx
          .updateTable("accounts")
          .set({ removal_begun_at: at })
          .where("id", "=", id)
          .where("removal_begun_at", "is", null)
          .execute();
        return "begun";
      }),
    async forgetUser(userId, limit) {
      const piece = Math.min(limit, MAX_PIECE);
      if ((await forgetStoredAudio(session, userId, piece)) >= piece) return true;
      return session.transaction(async (tx) => {
        for (const table of ["events", "tokens", "receipts", "consents"] as const)
          if ((await forgetRecords(tx, table, userId, piece)) >= piece) return true;
        return (await forgetInstances(tx, userId, piece)) >= piece;
      });
    },
    deleteAccount: (id) =>
      session.transaction(async (tx) => {
        // Blocks new tokens for the account until the transaction ends.
        if (session.traits.rowLocks) await lockAccounts(tx);
        const account = await tx.selectFrom("accounts").select("user_id").where("id", "=", id).executeTakeFirst();
        if (!account) return "deleted";
        const { user_id } = account;
        for (const table of OWNED_TABLES) if (await hasRows(tx, table, user_id)) return "not_empty";
        // This comes first: it waits for consents that are being stored, and refuses later ones.
        await tx.updateTable("users").set({ name: user_id }).where("id", "=", user_id).execute();
        await tx.deleteFrom("consents").where("user_id", "=", user_id).execute();
        await tx.deleteFrom("stored_usage").where("owner", "=", user_id).execute();
        await tx.deleteFrom("accounts").where("id", "=", id).execute();
        await tx.deleteFrom("account_sessions").where("account_id", "=", id).execute();
        await tx.deleteFrom("account_codes").where("account_id", "=", id).execute();
        return "deleted";
      }),
  };
}

/** Tables that hold a user's rows. */
const OWNED_TABLES = ["tokens", "webhooks", "instances", "calls", "stored_audio"] as const;

async function hasRows(tx: Kysely<Database>, table: (typeof OWNED_TABLES)[number], userId: string): Promise<boolean> {
  const row = await tx.selectFrom(table).select("id").where("user_id", "=", userId).limit(1).executeTakeFirst();
  return row !== undefined;
}

async function lockAccounts(tx: Kysely<Database>): Promise<void> {
  await sql`lock table ${sql.table("accounts")} in exclusive mode`.execute(tx);
}

async function hasOtherAccounts(tx: Kysely<Database>, accountId: string): Promise<boolean> {
  const row = await tx.selectFrom("accounts").select("id").where("id", "!=", accountId).limit(1).executeTakeFirst();
  return row !== undefined;
}

async function forgetInstances(tx: Kysely<Database>, userId: string, limit: number): Promise<number> {
  const deletedRows = await tx
    .deleteFrom("instances")
    .where("id", "in", ({ selectFrom }) =>
      selectFrom("instances")
        .select("id")
        .where("user_id", "=", userId)
        .where("erased_at", "is not", null)
        .limit(limit),
    )
    .returning(["id", "user_id", "stored_bytes"])
    .execute();
  const ids = deletedRows.map(({ id }) => id);
  if (ids.length > 0) await tx.deleteFrom("finished_counts").where("instance_id", "in", ids).execute();
  await endCounts(tx, deletedRows);
  return ids.length;
}
