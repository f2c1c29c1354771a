import { type Clause, idsOf } from "../scene.ts";
import { accountIn, newAccount, storedCode } from "./login-records.ts";

/** Registrations: uniqueness, and the user that each account gets. */
export function registrationsContract(clause: Clause, persistenceClause: Clause): void {
  persistenceClause("an account is stored with its user and its first session", async (scene) => {
    const registration = newAccount(scene, "Ana@Example.com");
    const account = accountIn(await scene.storage.logins.register(registration));
    scene.equal(account, { ...registration.account, userId: registration.user.id });
    await scene.reopen();
    const { accounts, logins } = scene.storage;
    scene.equal(await logins.account(account.id), account);
    scene.equal(await logins.account(scene.id("acct")), undefined);
    scene.equal(await logins.sessionByHash(registration.session.hash), { session: registration.session, account });
    scene.equal(await accounts.userByName("Ana@Example.com"), registration.user);
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
    const usedCode = { hash: code.hash, purpose: "invitation", now: scene.now() } as const;
    const attempts = Array.from({ length: 10 }, (_, i) =>
      newAccount(scene, `person${i}@example.com`, { code: usedCode }),
    );
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

  clause("a refused registration leaves its code unchanged", async (scene) => {
    const { logins, accounts } = scene.storage;
    await logins.register(newAccount(scene, "ana@example.com"));
    const code = await storedCode(scene, "invitation");
    const usedCode = { hash: code.hash, purpose: "invitation", now: scene.now() } as const;
    const registration = newAccount(scene, "ana@example.com", { code: usedCode });
    scene.equal(await logins.register(registration), { kind: "email_taken" });
    scene.equal(await logins.codeByHash(code.hash), code);
    scene.equal(await logins.sessionByHash(registration.session.hash), undefined);
    scene.equal((await accounts.users()).length, 1);
  });

  clause("a code expires, and is valid for one purpose", async (scene) => {
    const { logins } = scene.storage;
    const code = await storedCode(scene, "invitation");
    const wrongCodes = [
      { hash: "0".repeat(64), purpose: "invitation", now: scene.now() },
      { hash: code.hash, purpose: "first", now: scene.now() },
      { hash: code.hash, purpose: "invitation", now: code.expiresAt },
    ] as const;
    for (const usedCode of wrongCodes) {
      const result = await logins.register(newAccount(scene, "ana@example.com", { code: usedCode }));
      scene.equal(result, { kind: "code_invalid" });
    }
    scene.equal(await logins.accounts(), []);
  });

  clause("the administrator takes over the user with a given name, and others get new users", async (scene) => {
    const { accounts, logins } = scene.storage;
    const customer = await accounts.ensureUser({ id: scene.id("usr"), name: "customer-a", createdAt: scene.now() });
    const first = await accounts.ensureUser({ id: scene.id("usr"), name: "admin", createdAt: scene.now() });
    const namedUser = { id: scene.id("usr"), name: "bob@example.com", createdAt: scene.now() };
    await accounts.ensureUser(namedUser);
    const admin = accountIn(
      await logins.register(newAccount(scene, "ana@example.com", { role: "admin", takesOver: "admin" })),
    );
    scene.equal(admin.userId, first.id);
    // The data of a user with that name must not go to a person who registers with the address.
    const registration = newAccount(scene, "bob@example.com");
    const bob = accountIn(await logins.register(registration));
    scene.equal(bob.userId, registration.user.id);
    scene.equal(await accounts.users(), [
      customer,
      first,
      namedUser,
      { ...registration.user, name: registration.user.id },
    ]);
  });

  clause("the administrator does not take over the user of another account", async (scene) => {
    const { logins } = scene.storage;
    const member = accountIn(await logins.register(newAccount(scene, "bob@example.com")));
    const registration = newAccount(scene, "ana@example.com", { role: "admin", takesOver: "bob@example.com" });
    scene.equal(accountIn(await logins.register(registration)).userId, registration.user.id);
    scene.equal(await logins.account(member.id), member);
  });

  clause(
    "the administrator takes over no user with another name, except one that a deleted account left behind",
    async (scene) => {
      const { accounts, logins } = scene.storage;
      await accounts.ensureUser({ id: scene.id("usr"), name: "customer-a", createdAt: scene.now() });
      const registration = newAccount(scene, "ana@example.com", { role: "admin", takesOver: "admin" });
      const first = accountIn(await logins.register(registration));
      scene.equal(first.userId, registration.user.id);
      scene.equal(await logins.deleteAccount(first.id), "deleted");
      const next = newAccount(scene, "eva@example.com", { role: "admin", takesOver: "admin" });
      scene.equal(accountIn(await logins.register(next)).userId, first.userId);
    },
  );

  clause("without users, the administrator gets a new user", async (scene) => {
    const { accounts, logins } = scene.storage;
    const registration = newAccount(scene, "ana@example.com", { role: "admin", takesOver: "admin" });
    scene.equal(accountIn(await logins.register(registration)).userId, registration.user.id);
    scene.equal(await accounts.users(), [registration.user]);
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
