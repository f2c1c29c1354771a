import type { SessionRecord } from "../../../ports/storage.ts";
import type { Clause } from "../scene.ts";
import { loginSession, storedAccount, storedCode } from "./login-records.ts";

const DAY_MS = 24 * 60 * 60_000;
const MAX_SESSIONS = 100;

/** Sessions of browsers, and passwords. */
export function sessionsContract(clause: Clause): void {
  sessions(clause);
  passwords(clause);
}

function sessions(clause: Clause): void {
  clause("a session is read back unchanged, whatever characters a browser sends", async (scene) => {
    const account = await storedAccount(scene);
    const { logins } = scene.storage;
    const addedSession = loginSession(scene, account.id, { userAgent: "Browser/1.0 \0\ud800" });
    scene.equal(await logins.insertSession(addedSession, account.passwordHash, MAX_SESSIONS), true);
    scene.equal(await logins.sessionByHash(addedSession.hash), { session: addedSession, account });
    const [first, second] = await logins.sessions(account.id);
    scene.equal(first, addedSession);
    scene.equal(second?.accountId, account.id);
    scene.equal(await logins.sessions(scene.id("acct")), []);
  });

  clause("a session is stored only for the current password", async (scene) => {
    const account = await storedAccount(scene);
    const { logins } = scene.storage;
    const lateSession = loginSession(scene, account.id);
    scene.equal(await logins.insertSession(lateSession, "another hash", MAX_SESSIONS), false);
    scene.equal(
      await logins.insertSession(loginSession(scene, scene.id("acct")), account.passwordHash, MAX_SESSIONS),
      false,
    );
    scene.equal(await logins.sessionByHash(lateSession.hash), undefined);
  });

  clause("a use prolongs a session, and an earlier use changes nothing", async (scene) => {
    const account = await storedAccount(scene);
    const { logins } = scene.storage;
    const session = loginSession(scene, account.id);
    await logins.insertSession(session, account.passwordHash, MAX_SESSIONS);
    const [earlier, later] = [scene.now(), scene.now()];
    await logins.prolongSession(session.id, later, later + DAY_MS);
    await logins.prolongSession(session.id, earlier, earlier + DAY_MS);
    const login = await logins.sessionByHash(session.hash);
    scene.equal(login?.session, { ...session, lastUsedAt: later, expiresAt: later + DAY_MS });
  });

  clause("a session can be ended only by its own account", async (scene) => {
    const [ana, bob] = [await storedAccount(scene), await storedAccount(scene, "bob@example.com")];
    const { logins } = scene.storage;
    const [ownSession] = await logins.sessions(ana.id);
    scene.equal(await logins.deleteSession(bob.id, ownSession?.id ?? ""), false);
    scene.equal(await logins.deleteSession(ana.id, ownSession?.id ?? ""), true);
    scene.equal(await logins.deleteSession(ana.id, ownSession?.id ?? ""), false);
    scene.equal(await logins.sessions(ana.id), []);
    scene.equal((await logins.sessions(bob.id)).length, 1);
  });

  clause("a sign-in beyond the limit ends the oldest sessions of its account", async (scene) => {
    const [ana, bob] = [await storedAccount(scene), await storedAccount(scene, "bob@example.com")];
    const { logins } = scene.storage;
    const addedSessions = [1, 2, 3, 4].map(() => loginSession(scene, ana.id));
    for (const session of addedSessions.slice(0, 3))
      scene.equal(await logins.insertSession(session, ana.passwordHash, 3), true);
    scene.equal(await logins.sessions(ana.id), addedSessions.slice(0, 3).toReversed());
    scene.equal(await logins.insertSession(addedSessions[3] as SessionRecord, ana.passwordHash, 2), true);
    scene.equal(await logins.sessions(ana.id), addedSessions.slice(2).toReversed());
    scene.equal((await logins.sessions(bob.id)).length, 1);
  });

  clause("a newer session is kept even if older sessions have higher ids", async (scene) => {
    const account = await storedAccount(scene);
    const { logins } = scene.storage;
    const lowestSession = loginSession(scene, account.id);
    for (const session of [loginSession(scene, account.id), loginSession(scene, account.id), lowestSession])
      scene.equal(await logins.insertSession(session, account.passwordHash, 2), true);
    scene.equal((await logins.sessions(account.id)).length, 2);
    scene.equal((await logins.sessionByHash(lowestSession.hash))?.session, lowestSession);
  });

  clause("concurrent sign-ins leave as many sessions as the limit allows", async (scene) => {
    const account = await storedAccount(scene);
    const { logins } = scene.storage;
    const addedSessions = Array.from({ length: 20 }, () => loginSession(scene, account.id));
    await Promise.all(addedSessions.map((session) => logins.insertSession(session, account.passwordHash, 3)));
    scene.equal((await logins.sessions(account.id)).length, 3);
  });

  clause("only expired sessions and codes are deleted", async (scene) => {
    const account = await storedAccount(scene);
    const { logins } = scene.storage;
    const oldSession = loginSession(scene, account.id, { expiresAt: scene.now() });
    await logins.insertSession(oldSession, account.passwordHash, MAX_SESSIONS);
    const oldCode = await storedCode(scene, "invitation", { expiresAt: scene.now() });
    const code = await storedCode(scene, "invitation");
    await logins.forgetExpired(scene.now());
    scene.equal(await logins.sessionByHash(oldSession.hash), undefined);
    scene.equal((await logins.sessions(account.id)).length, 1);
    scene.equal(await logins.codeByHash(oldCode.hash), undefined);
    scene.equal(await logins.codeByHash(code.hash), code);
  });
}

function passwords(clause: Clause): void {
  clause("a new password ends all other sessions", async (scene) => {
    const account = await storedAccount(scene);
    const { logins } = scene.storage;
    await storedCode(scene, "reset", { accountId: account.id });
    const next = loginSession(scene, account.id);
    const { passwordHash } = account;
    scene.equal(await logins.changePassword(next, "next hash", { passwordHash: "another hash" }), false);
    scene.equal(await logins.sessionByHash(next.hash), undefined);
    scene.equal(await logins.changePassword(next, "next hash", { passwordHash }), true);
    const changedAccount = { ...account, passwordHash: "next hash" };
    scene.equal(await logins.account(account.id), changedAccount);
    scene.equal(await logins.sessions(account.id), [next]);
    scene.equal(await logins.sessionByHash(next.hash), { session: next, account: changedAccount });
  });

  clause("of concurrent resets with one code, one succeeds", async (scene) => {
    const account = await storedAccount(scene);
    const { logins } = scene.storage;
    const code = await storedCode(scene, "reset", { accountId: account.id });
    const usedCode = { hash: code.hash, purpose: "reset", now: scene.now() } as const;
    const attempts = Array.from({ length: 10 }, () => loginSession(scene, account.id));
    const results = await Promise.all(attempts.map((next, i) => logins.changePassword(next, `hash ${i}`, usedCode)));
    scene.equal(results.filter(Boolean).length, 1);
    const winner = results.indexOf(true);
    scene.equal((await logins.account(account.id))?.passwordHash, `hash ${winner}`);
    scene.equal(await logins.sessions(account.id), [attempts[winner]]);
  });

  clause("a code resets only its own account's password", async (scene) => {
    const [ana, bob] = [await storedAccount(scene), await storedAccount(scene, "bob@example.com")];
    const { logins } = scene.storage;
    const code = await storedCode(scene, "reset", { accountId: ana.id });
    const usedCode = { hash: code.hash, purpose: "reset", now: scene.now() } as const;
    scene.equal(await logins.changePassword(loginSession(scene, bob.id), "next hash", usedCode), false);
    scene.equal(await logins.account(bob.id), bob);
    scene.equal(await logins.codeByHash(code.hash), code);
  });

  clause("a hash is replaced only by another hash of the same password", async (scene) => {
    const account = await storedAccount(scene);
    const { logins } = scene.storage;
    await logins.rehash(account.id, "another hash", "stronger hash");
    scene.equal(await logins.account(account.id), account);
    await logins.rehash(account.id, account.passwordHash, "stronger hash");
    scene.equal(await logins.account(account.id), { ...account, passwordHash: "stronger hash" });
    scene.equal((await logins.sessions(account.id)).length, 1);
  });
}
