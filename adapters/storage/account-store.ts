import type { Kysely, Selectable } from "kysely";
import type { AccountStore, TokenRecord, User } from "../../src/ports/storage.ts";
import { prepared } from "./prepared.ts";
import type { Database, TokenTable, UserTable } from "./schema.ts";
import type { Session } from "./session.ts";

const TOKEN_BY_HASH = prepared((db, { hash }: { hash: string }) =>
  db.selectFrom("tokens").selectAll().where("hash", "=", hash),
);

/** Users and their tokens. */
export function accountStore(session: Session): AccountStore {
  const userByName = (name: string) =>
    session.read(async (db) => {
      const row = await db.selectFrom("users").selectAll().where("name", "=", name).executeTakeFirst();
      return row && userOf(row);
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
        return rows.map(userOf);
      }),
    async ensureUser(user) {
      await session.write((db) =>
        db
          .insertInto("users")
          .values({ id: user.id, name: user.name, created_at: user.createdAt })
          .onConflict((conflict) => conflict.column("name").doNothing())
          .execute(),
      );
      return (await userByName(user.name)) ?? user;
    },
    insertToken: (token, accountId) =>
      session.transaction(async (tx) => {
        if (accountId !== undefined && !(await lockedAccount(tx, accountId, session.traits.rowLocks))) return false;
        await tx.insertInto("tokens").values(tokenRow(token)).execute();
        return true;
      }),
    async tokenByHash(hash) {
      const [row] = await session.query(TOKEN_BY_HASH, { hash });
      return row && tokenOf(row);
    },
    tokensByHash: (hashes) =>
      session.read(async (db) => {
        if (hashes.length === 0) return [];
        const rows = await db.selectFrom("tokens").selectAll().where("hash", "in", hashes).execute();
        return rows.map(tokenOf);
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
        return rows.map(tokenOf);
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

function userOf(row: Selectable<UserTable>): User {
  return { id: row.id, name: row.name, createdAt: row.created_at };
}

/** Whether there is such an account; it is not deleted before the transaction ends. */
async function lockedAccount(tx: Kysely<Database>, id: string, rowLocks: boolean): Promise<boolean> {
  const row = await tx
    .selectFrom("accounts")
    .select("id")
    .where("id", "=", id)
    .$if(rowLocks, (query) => query.forShare())
    .executeTakeFirst();
  return row !== undefined;
}

function tokenRow(token: TokenRecord): Selectable<TokenTable> {
  return {
    id: token.id,
    user_id: token.userId,
    label: token.label,
    hash: token.hash,
    demo_instance_id: token.demoInstanceId,
    allowed_prefixes: token.allowedPrefixes && JSON.stringify(token.allowedPrefixes),
    max_calls_per_day: token.maxCallsPerDay,
    scopes: token.scopes && JSON.stringify(token.scopes),
    created_at: token.createdAt,
    expires_at: token.expiresAt,
    revoked_at: token.revokedAt,
    last_used_at: token.lastUsedAt,
  };
}

function tokenOf(row: Selectable<TokenTable>): TokenRecord {
  return {
    id: row.id,
    userId: row.user_id,
    label: row.label,
    hash: row.hash,
    demoInstanceId: row.demo_instance_id,
    allowedPrefixes: row.allowed_prefixes === null ? null : JSON.parse(row.allowed_prefixes),
    maxCallsPerDay: row.max_calls_per_day,
    scopes: row.scopes === null ? null : JSON.parse(row.scopes),
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
    lastUsedAt: row.last_used_at,
  };
}
