import type { CodeRecord, LoginStore, UsedCode, User } from "ringport";
import { byDescendingId, type Memory, oldestFirst } from "./memory.ts";

/** Accounts, their sessions, one-time codes, and the audit log. */
export function logins(memory: Memory): LoginStore {
  const { users, loginAccounts: accounts, sessions, codes, leaving } = memory;
  const all = () => [...accounts.values()];
  const withEmail = (email: string) => all().find((one) => one.email.toLowerCase() === email.toLowerCase());
  const admin = () => all().find(({ role }) => role === "admin");
  const sessionsOf = (accountId: string) => [...sessions.values()].filter((one) => one.accountId === accountId);
  const codeWith = (hash: string) => [...codes.values()].find((code) => code.hash === hash);
  const invitations = () => [...codes.values()].filter(({ purpose }) => purpose === "invitation");
  const valid = ({ hash, purpose, now }: UsedCode): CodeRecord | undefined => {
    const code = codeWith(hash);
    return code?.purpose === purpose && code.expiresAt > now ? code : undefined;
  };
  const ownerOf = (user: User, takesOver: string | undefined): string => {
    const free = [...users.values()].filter(({ id }) => !all().some(({ userId }) => userId === id));
    const [old] = oldestFirst(free, {}).filter(({ id, name }) => name === takesOver || name === id);
    if (takesOver !== undefined && old) return old.id;
    const name = users.has(user.name) ? user.id : user.name;
    users.set(name, { ...user, name });
    return user.id;
  };

  return {
    async register({ account, session, user, takesOver, code }) {
      const used = code && valid(code);
      if (code && !used) return { kind: "code_invalid" };
      if (withEmail(account.email)) return { kind: "email_taken" };
      if (account.role === "admin" && admin()) return { kind: "admin_exists" };
      if (leaving.has(admin()?.id ?? "")) return { kind: "admin_leaving" };
      const stored = { ...account, userId: ownerOf(user, takesOver) };
      accounts.set(stored.id, stored);
      sessions.set(session.id, session);
      if (used) codes.delete(used.id);
      return { kind: "registered", account: stored };
    },
    hasAdmin: async () => admin() !== undefined,
    account: async (id) => accounts.get(id),
    accountByEmail: async (email) => withEmail(email),
    accounts: async (limit) => oldestFirst(all(), { limit }),
    async rehash(accountId, from, to) {
      const account = accounts.get(accountId);
      if (account?.passwordHash === from) accounts.set(accountId, { ...account, passwordHash: to });
    },
    async changePassword(session, passwordHash, allowed) {
      const account = accounts.get(session.accountId);
      const isAllowed =
        "hash" in allowed
          ? valid(allowed)?.accountId === session.accountId
          : account?.passwordHash === allowed.passwordHash;
      if (!account || !isAllowed) return false;
      accounts.set(account.id, { ...account, passwordHash });
      for (const { id } of sessionsOf(account.id)) sessions.delete(id);
      for (const code of codes.values())
        if (code.purpose === "reset" && code.accountId === account.id) codes.delete(code.id);
      sessions.set(session.id, session);
      return true;
    },
    async insertSession(session, passwordHash, most) {
      if (accounts.get(session.accountId)?.passwordHash !== passwordHash) return false;
      for (const { id } of byDescendingId(sessionsOf(session.accountId)).slice(most - 1)) sessions.delete(id);
      sessions.set(session.id, session);
      return true;
    },
    async sessionByHash(hash) {
      const session = [...sessions.values()].find((one) => one.hash === hash);
      const account = session && accounts.get(session.accountId);
      return session && account && { session, account };
    },
    sessions: async (accountId) => byDescendingId(sessionsOf(accountId)),
    async prolongSession(id, lastUsedAt, expiresAt) {
      const session = sessions.get(id);
      if (session && session.lastUsedAt < lastUsedAt) sessions.set(id, { ...session, lastUsedAt, expiresAt });
    },
    deleteSession: async (accountId, id) => sessions.get(id)?.accountId === accountId && sessions.delete(id),
    async insertCode(code, most) {
      if (code.purpose === "first" && admin()) return false;
      const open = invitations().filter(({ expiresAt }) => expiresAt > code.createdAt);
      if (code.purpose === "invitation" && open.length >= most) return false;
      for (const { id, purpose, accountId } of codes.values())
        if (purpose === code.purpose && purpose !== "invitation" && accountId === code.accountId) codes.delete(id);
      codes.set(code.id, code);
      return true;
    },
    codeByHash: async (hash) => codeWith(hash),
    invitations: async () => byDescendingId(invitations()),
    deleteInvitation: async (id) => codes.get(id)?.purpose === "invitation" && codes.delete(id),
    async forgetExpired(before) {
      for (const records of [sessions, codes])
        for (const { id, expiresAt } of records.values()) if (expiresAt < before) records.delete(id);
    },
    async note(entry, keptSince, most) {
      const own = memory.audit.filter(({ accountId }) => accountId !== null && accountId === entry.accountId);
      const old = new Set(byDescendingId(own).slice(most - 1));
      memory.audit = [...memory.audit.filter((one) => !old.has(one)), entry].filter(({ at }) => at >= keptSince);
    },
    audit: async ({ accountId }, { limit, after = "~" }) =>
      byDescendingId(memory.audit)
        .filter((entry) => entry.id < after && (accountId === undefined || entry.accountId === accountId))
        .slice(0, limit),
    async beginRemoval(id) {
      const account = accounts.get(id);
      if (!account) return "deleted";
      if (account.role === "admin" && accounts.size > 1) return "last_admin";
      leaving.add(id);
      return "begun";
    },
    async forgetUser(userId) {
      memory.forgetUser(userId);
      return false;
    },
    async deleteAccount(id) {
      const account = accounts.get(id);
      if (!account) return "deleted";
      if (memory.hasAnythingOf(account.userId)) return "not_empty";
      const user = [...users.values()].find((one) => one.id === account.userId);
      memory.forgetUser(account.userId);
      accounts.delete(id);
      leaving.delete(id);
      for (const session of sessionsOf(id)) sessions.delete(session.id);
      for (const code of codes.values()) if (code.accountId === id) codes.delete(code.id);
      if (user) {
        users.delete(user.name);
        users.set(user.id, { ...user, name: user.id });
      }
      return "deleted";
    },
  };
}
