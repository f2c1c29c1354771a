import type { Kysely, Selectable } from "kysely";
import type { AccountRecord, SessionRecord } from "../../src/ports/storage.ts";
import { IS_ADMIN } from "./conditions.ts";
import type { AccountSessionTable, AccountTable, Database } from "./schema.ts";

/** Whether there is an administrator. */
export async function hasAdmin(db: Kysely<Database>): Promise<boolean> {
  return (await db.selectFrom("accounts").select("id").where(IS_ADMIN).executeTakeFirst()) !== undefined;
}

/** An account as the port has it. */
export function accountOf(row: Omit<Selectable<AccountTable>, "email_key" | "removal_begun_at">): AccountRecord {
  return {
    id: row.id,
    userId: row.user_id,
    email: row.email,
    passwordHash: row.password_hash,
    role: row.role,
    createdAt: row.created_at,
  };
}

/** A session as it is stored. A text of a browser may have characters that PostgreSQL does not store. */
export function sessionRow(session: SessionRecord): Selectable<AccountSessionTable> {
  return {
    id: session.id,
    account_id: session.accountId,
    hash: session.hash,
    created_at: session.createdAt,
    last_used_at: session.lastUsedAt,
    expires_at: session.expiresAt,
    user_agent: session.userAgent === null ? null : JSON.stringify(session.userAgent),
  };
}

/** A session as the port has it. */
export function sessionOf(row: Selectable<AccountSessionTable>): SessionRecord {
  return {
    id: row.id,
    accountId: row.account_id,
    hash: row.hash,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
    expiresAt: row.expires_at,
    userAgent: row.user_agent === null ? null : JSON.parse(row.user_agent),
  };
}
