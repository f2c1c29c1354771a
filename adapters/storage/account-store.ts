import type { Kysely } from "kysely";
import type { AccountStore } from "../../src/ports/storage.ts";
import { IS_REVOKED } from "./conditions.ts";
import { deleteOldest } from "./pieces.ts";
import { prepared } from "./prepared.ts";
import { RECORDS } from "./records.ts";
import type { Database } from "./schema.ts";
import type { Session } from "./session.ts";

const TOKEN_BY_HASH = prepared((db, { hash }: { hash: string }) =>
  db.selectFrom("tokens").selectAll().where("hash", "=", hash),
);

/** Users and their tokens. */
export function accountStore(session: Session): AccountStore {
  const userByName = (name: string) =>
    session.read(async (db) => {
      const row = await db.selectFrom("users").selectAll().where("name", "=", name).executeTakeFirst();
      return row && RECORDS.users.record(row);
    });

  return {
    userByName,
    users: (limit) =>
      session.read(async (db) => {
        const rows = await db
          .selectFrom("users")
          .selectAll()
          .orderBy("created_at")
          .orderBy("id")
          .$if(limit !== undefined, (query) => query.limit(limit ?? 0))
          .execute();
        return rows.map(RECORDS.users.record);
      }),
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
          if (!(await lockedAccount(tx, account.id, session.traits.rowLocks))) return "account_deleted";
          if ((await countOfValid(tx, token.userId)) >= account.most) return "at_limit";
          await deleteOldest(tx, session.traits, {
            table: "tokens",
            most: account.most,
            rows: (all) => all.where("user_id", "=", token.userId).where(IS_REVOKED),
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
      session.read(async (db) => {
        const rows = await db
          .selectFrom("tokens")
          .selectAll()
          .$if(userId !== undefined, (query) => query.where("user_id", "=", userId ?? ""))
          .orderBy("created_at")
          .orderBy("id")
          .execute();
        return rows.map(RECORDS.tokens.record);
      }),
    revokeToken: (id, at) =>
      session.write(async (db) => {
        const revoked = await db
          .updateTable("tokens")
          .set({ revoked_at: at })
          .where("id", "=", id)
          .where("revoked_at", "is", null)
          .returning("id")
          .executeTakeFirst();
        return revoked !== undefined;
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

/** Locks an account, and returns whether it exists: it is not deleted, and makes no other token, before the transaction ends. */
async function lockedAccount(tx: Kysely<Database>, id: string, rowLocks: boolean): Promise<boolean> {
  const row = await tx
    .selectFrom("accounts")
    .select("id")
    .where("id", "=", id)
    .$if(rowLocks, (query) => query.forNoKeyUpdate())
    .executeTakeFirst();
  return row !== undefined;
}

async function countOfValid(tx: Kysely<Database>, userId: string): Promise<number> {
  const { count } = await tx
    .selectFrom("tokens")
    .select((eb) => eb.fn.countAll().as("count"))
    .where("user_id", "=", userId)
    .where("revoked_at", "is", null)
    .executeTakeFirstOrThrow();
  return Number(count);
}
