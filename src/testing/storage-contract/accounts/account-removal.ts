import type { Clause } from "../scene.ts";
import { tokenRecord } from "../scene.ts";
import { webhook } from "../webhooks.ts";
import { accountIn, newAccount, storedAccount, storedCode } from "./login-records.ts";

const MAX_ENTRIES = 100;

/** The audit log, and the records that a deleted account and its user leave behind. */
export function accountRemovalContract(clause: Clause): void {
  auditLog(clause);
  removal(clause);
  unfinishedRemoval(clause);
}

function auditLog(clause: Clause): void {
  clause("the audit log of one account or of all accounts is read newest first", async (scene) => {
    const { logins } = scene.storage;
    const ana = scene.id("acct");
    const entries = Array.from({ length: 5 }, (_, i) => ({
      id: scene.id("aud"),
      at: scene.now(),
      accountId: i % 2 ? ana : null,
      email: i % 2 ? "ana@example.com" : null,
      action: "token.revoked",
      subject: i === 0 ? null : `subject \0 ${i}`,
    }));
    for (const entry of entries) await logins.note(entry, 0, MAX_ENTRIES);
    const newestFirst = entries.toReversed();
    scene.equal(await logins.audit({}, { limit: 10 }), newestFirst);
    scene.equal(await logins.audit({}, { limit: 2, after: newestFirst[1]?.id }), newestFirst.slice(2, 4));
    scene.equal(await logins.audit({ accountId: ana }, { limit: 10 }), [entries[3], entries[1]]);
  });

  clause("a new audit log entry deletes entries from before a given time", async (scene) => {
    const { logins } = scene.storage;
    const entry = () => ({ accountId: null, email: null, action: "account.registered", subject: null });
    const oldEntry = { id: scene.id("aud"), at: scene.now(), ...entry() };
    const keptEntry = { id: scene.id("aud"), at: scene.now(), ...entry() };
    const lastEntry = { id: scene.id("aud"), at: scene.now(), ...entry() };
    await logins.note(oldEntry, 0, MAX_ENTRIES);
    await logins.note(keptEntry, 0, MAX_ENTRIES);
    await logins.note(lastEntry, keptEntry.at, MAX_ENTRIES);
    scene.equal(await logins.audit({}, { limit: 10 }), [lastEntry, keptEntry]);
  });

  clause("an entry beyond its account's limit deletes that account's oldest entries", async (scene) => {
    const { logins } = scene.storage;
    const [ana, bob] = [scene.id("acct"), scene.id("acct")];
    const note = async (accountId: string | null, limit: number) => {
      const fields = { accountId, email: null, action: "token.revoked", subject: null };
      const entry = { id: scene.id("aud"), at: scene.now(), ...fields };
      await logins.note(entry, 0, limit);
      return entry;
    };
    const otherEntries = [await note(bob, 3), await note(null, 1), await note(null, 1)];
    const anaEntries = [await note(ana, 3), await note(ana, 3), await note(ana, 3)];
    scene.equal(await logins.audit({}, { limit: 10 }), [...otherEntries, ...anaEntries].toReversed());
    const lastEntry = await note(ana, 2);
    scene.equal(await logins.audit({}, { limit: 10 }), [lastEntry, anaEntries[2], ...otherEntries.toReversed()]);
  });
}

function removal(clause: Clause): void {
  clause("a forgotten user leaves no records, and other users keep theirs", async (scene) => {
    const { accounts, instances, logins, receipts, events } = scene.storage;
    const erasedInstance = await scene.storedInstance({ status: "DELETED", erasedAt: scene.now() });
    const otherInstance = await scene.storedInstance({
      userId: scene.id("usr"),
      status: "DELETED",
      erasedAt: scene.now(),
    });
    for (const instance of [erasedInstance, otherInstance])
      await events.append(Array.from({ length: 5 }, () => scene.event("instance.created", instance)));
    const tokens = [erasedInstance, otherInstance].map(({ userId }) => tokenRecord(scene, { userId }));
    for (const token of tokens) await accounts.insertToken(token);
    const receipt = { ...scene.key("order 66"), fingerprint: "body", begunAt: scene.now(), expiredBefore: 0 };
    await instances.insert(scene.instance({ status: "DELETED", erasedAt: scene.now() }), [], receipt);
    while (await logins.forgetUser(scene.userId, 2));
    scene.equal(await instances.get(erasedInstance.id), undefined);
    scene.equal(await scene.log(), []);
    scene.equal(await accounts.tokens(), [tokens[1]]);
    scene.equal(await receipts.find(receipt, 0), undefined);
    scene.equal((await instances.get(otherInstance.id))?.id, otherInstance.id);
    scene.equal((await scene.log(otherInstance.userId)).length, 5);
  });

  clause("an instance is not forgotten before its deletion", async (scene) => {
    const { instances, logins } = scene.storage;
    const instanceRecords = [await scene.storedInstance(), await scene.storedInstance({ status: "DELETED" })];
    while (await logins.forgetUser(scene.userId, 2));
    for (const { id } of instanceRecords) scene.equal((await instances.get(id))?.id, id);
  });

  clause("deleting an account removes its user's name, but keeps the user and the audit log", async (scene) => {
    const { accounts, logins } = scene.storage;
    const account = await storedAccount(scene);
    const bob = await storedAccount(scene, "bob@example.com");
    const [session] = await logins.sessions(account.id);
    const code = await storedCode(scene, "reset", { accountId: account.id });
    const entry = { id: scene.id("aud"), at: scene.now(), action: "account.registered", subject: null };
    await logins.note({ ...entry, accountId: account.id, email: account.email }, 0, MAX_ENTRIES);
    for (let i = 0; i < 2; i++) scene.equal(await logins.deleteAccount(account.id), "deleted");
    scene.equal(await logins.account(account.id), undefined);
    scene.equal(await logins.sessionByHash(session?.hash ?? ""), undefined);
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

function unfinishedRemoval(clause: Clause): void {
  clause("an account whose user has records is kept", async (scene) => {
    const { accounts, instances, logins, webhooks } = scene.storage;
    const { id, userId } = await storedAccount(scene);
    const token = tokenRecord(scene, { userId });
    await accounts.insertToken(token);
    scene.equal(await logins.deleteAccount(id), "not_empty");
    while (await logins.forgetUser(userId, 2));
    const hook = await webhooks.insert(webhook(scene, { userId }), 1);
    scene.equal(await logins.deleteAccount(id), "not_empty");
    await webhooks.delete(hook?.id ?? "");
    const instance = await scene.storedInstance({ userId, status: "DELETED" });
    scene.equal(await logins.deleteAccount(id), "not_empty");
    scene.equal((await logins.account(id))?.id, id);
    scene.equal((await logins.sessions(id)).length, 1);
    scene.equal((await instances.get(instance.id))?.id, instance.id);
  });

  clause("the administrator's account is kept while others have accounts", async (scene) => {
    const { logins } = scene.storage;
    const admin = accountIn(await logins.register(newAccount(scene, "ana@example.com", { role: "admin" })));
    const bob = await storedAccount(scene, "bob@example.com");
    scene.equal(await logins.beginRemoval(admin.id, scene.now()), "last_admin");
    scene.equal((await logins.sessions(admin.id)).length, 1);
    const other = accountIn(await logins.register(newAccount(scene, "eva@example.com")));
    for (const { id } of [bob, other, admin]) {
      scene.equal(await logins.beginRemoval(id, scene.now()), "begun");
      scene.equal(await logins.deleteAccount(id), "deleted");
      scene.equal(await logins.beginRemoval(id, scene.now()), "deleted");
    }
    scene.equal(await logins.accounts(), []);
  });

  clause("registration ends once the administrator's removal has begun", async (scene) => {
    const { accounts, logins } = scene.storage;
    const admin = accountIn(await logins.register(newAccount(scene, "ana@example.com", { role: "admin" })));
    const code = await storedCode(scene, "invitation", { accountId: admin.id });
    for (let i = 0; i < 2; i++) scene.equal(await logins.beginRemoval(admin.id, scene.now()), "begun");
    const lateAccount = newAccount(scene, "bob@example.com", {
      code: { hash: code.hash, purpose: code.purpose, now: code.createdAt },
    });
    scene.equal(await logins.register(lateAccount), { kind: "admin_leaving" });
    scene.equal((await logins.codeByHash(code.hash))?.id, code.id);
    scene.equal(await logins.accounts(), [admin]);
    scene.equal(await logins.sessionByHash(lateAccount.session.hash), undefined);
    scene.equal(
      (await accounts.users()).map(({ id }) => id),
      [admin.userId],
    );
    scene.equal(await logins.deleteAccount(admin.id), "deleted");
    accountIn(await logins.register(newAccount(scene, "eva@example.com", { role: "admin" })));
  });

  clause("a removal and concurrent registrations never both succeed", async (scene) => {
    const { logins } = scene.storage;
    const admin = accountIn(await logins.register(newAccount(scene, "ana@example.com", { role: "admin" })));
    const people = Array.from({ length: 8 }, (_, i) => newAccount(scene, `p${i}@example.com`));
    const [first, decision, ...otherResults] = await Promise.all([
      logins.register(people[0]!),
      logins.beginRemoval(admin.id, scene.now()),
      ...people.slice(1).map((person) => logins.register(person)),
    ]);
    const registeredCount = [first, ...otherResults].filter(({ kind }) => kind === "registered").length;
    scene.equal(registeredCount, decision === "begun" ? 0 : people.length);
  });

  clause("a deleted account creates no more tokens", async (scene) => {
    const { accounts, logins } = scene.storage;
    const { id, userId } = await storedAccount(scene);
    const [first, lateToken] = [tokenRecord(scene, { userId }), tokenRecord(scene, { userId })];
    scene.equal(await accounts.insertToken(first, { id, most: 2 }), "inserted");
    while (await logins.forgetUser(userId, 2));
    scene.equal(await logins.deleteAccount(id), "deleted");
    scene.equal(await accounts.insertToken(lateToken, { id, most: 2 }), "account_deleted");
    scene.equal(await accounts.tokens(), []);
  });
}
