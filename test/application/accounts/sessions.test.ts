import { describe, expect, test } from "vitest";
import { accountScene, BROWSER, PASSWORD, sceneOf } from "./scene.ts";

const DAY_MS = 24 * 60 * 60_000;
const LOGIN = { email: "ana@example.com", password: PASSWORD };

describe("a session", () => {
  test("ends after 14 days without use", async () => {
    const { world, accounts, admin } = await accountScene();
    const { account, secret } = await admin();
    await world.system.advance(14 * DAY_MS - 1);
    const otherSession = await accounts.signIn(LOGIN, BROWSER);
    expect(await accounts.sessions(account)).toHaveLength(2);
    await world.system.advance(1);
    expect(await accounts.session(secret)).toBeUndefined();
    expect(await accounts.sessions(account)).toEqual([otherSession.session]);
  });

  test("is extended by use, up to 90 days", async () => {
    const { world, accounts, admin } = await accountScene();
    const { secret, session } = await admin();
    for (let day = 10; day < 90; day += 10) {
      await world.system.advance(10 * DAY_MS);
      const { session: usedSession } = (await accounts.session(secret))!;
      await world.system.settle();
      expect(usedSession.lastUsedAt).toBe(world.system.now());
      expect(usedSession.expiresAt - session.createdAt).toBe(Math.min(day + 14, 90) * DAY_MS);
    }
    await world.system.advance(10 * DAY_MS);
    expect(await accounts.session(secret)).toBeUndefined();
  });

  test("records its use once a minute; no request waits for that", async () => {
    const { world, accounts, admin } = await accountScene();
    const { secret } = await admin();
    const writes = () => world.storage.operations.filter((operation) => operation === "logins.prolongSession").length;
    await world.system.advance(59_000);
    await accounts.session(secret);
    expect(writes()).toBe(0);
    await world.system.advance(1_000);
    world.storage.isFull = true;
    expect(await accounts.session(secret)).toBeDefined();
    await world.system.settle();
    world.storage.isFull = false;
    expect(await accounts.session(secret)).toBeDefined();
    await world.system.settle();
    expect(writes()).toBe(1);
  });

  test("survives a restart; only the hash of its secret is stored", async () => {
    const { world, admin } = await accountScene();
    const { secret, account } = await admin();
    const restartedScene = await sceneOf(await world.crashAndRestart());
    expect(await restartedScene.accounts.session(secret)).toMatchObject({ account });
    const storedSessions = JSON.stringify(await restartedScene.world.storage.logins.sessions(account.id));
    expect(storedSessions).not.toContain(secret);
  });

  test.each(["", "0".repeat(64), "\0", "x".repeat(100_000), null as unknown as string])(
    "is invalid with the secret %j",
    async (secret) => {
      const { accounts, admin } = await accountScene();
      const { account } = await admin();
      expect(await accounts.session(secret)).toBeUndefined();
      await accounts.signOut(secret);
      expect(await accounts.sessions(account)).toHaveLength(1);
    },
  );

  test("ends when its user signs out, while others continue", async () => {
    const { accounts, admin } = await accountScene();
    const { account, secret } = await admin();
    const otherSession = await accounts.signIn(LOGIN, BROWSER);
    await accounts.signOut(secret);
    await accounts.signOut(secret);
    expect(await accounts.session(secret)).toBeUndefined();
    expect(await accounts.sessions(account)).toEqual([otherSession.session]);
  });

  test("can be ended only by its own account", async () => {
    const { accounts, admin, member } = await accountScene();
    const ana = await admin();
    const bob = await member(ana, "bob@example.com");
    for (const unknownId of [ana.session.id, "ses_0", "\0", ""])
      await expect(accounts.endSession(bob.account, unknownId)).rejects.toMatchObject({ code: "session_not_found" });
    await accounts.endSession(ana.account, ana.session.id);
    expect(await accounts.session(ana.secret)).toBeUndefined();
    expect(await accounts.session(bob.secret)).toBeDefined();
  });

  test("keeps the first 200 characters of the user agent", async () => {
    const { accounts, admin } = await accountScene();
    await admin();
    const { session } = await accounts.signIn(LOGIN, { userAgent: "x".repeat(10_000) });
    expect(session.userAgent).toBe("x".repeat(200));
  });

  test("is ended by the hundredth later sign-in", async () => {
    const { accounts, admin } = await accountScene();
    const { account, secret } = await admin();
    for (let i = 0; i < 99; i++) await accounts.signIn(LOGIN, BROWSER);
    expect(await accounts.session(secret)).toBeDefined();
    await accounts.signIn(LOGIN, BROWSER);
    expect(await accounts.session(secret)).toBeUndefined();
    expect(await accounts.sessions(account)).toHaveLength(100);
  });

  test("is deleted by the next sign-in after it has expired", async () => {
    const { world, accounts, admin } = await accountScene();
    const { account } = await admin();
    await world.system.advance(15 * DAY_MS);
    await accounts.signIn(LOGIN, BROWSER);
    await world.system.settle();
    expect(await world.storage.logins.sessions(account.id)).toHaveLength(1);
  });
});

describe("a new password", () => {
  const next = "another horse battery";

  test("ends all sessions except a new one with a new secret", async () => {
    const { accounts, admin } = await accountScene();
    const { account, secret } = await admin();
    const otherSession = await accounts.signIn(LOGIN, BROWSER);
    const change = await accounts.changePassword(account, { current: PASSWORD, next }, BROWSER);
    expect(new Set([secret, otherSession.secret, change.secret]).size).toBe(3);
    for (const endedSecret of [secret, otherSession.secret])
      expect(await accounts.session(endedSecret)).toBeUndefined();
    expect(await accounts.session(change.secret)).toMatchObject({ account });
    await expect(accounts.signIn(LOGIN, BROWSER)).rejects.toMatchObject({ code: "sign_in_failed" });
    await accounts.signIn({ ...LOGIN, password: next }, BROWSER);
  });

  test("needs the current password, and limits guesses", async () => {
    const { accounts, admin } = await accountScene();
    const { account, secret } = await admin();
    const guess = (current: string) => accounts.changePassword(account, { current, next }, BROWSER);
    for (let i = 0; i < 5; i++) await expect(guess("wrong horse")).rejects.toMatchObject({ code: "password_wrong" });
    await expect(guess(PASSWORD)).rejects.toMatchObject({ code: "too_many_attempts" });
    expect(await accounts.session(secret)).toBeDefined();
  });

  test.each(["short", "ANA@example.com", "x".repeat(257)])("is refused if it is %s", async (badPassword) => {
    const { accounts, admin } = await accountScene();
    const { account, secret } = await admin();
    const change = accounts.changePassword(account, { current: PASSWORD, next: badPassword }, BROWSER);
    await expect(change).rejects.toMatchObject({ code: "password_invalid" });
    const { code } = (await accounts.resetCode("ana@example.com"))!;
    await expect(accounts.resetPassword(code, badPassword, BROWSER)).rejects.toMatchObject({
      code: "password_invalid",
    });
    expect(await accounts.session(secret)).toBeDefined();
    // The code has not been used up.
    await accounts.resetPassword(code, next, BROWSER);
  });

  test("ends all earlier sessions if it is set with a code", async () => {
    const { accounts, admin } = await accountScene();
    const { account, secret } = await admin();
    const { code } = (await accounts.resetCode("ANA@example.com"))!;
    const attempts = Array.from({ length: 5 }, (_, i) => accounts.resetPassword(code, `${next} ${i}`, BROWSER));
    const results = await Promise.allSettled(attempts);
    const successes = results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
    expect(successes).toHaveLength(1);
    expect(await accounts.session(secret)).toBeUndefined();
    expect(await accounts.sessions(account)).toEqual([successes[0]?.session]);
    await expect(accounts.resetPassword(code, next, BROWSER)).rejects.toMatchObject({ code: "code_invalid" });
  });

  test("is not set with a code that has been replaced, has expired, or has another purpose", async () => {
    const { world, accounts, admin } = await accountScene();
    const { account } = await admin();
    const oldCode = (await accounts.resetCode("ana@example.com"))!;
    const { code } = (await accounts.resetCode("ana@example.com"))!;
    const invitation = await accounts.invite(account);
    for (const wrongCode of [oldCode.code, invitation.code, "0".repeat(64), ""])
      await expect(accounts.resetPassword(wrongCode, next, BROWSER)).rejects.toMatchObject({ code: "code_invalid" });
    await world.system.advance(DAY_MS);
    await expect(accounts.resetPassword(code, next, BROWSER)).rejects.toMatchObject({ code: "code_invalid" });
  });

  test.each(["nobody@example.com", "nobody", "\0"])("is not offered to %j", async (email) => {
    const { accounts } = await accountScene();
    expect(await accounts.resetCode(email)).toBeUndefined();
  });
});
