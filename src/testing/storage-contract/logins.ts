import type { AccountRecord, CodeRecord, NewAccount, RegistrationResult, SessionRecord } from "../../ports/storage.ts";
import { type Clause, idsOf, type StorageScene } from "./scene.ts";

const DAY_MS = 24 * 60 * 60_000;

/** Accounts, sessions, one-time codes and the audit log. */
export function loginsContract(clause: Clause, lastingClause: Clause): void {
  registrations(clause, lastingClause);
  sessions(clause);
  passwords(clause);
  codes(clause);
  auditLog(clause);
  removal(clause);
}

function registrations(clause: Clause, lastingClause: Clause): void {
  lastingClause("an account is stored with its user and its first session", async (scene) => {
    const wanted = newAccount(scene, "Ana@Example.com");
    const account = accountIn(await scene.storage.logins.register(wanted));
    scene.equal(account, { ...wanted.account, userId: wanted.user.id });
    await scene.reopen();
    const { accounts, logins } = scene.storage;
    scene.equal(await logins.account(account.id), account);
    scene.equal(await logins.account(scene.id("acct")), undefined);
    scene.equal(await logins.sessionByHash(wanted.session.hash), { session: wanted.session, account });
    scene.equal(await accounts.userByName("Ana@Example.com"), wanted.user);
  });

  clause("an address belongs to one account, in upper and lower case", async (scene) => {
    const { logins } = scene.storage;
    const account = accountIn(await logins.register(newAccount(scene, "Ana@Example.com")));
    const second = await logins.register(newAccount(scene, "aNA@example.COM"));
    scene.equal(second, { kind: "email_taken" });
    scene.equal(await logins.accountByEmail("ANA@EXAMPLE.COM"), account);
    scene.equal(await logins.accountByEmail("bob@example.com"), undefined);
    scene.equal(await logins.accounts(), [account]);
  });

  clause("of concurrent registrations of one address, one succeeds", async (scene) => {
    const { logins } = scene.storage;
    const attempts = Array.from({ length: 10 }, (_, i) => newAccount(scene, i % 2 ? "ana@x.org" : "ANA@X.ORG"));
    const results = await Promise.all(attempts.map((attempt) => logins.register(attempt)));
    scene.equal(results.filter(({ kind }) => kind === "registered").length, 1);
    scene.equal(results.filter(({ kind }) => kind === "email_taken").length, 9);
    scene.equal((await logins.accounts()).length, 1);
  });

  clause("of concurrent registrations with one code, one succeeds", async (scene) => {
    const { logins } = scene.storage;
    const code = await storedCode(scene, "invitation");
    const used = { hash: code.hash, purpose: "invitation", now: scene.now() } as const;
    const attempts = Array.from({ length: 10 }, (_, i) => newAccount(scene, `person${i}@example.com`, { code: used }));
    const results = await Promise.all(attempts.map((attempt) => logins.register(attempt)));
    scene.equal(results.filter(({ kind }) => kind === "registered").length, 1);
    scene.equal(results.filter(({ kind }) => kind === "code_invalid").length, 9);
    scene.equal(await logins.codeByHash(code.hash), undefined);
    scene.equal((await logins.accounts()).length, 1);
  });

  clause("of concurrent registrations as the administrator, one succeeds", async (scene) => {
    const { logins } = scene.storage;
    scene.equal(await logins.hasAdmin(), false);
    const attempts = Array.from({ length: 10 }, (_, i) => newAccount(scene, `p${i}@example.com`, { role: "admin" }));
    const results = await Promise.all(attempts.map((attempt) => logins.register(attempt)));
    scene.equal(results.filter(({ kind }) => kind === "registered").length, 1);
    scene.equal(results.filter(({ kind }) => kind === "admin_exists").length, 9);
    scene.equal(await logins.hasAdmin(), true);
    scene.equal((await logins.accounts()).length, 1);
  });

  clause("a refused registration leaves its code as it was", async (scene) => {
    const { logins, accounts } = scene.storage;
    await logins.register(newAccount(scene, "ana@example.com"));
    const code = await storedCode(scene, "invitation");
    const used = { hash: code.hash, purpose: "invitation", now: scene.now() } as const;
    const taken = newAccount(scene, "ana@example.com", { code: used });
    scene.equal(await logins.register(taken), { kind: "email_taken" });
    scene.equal(await logins.codeByHash(code.hash), code);
    scene.equal(await logins.sessionByHash(taken.session.hash), undefined);
    scene.equal((await accounts.users()).length, 1);
  });

  clause("a code is valid for its purpose, until it expires", async (scene) => {
    const { logins } = scene.storage;
    const code = await storedCode(scene, "invitation");
    const wrong = [
      { hash: "0".repeat(64), purpose: "invitation", now: scene.now() },
      { hash: code.hash, purpose: "first", now: scene.now() },
      { hash: code.hash, purpose: "invitation", now: code.expiresAt },
    ] as const;
    for (const used of wrong) {
      const result = await logins.register(newAccount(scene, "ana@example.com", { code: used }));
      scene.equal(result, { kind: "code_invalid" });
    }
    scene.equal(await logins.accounts(), []);
  });

  clause("the administrator takes over the oldest user, and others get one of their own", async (scene) => {
    const { accounts, logins } = scene.storage;
    const oldest = await accounts.ensureUser({ id: scene.id("usr"), name: "admin", createdAt: scene.now() });
    const named = { id: scene.id("usr"), name: "bob@example.com", createdAt: scene.now() };
    await accounts.ensureUser(named);
    const admin = accountIn(await logins.register(newAccount(scene, "ana@example.com", { role: "admin" })));
    scene.equal(admin.userId, oldest.id);
    // What belongs to a user of that name is not handed out to whoever registers with the address.
    const wanted = newAccount(scene, "bob@example.com");
    const bob = accountIn(await logins.register(wanted));
    scene.equal(bob.userId, wanted.user.id);
    scene.equal(await accounts.users(), [oldest, named, { ...wanted.user, name: wanted.user.id }]);
  });

  clause("without users, the administrator gets a new one", async (scene) => {
    const { accounts, logins } = scene.storage;
    const wanted = newAccount(scene, "ana@example.com", { role: "admin" });
    scene.equal(accountIn(await logins.register(wanted)).userId, wanted.user.id);
    scene.equal(await accounts.users(), [wanted.user]);
  });

  clause("accounts are listed oldest first", async (scene) => {
    const { logins } = scene.storage;
    const ids: string[] = [];
    for (const email of ["ana@x.org", "bob@x.org", "eva@x.org"])
      ids.push(accountIn(await logins.register(newAccount(scene, email))).id);
    scene.equal(idsOf(await logins.accounts()), ids);
    scene.equal(idsOf(await logins.accounts(2)), ids.slice(0, 2));
  });
}

function sessions(clause: Clause): void {
  clause("a session has everything that was stored, whatever characters a browser sends", async (scene) => {
    const account = await storedAccount(scene);
    const { logins } = scene.storage;
    const added = session(scene, account.id, { userAgent: "Browser/1.0 \0\ud800" });
    scene.equal(await logins.insertSession(added, account.passwordHash), true);
    scene.equal(await logins.sessionByHash(added.hash), { session: added, account });
    const [first, second] = await logins.sessions(account.id);
    scene.equal(first, added);
    scene.equal(second?.accountId, account.id);
    scene.equal(await logins.sessions(scene.id("acct")), []);
  });

  clause("a session is stored only for the password that is stored", async (scene) => {
    const account = await storedAccount(scene);
    const { logins } = scene.storage;
    const late = session(scene, account.id);
    scene.equal(await logins.insertSession(late, "another hash"), false);
    scene.equal(await logins.insertSession(session(scene, scene.id("acct")), account.passwordHash), false);
    scene.equal(await logins.sessionByHash(late.hash), undefined);
  });

  clause("a use prolongs a session, and an earlier one changes nothing", async (scene) => {
    const account = await storedAccount(scene);
    const { logins } = scene.storage;
    const one = session(scene, account.id);
    await logins.insertSession(one, account.passwordHash);
    const [earlier, later] = [scene.now(), scene.now()];
    await logins.prolongSession(one.id, later, later + DAY_MS);
    await logins.prolongSession(one.id, earlier, earlier + DAY_MS);
    const found = await logins.sessionByHash(one.hash);
    scene.equal(found?.session, { ...one, lastUsedAt: later, expiresAt: later + DAY_MS });
  });

  clause("a session is ended by its own account only", async (scene) => {
    const [ana, bob] = [await storedAccount(scene), await storedAccount(scene, "bob@example.com")];
    const { logins } = scene.storage;
    const [own] = await logins.sessions(ana.id);
    scene.equal(await logins.deleteSession(bob.id, own?.id ?? ""), false);
    scene.equal(await logins.deleteSession(ana.id, own?.id ?? ""), true);
    scene.equal(await logins.deleteSession(ana.id, own?.id ?? ""), false);
    scene.equal(await logins.sessions(ana.id), []);
    scene.equal((await logins.sessions(bob.id)).length, 1);
  });

  clause("expired sessions and codes are deleted, and others stay", async (scene) => {
    const account = await storedAccount(scene);
    const { logins } = scene.storage;
    const old = session(scene, account.id, { expiresAt: scene.now() });
    await logins.insertSession(old, account.passwordHash);
    const oldCode = await storedCode(scene, "invitation", { expiresAt: scene.now() });
    const code = await storedCode(scene, "invitation");
    await logins.forgetExpired(scene.now());
    scene.equal(await logins.sessionByHash(old.hash), undefined);
    scene.equal((await logins.sessions(account.id)).length, 1);
    scene.equal(await logins.codeByHash(oldCode.hash), undefined);
    scene.equal(await logins.codeByHash(code.hash), code);
  });
}

function passwords(clause: Clause): void {
  clause("a new password ends all sessions but the new one", async (scene) => {
    const account = await storedAccount(scene);
    const { logins } = scene.storage;
    await storedCode(scene, "reset", { accountId: account.id });
    const next = session(scene, account.id);
    const { passwordHash } = account;
    scene.equal(await logins.changePassword(next, "next hash", { passwordHash: "another hash" }), false);
    scene.equal(await logins.sessionByHash(next.hash), undefined);
    scene.equal(await logins.changePassword(next, "next hash", { passwordHash }), true);
    const changed = { ...account, passwordHash: "next hash" };
    scene.equal(await logins.account(account.id), changed);
    scene.equal(await logins.sessions(account.id), [next]);
    scene.equal(await logins.sessionByHash(next.hash), { session: next, account: changed });
  });

  clause("of concurrent resets with one code, one succeeds", async (scene) => {
    const account = await storedAccount(scene);
    const { logins } = scene.storage;
    const code = await storedCode(scene, "reset", { accountId: account.id });
    const used = { hash: code.hash, purpose: "reset", now: scene.now() } as const;
    const attempts = Array.from({ length: 10 }, () => session(scene, account.id));
    const results = await Promise.all(attempts.map((next, i) => logins.changePassword(next, `hash ${i}`, used)));
    scene.equal(results.filter(Boolean).length, 1);
    const winner = results.indexOf(true);
    scene.equal((await logins.account(account.id))?.passwordHash, `hash ${winner}`);
    scene.equal(await logins.sessions(account.id), [attempts[winner]]);
  });

  clause("a code sets the password of its own account only", async (scene) => {
    const [ana, bob] = [await storedAccount(scene), await storedAccount(scene, "bob@example.com")];
    const { logins } = scene.storage;
    const code = await storedCode(scene, "reset", { accountId: ana.id });
    const used = { hash: code.hash, purpose: "reset", now: scene.now() } as const;
    scene.equal(await logins.changePassword(session(scene, bob.id), "next hash", used), false);
    scene.equal(await logins.account(bob.id), bob);
    scene.equal(await logins.codeByHash(code.hash), code);
  });

  clause("a hash is replaced only by one of the same password", async (scene) => {
    const account = await storedAccount(scene);
    const { logins } = scene.storage;
    await logins.rehash(account.id, "another hash", "stronger hash");
    scene.equal(await logins.account(account.id), account);
    await logins.rehash(account.id, account.passwordHash, "stronger hash");
    scene.equal(await logins.account(account.id), { ...account, passwordHash: "stronger hash" });
    scene.equal((await logins.sessions(account.id)).length, 1);
  });
}

function codes(clause: Clause): void {
  clause("a code of the first start replaces the one before, until there is an administrator", async (scene) => {
    const { logins } = scene.storage;
    const before = await storedCode(scene, "first");
    const code = await storedCode(scene, "first");
    scene.equal(await logins.codeByHash(before.hash), undefined);
    scene.equal(await logins.codeByHash(code.hash), code);
    const used = { hash: code.hash, purpose: "first", now: scene.now() } as const;
    const admin = newAccount(scene, "ana@example.com", { role: "admin", code: used });
    scene.equal((await logins.register(admin)).kind, "registered");
    scene.equal(await logins.codeByHash(code.hash), undefined);
    scene.equal(await logins.insertCode(codeRecord(scene, "first")), false);
  });

  clause("many codes of the first start at once leave one", async (scene) => {
    const { logins } = scene.storage;
    const made = Array.from({ length: 10 }, () => codeRecord(scene, "first"));
    scene.equal(
      await Promise.all(made.map((code) => logins.insertCode(code))),
      made.map(() => true),
    );
    const found = await Promise.all(made.map(({ hash }) => logins.codeByHash(hash)));
    scene.equal(found.filter((code) => code !== undefined).length, 1);
  });

  clause("a code for a reset replaces the one before of the same account", async (scene) => {
    const [ana, bob] = [await storedAccount(scene), await storedAccount(scene, "bob@example.com")];
    const { logins } = scene.storage;
    const before = await storedCode(scene, "reset", { accountId: ana.id });
    const others = await storedCode(scene, "reset", { accountId: bob.id });
    const code = await storedCode(scene, "reset", { accountId: ana.id });
    scene.equal(await logins.codeByHash(before.hash), undefined);
    scene.equal(await logins.codeByHash(others.hash), others);
    scene.equal(await logins.codeByHash(code.hash), code);
  });

  clause("invitations are listed newest first, and withdrawn once", async (scene) => {
    const { logins } = scene.storage;
    const account = await storedAccount(scene);
    const [first, second] = [await storedCode(scene, "invitation"), await storedCode(scene, "invitation")];
    const reset = await storedCode(scene, "reset", { accountId: account.id });
    scene.equal(await logins.invitations(), [second, first]);
    scene.equal(await logins.deleteInvitation(first.id), true);
    scene.equal(await logins.deleteInvitation(first.id), false);
    scene.equal(await logins.deleteInvitation(reset.id), false);
    scene.equal(await logins.invitations(), [second]);
  });
}

function auditLog(clause: Clause): void {
  clause("the audit log is read newest first, of everybody or of one account", async (scene) => {
    const { logins } = scene.storage;
    const ana = scene.id("acct");
    const made = Array.from({ length: 5 }, (_, i) => ({
      id: scene.id("aud"),
      at: scene.now(),
      accountId: i % 2 ? ana : null,
      email: i % 2 ? "ana@example.com" : null,
      action: "token.revoked",
      subject: i === 0 ? null : `subject \0 ${i}`,
    }));
    for (const entry of made) await logins.note(entry, 0);
    const newest = made.toReversed();
    scene.equal(await logins.audit({}, { limit: 10 }), newest);
    scene.equal(await logins.audit({}, { limit: 2, after: newest[1]?.id }), newest.slice(2, 4));
    scene.equal(await logins.audit({ accountId: ana }, { limit: 10 }), [made[3], made[1]]);
  });

  clause("entries of the audit log are kept for a time", async (scene) => {
    const { logins } = scene.storage;
    const entry = () => ({ accountId: null, email: null, action: "account.registered", subject: null });
    const old = { id: scene.id("aud"), at: scene.now(), ...entry() };
    const kept = { id: scene.id("aud"), at: scene.now(), ...entry() };
    const last = { id: scene.id("aud"), at: scene.now(), ...entry() };
    await logins.note(old, 0);
    await logins.note(kept, 0);
    await logins.note(last, kept.at);
    scene.equal(await logins.audit({}, { limit: 10 }), [last, kept]);
  });
}

function removal(clause: Clause): void {
  clause("a forgotten user keeps nothing, and others keep everything", async (scene) => {
    const { accounts, instances, logins, receipts, events } = scene.storage;
    const erased = await scene.storedInstance({ status: "DELETED", erasedAt: scene.now() });
    const other = await scene.storedInstance({ userId: scene.id("usr"), status: "DELETED", erasedAt: scene.now() });
    for (const instance of [erased, other])
      await events.append(Array.from({ length: 5 }, () => scene.event("instance.created", instance)));
    const tokens = [erased, other].map(({ userId }) => ({ ...tokenFields(scene), userId }));
    for (const token of tokens) await accounts.insertToken(token);
    await receipts.begin(scene.key("order 66"), "fingerprint", scene.now(), 0);
    await receipts.finish({ ...scene.key("order 66"), result: "{}" });
    while (await logins.forgetUser(scene.userId, 2));
    scene.equal(await instances.get(erased.id), undefined);
    scene.equal(await scene.log(), []);
    scene.equal(await accounts.tokens(), [tokens[1]]);
    scene.equal(await receipts.begin(scene.key("order 66"), "another", scene.now(), 0), { kind: "begun" });
    scene.equal((await instances.get(other.id))?.id, other.id);
    scene.equal((await scene.log(other.userId)).length, 5);
  });

  clause("an instance that is not deleted yet is not forgotten", async (scene) => {
    const { instances, logins } = scene.storage;
    const kept = [await scene.storedInstance(), await scene.storedInstance({ status: "DELETED" })];
    while (await logins.forgetUser(scene.userId, 2));
    for (const { id } of kept) scene.equal((await instances.get(id))?.id, id);
  });

  clause("a deleted account leaves its user without a name, and its entries in the audit log", async (scene) => {
    const { accounts, logins } = scene.storage;
    const account = await storedAccount(scene);
    const bob = await storedAccount(scene, "bob@example.com");
    const [own] = await logins.sessions(account.id);
    const code = await storedCode(scene, "reset", { accountId: account.id });
    const entry = { id: scene.id("aud"), at: scene.now(), action: "account.registered", subject: null };
    await logins.note({ ...entry, accountId: account.id, email: account.email }, 0);
    await logins.deleteAccount(account.id);
    await logins.deleteAccount(account.id);
    scene.equal(await logins.account(account.id), undefined);
    scene.equal(await logins.sessionByHash(own?.hash ?? ""), undefined);
    scene.equal(await logins.codeByHash(code.hash), undefined);
    const users = await accounts.users();
    scene.equal(
      users.map(({ name }) => name),
      [account.userId, "bob@example.com"],
    );
    scene.equal((await logins.audit({}, { limit: 10 })).length, 1);
    scene.equal(await logins.accounts(), [bob]);
    // The address is free again, and its next owner gets another user.
    const next = accountIn(await logins.register(newAccount(scene, account.email)));
    scene.equal(next.userId === account.userId, false);
  });
}

function newAccount(
  scene: StorageScene,
  email: string,
  { role = "member", code }: { role?: AccountRecord["role"]; code?: NewAccount["code"] } = {},
): NewAccount {
  const id = scene.id("acct");
  return {
    account: { id, email, passwordHash: `hash of ${id}`, role, createdAt: scene.now() },
    session: session(scene, id),
    user: { id: scene.id("usr"), name: email, createdAt: scene.now() },
    code,
  };
}

function session(scene: StorageScene, accountId: string, patch: Partial<SessionRecord> = {}): SessionRecord {
  const id = scene.id("ses");
  const createdAt = scene.now();
  return {
    id,
    accountId,
    hash: id.padEnd(64, "0"),
    createdAt,
    lastUsedAt: createdAt,
    expiresAt: createdAt + DAY_MS,
    userAgent: null,
    ...patch,
  };
}

function codeRecord(scene: StorageScene, purpose: CodeRecord["purpose"], patch: Partial<CodeRecord> = {}): CodeRecord {
  const id = scene.id("code");
  const createdAt = scene.now();
  const hash = id.padEnd(64, "0");
  return { id, purpose, hash, accountId: null, createdAt, expiresAt: createdAt + DAY_MS, ...patch };
}

async function storedCode(
  scene: StorageScene,
  purpose: CodeRecord["purpose"],
  patch: Partial<CodeRecord> = {},
): Promise<CodeRecord> {
  const code = codeRecord(scene, purpose, patch);
  scene.equal(await scene.storage.logins.insertCode(code), true);
  return code;
}

async function storedAccount(scene: StorageScene, email = "ana@example.com"): Promise<AccountRecord> {
  return accountIn(await scene.storage.logins.register(newAccount(scene, email)));
}

function accountIn(result: RegistrationResult): AccountRecord {
  if (result.kind !== "registered") throw new Error(`the account was not stored: ${result.kind}`);
  return result.account;
}

function tokenFields(scene: StorageScene) {
  const id = scene.id("tok");
  return {
    id,
    label: "laptop",
    hash: id.padEnd(64, "0"),
    demoInstanceId: null,
    allowedPrefixes: null,
    maxCallsPerDay: null,
    scopes: null,
    createdAt: scene.now(),
    expiresAt: null,
    revokedAt: null,
    lastUsedAt: null,
  };
}
