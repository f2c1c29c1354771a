import { describe, expect, test } from "vitest";
import { accountScene, BROWSER, PASSWORD } from "./scene.ts";

const WRONG_PASSWORD = "wrong horse battery";
const MINUTE_MS = 60_000;

describe("a sign-in", () => {
  test("creates a session, whatever the address's letter case", async () => {
    const { accounts, admin } = await accountScene();
    const { account, secret } = await admin("Ana@Example.com");
    const newSession = await accounts.signIn({ email: " ana@example.COM ", password: PASSWORD }, { userAgent: null });
    expect(newSession.account).toEqual(account);
    expect(newSession.secret).toMatch(/^[0-9a-f]{64}$/);
    expect(newSession.secret).not.toBe(secret);
    expect(newSession.session.userAgent).toBeNull();
    expect(await accounts.session(newSession.secret)).toMatchObject({ account, principal: { userId: account.userId } });
    expect(await accounts.session(secret)).toMatchObject({ account });
  });

  test("fails in the same way for a wrong password, an unknown address and an invalid one", async () => {
    const { accounts, admin, hasher } = await accountScene();
    await admin();
    const reasons: unknown[] = [];
    for (const email of ["ana@example.com", "nobody@example.com", "nobody", "", "\0", "a".repeat(10_000)]) {
      const { verifyCount, hashCount } = hasher;
      const refusal = await accounts
        .signIn({ email, password: WRONG_PASSWORD }, BROWSER)
        .catch((error: unknown) => error);
      expect(refusal).toMatchObject({ name: "AccountRefusal", code: "sign_in_failed" });
      reasons.push((refusal as Error).message);
      // Every attempt costs one hash, so its duration reveals nothing.
      expect([hasher.verifyCount - verifyCount, hasher.hashCount - hashCount], email).toEqual([1, 0]);
    }
    expect(new Set(reasons).size).toBe(1);
  });

  test.each(["", "short", "x".repeat(100_000), null as unknown as string, "half a pair \ud800"])(
    "fails with an impossible password: %j",
    async (password) => {
      const { accounts, admin, hasher } = await accountScene();
      await admin();
      const refusal = { code: "sign_in_failed" };
      await expect(accounts.signIn({ email: "ana@example.com", password }, BROWSER)).rejects.toMatchObject(refusal);
      expect(hasher.verifyCount).toBe(1);
    },
  );

  test("accepts every encoding of the same visible characters", async () => {
    const { accounts, admin } = await accountScene({ registration: "open" });
    await admin();
    const person = { email: "bob@example.com", password: "caf\u00e9 au lait" };
    await accounts.register(person, BROWSER);
    await accounts.signIn({ ...person, password: "cafe\u0301 au lait" }, BROWSER);
  });

  test("upgrades an old hash", async () => {
    const { world, accounts, admin, hasher } = await accountScene();
    const { account } = await admin();
    hasher.version = 2;
    const login = { email: "ana@example.com", password: PASSWORD };
    await accounts.signIn(login, BROWSER);
    await world.system.settle();
    expect((await world.storage.logins.account(account.id))?.passwordHash).toBe(`v2:${PASSWORD}`);
    const { hashCount } = hasher;
    await accounts.signIn(login, BROWSER);
    await world.system.settle();
    expect(hasher.hashCount).toBe(hashCount);
  });

  test("fails with the old password after a change", async () => {
    const { world, accounts, admin } = await accountScene();
    const { account } = await admin();
    const reset = (await accounts.resetCode("ana@example.com"))!;
    world.storage.before = async (operation) => {
      if (operation !== "logins.insertSession") return;
      world.storage.before = () => {};
      await accounts.resetPassword(reset.code, "another horse battery", BROWSER);
    };
    const lateSignIn = accounts.signIn({ email: "ana@example.com", password: PASSWORD }, BROWSER);
    await expect(lateSignIn).rejects.toMatchObject({ code: "sign_in_failed" });
    expect(await accounts.sessions(account)).toHaveLength(1);
  });
});

describe("guessing", () => {
  test.each(["ana@example.com", "nobody@example.com"])("is slowed down after five failures, for %s", async (email) => {
    const { world, accounts, admin, hasher } = await accountScene();
    await admin();
    const guess = () => accounts.signIn({ email, password: WRONG_PASSWORD }, BROWSER);
    for (let i = 0; i < 5; i++) await expect(guess()).rejects.toMatchObject({ code: "sign_in_failed" });
    const waits: number[] = [];
    for (let i = 0; i < 8; i++) {
      const { verifyCount } = hasher;
      const refusal = await guess().catch((error: unknown) => error);
      expect(refusal).toMatchObject({ code: "too_many_attempts" });
      expect(hasher.verifyCount).toBe(verifyCount);
      const { retryAfterMs } = refusal as { retryAfterMs: number };
      waits.push(retryAfterMs / 1_000);
      await world.system.advance(retryAfterMs);
      await expect(guess()).rejects.toMatchObject({ code: "sign_in_failed" });
    }
    expect(waits).toEqual([30, 60, 120, 240, 480, 900, 900, 900]);
  });

  test("is slowed down whatever the letter case", async () => {
    const { accounts, admin } = await accountScene();
    await admin();
    for (const email of ["ana@x.org", "ANA@x.org", " ana@X.org", "Ana@x.org", "aNa@x.ORG"])
      await expect(accounts.signIn({ email, password: WRONG_PASSWORD }, BROWSER)).rejects.toMatchObject({
        code: "sign_in_failed",
      });
    const sixth = accounts.signIn({ email: "anA@x.org", password: WRONG_PASSWORD }, BROWSER);
    await expect(sixth).rejects.toMatchObject({ code: "too_many_attempts" });
  });

  test("is counted for each attempt, even in parallel", async () => {
    const { accounts, admin, hasher } = await accountScene();
    await admin();
    const guesses = Array.from({ length: 50 }, () =>
      accounts.signIn({ email: "ana@example.com", password: WRONG_PASSWORD }, BROWSER).catch(({ code }) => code),
    );
    const codes = await Promise.all(guesses);
    expect(codes.filter((code) => code === "sign_in_failed")).toHaveLength(5);
    expect(hasher.verifyCount).toBe(5);
  });

  test("also delays the right password, but no other address", async () => {
    const { world, accounts, admin, member } = await accountScene();
    await member(await admin(), "bob@example.com");
    for (let i = 0; i < 5; i++)
      await accounts.signIn({ email: "ana@example.com", password: WRONG_PASSWORD }, BROWSER).catch(() => {});
    const login = { email: "ana@example.com", password: PASSWORD };
    await expect(accounts.signIn(login, BROWSER)).rejects.toMatchObject({ code: "too_many_attempts" });
    await accounts.signIn({ email: "bob@example.com", password: PASSWORD }, BROWSER);
    await world.system.advance(30_000);
    await accounts.signIn(login, BROWSER);
  });

  test("is counted from zero after a success, and after a day", async () => {
    const { world, accounts, admin } = await accountScene();
    await admin();
    const login = { email: "ana@example.com", password: PASSWORD };
    const guess = () => accounts.signIn({ ...login, password: WRONG_PASSWORD }, BROWSER).catch(({ code }) => code);
    for (let i = 0; i < 4; i++) await guess();
    await accounts.signIn(login, BROWSER);
    for (let i = 0; i < 5; i++) expect(await guess()).toBe("sign_in_failed");
    expect(await guess()).toBe("too_many_attempts");
    await world.system.advance(24 * 60 * MINUTE_MS);
    for (let i = 0; i < 5; i++) expect(await guess()).toBe("sign_in_failed");
  });

  test("does not lock out signed-in users", async () => {
    const { accounts, admin } = await accountScene();
    const { account } = await admin();
    for (let i = 0; i < 6; i++)
      await accounts.signIn({ email: "ana@example.com", password: WRONG_PASSWORD }, BROWSER).catch(() => {});
    await accounts.changePassword(account, { current: PASSWORD, next: "another horse battery" }, BROWSER);
  });

  test("is forgotten after a password reset", async () => {
    const { accounts, admin } = await accountScene();
    await admin();
    const login = { email: "ana@example.com", password: "another horse battery" };
    for (let i = 0; i < 6; i++) await accounts.signIn({ ...login, password: WRONG_PASSWORD }, BROWSER).catch(() => {});
    const { code } = (await accounts.resetCode("ana@example.com"))!;
    await accounts.resetPassword(code, login.password, BROWSER);
    await accounts.signIn(login, BROWSER);
  });

  test("uses bounded memory, and forgets names with few failures first, oldest first", async () => {
    const { world, accounts, admin } = await accountScene();
    await admin();
    const guess = (email: string) =>
      accounts.signIn({ email, password: WRONG_PASSWORD }, BROWSER).catch(({ code }) => code);
    for (let i = 0; i < 4; i++) await guess("early@example.com");
    for (let i = 0; i < 5; i++) await guess("ana@example.com");
    for (let i = 0; i < 10_000; i++) await guess(`p${i}@example.com`);
    expect(await guess("ana@example.com")).toBe("too_many_attempts");
    for (let i = 0; i < 5; i++) expect(await guess("early@example.com")).toBe("sign_in_failed");
    await world.system.advance(30_000);
    // Its failures are still stored, so the next delay is longer.
    expect(await guess("ana@example.com")).toBe("sign_in_failed");
    const refusal = await accounts
      .signIn({ email: "ana@example.com", password: WRONG_PASSWORD }, BROWSER)
      .catch((e) => e);
    expect(refusal.retryAfterMs).toBe(60_000);
  });

  test("is remembered by a busy server", async () => {
    const { accounts, admin, hasher } = await accountScene();
    await admin();
    const guess = (email: string) =>
      accounts.signIn({ email, password: WRONG_PASSWORD }, BROWSER).catch(({ code }) => code);
    for (let i = 0; i < 4; i++) await guess("ana@example.com");
    hasher.isBusy = true;
    for (let i = 0; i < 10_001; i++) expect(await guess(`p${i}@example.com`)).toBe("too_many_attempts");
    hasher.isBusy = false;
    expect(await guess("ana@example.com")).toBe("sign_in_failed");
    expect(await guess("ana@example.com")).toBe("too_many_attempts");
    // A full memory of attempted names does not change that.
    for (let i = 0; i < 9_999; i++) await guess(`q${i}@example.com`);
    for (let i = 0; i < 4; i++) await guess("eva@example.com");
    hasher.isBusy = true;
    for (let i = 0; i < 10_001; i++) await guess(`r${i}@example.com`);
    hasher.isBusy = false;
    expect(await guess("eva@example.com")).toBe("sign_in_failed");
    expect(await guess("eva@example.com")).toBe("too_many_attempts");
  });

  test("is recorded for the account, once", async () => {
    const { world, accounts, admin } = await accountScene();
    const { account } = await admin();
    for (const email of ["ana@example.com", "nobody@example.com"])
      for (let i = 0; i < 8; i++) await accounts.signIn({ email, password: WRONG_PASSWORD }, BROWSER).catch(() => {});
    await world.system.settle();
    const actions = (await accounts.audit(account)).map(({ action }) => action);
    expect(actions).toEqual(["account.sign_in_slowed_down", "account.registered"]);
  });
});

describe("an overloaded server", () => {
  test("asks people to retry while many passwords are hashed, and counts no failure", async () => {
    const { accounts, admin, hasher } = await accountScene();
    await admin();
    hasher.isBusy = true;
    const login = { email: "ana@example.com", password: PASSWORD };
    for (let i = 0; i < 10; i++)
      await expect(accounts.signIn(login, BROWSER)).rejects.toMatchObject({
        code: "too_many_attempts",
        retryAfterMs: 3_000,
      });
    hasher.isBusy = false;
    await accounts.signIn(login, BROWSER);
  });

  test("reports an unavailable storage as such, and counts no failure", async () => {
    const { world, accounts, admin } = await accountScene();
    await admin();
    const login = { email: "ana@example.com", password: PASSWORD };
    world.storage.isDown = true;
    for (let i = 0; i < 10; i++)
      await expect(accounts.signIn(login, BROWSER)).rejects.toMatchObject({ code: "storage_unavailable" });
    world.storage.isDown = false;
    await accounts.signIn(login, BROWSER);
  });
});
