import type { AccountStore } from "ringport";
import { byDescendingId, type Memory, oldestFirst } from "./memory.ts";

/** Users and tokens. */
export function accounts({ users, tokens, loginAccounts }: Memory): AccountStore {
  return {
    async ensureUser(user) {
      if (!users.has(user.name)) users.set(user.name, user);
      return users.get(user.name) ?? user;
    },
    userByName: async (name) => users.get(name),
    users: async (limit) => oldestFirst([...users.values()], { limit }),
    async insertToken(token, account) {
      const own = [...tokens.values()].filter(({ userId }) => userId === token.userId);
      const revoked = own.filter(({ revokedAt }) => revokedAt !== null);
      if (account && !loginAccounts.has(account.id)) return "account_deleted";
      if (account && own.length - revoked.length >= account.most) return "at_limit";
      if (tokens.has(token.hash)) throw new Error("a hash belongs to one token");
      if (account) for (const old of byDescendingId(revoked).slice(account.most)) tokens.delete(old.hash);
      tokens.set(token.hash, token);
      return "inserted";
    },
    tokenByHash: async (hash) => tokens.get(hash),
    tokensByHash: async (hashes) => [...tokens.values()].filter(({ hash }) => hashes.includes(hash)),
    tokens: async (userId) =>
      oldestFirst([...tokens.values()], {}).filter((token) => userId === undefined || token.userId === userId),
    async revokeToken(id, at) {
      const token = [...tokens.values()].find((one) => one.id === id);
      if (!token || token.revokedAt !== null) return false;
      tokens.set(token.hash, { ...token, revokedAt: at });
      return true;
    },
    async markUsed(id, at) {
      const token = [...tokens.values()].find((one) => one.id === id);
      if (token && (token.lastUsedAt ?? 0) < at) tokens.set(token.hash, { ...token, lastUsedAt: at });
    },
  };
}
