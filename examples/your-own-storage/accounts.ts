import type { AccountStore } from "ringport";
import { type Memory, oldestFirst } from "./memory.ts";

/** Users and tokens. */
export function accounts({ users, tokens, loginAccounts }: Memory): AccountStore {
  return {
    async ensureUser(user) {
      if (!users.has(user.name)) users.set(user.name, user);
      return users.get(user.name) ?? user;
    },
    userByName: async (name) => users.get(name),
    users: async (limit) => oldestFirst([...users.values()], { limit }),
    async insertToken(token, accountId) {
      if (accountId !== undefined && !loginAccounts.has(accountId)) return false;
      if (tokens.has(token.hash)) throw new Error("a hash belongs to one token");
      tokens.set(token.hash, token);
      return true;
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
