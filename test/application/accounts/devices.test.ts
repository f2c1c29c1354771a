import { describe, expect, test } from "vitest";
import type { AccountUseCases } from "../../../src/application/accounts/account-use-cases.ts";
import { accountScene, BROWSER, PASSWORD } from "./scene.ts";

const ANA = { email: "ana@example.com", password: PASSWORD };

/** Guesses passwords until the address is blocked. */
async function lockOut(accounts: AccountUseCases, email: string): Promise<void> {
  for (let i = 0; i < 5; i++)
    await expect(accounts.signIn({ email, password: "wrong horse" }, BROWSER)).rejects.toMatchObject({
      code: "sign_in_failed",
    });
  await expect(accounts.signIn({ ...ANA, email }, BROWSER)).rejects.toMatchObject({ code: "too_many_attempts" });
}

describe("a browser that has signed in before", () => {
  test("signs in while strangers block others", async () => {
    const { accounts, admin } = await accountScene();
    const session = await admin();
    const { account } = session;
    const device = await accounts.deviceMark(session, undefined);
    await lockOut(accounts, ANA.email);
    expect((await accounts.signIn(ANA, { ...BROWSER, device })).account.id).toBe(account.id);
    // The sign-in does not unblock strangers.
    await expect(accounts.signIn(ANA, BROWSER)).rejects.toMatchObject({ code: "too_many_attempts" });
  });

  test("has five guesses, separate from strangers'", async () => {
    const { accounts, admin } = await accountScene();
    const device = await accounts.deviceMark(await admin(), undefined);
    const knownBrowser = { ...BROWSER, device };
    const wrongLogin = { ...ANA, password: "wrong horse" };
    for (let i = 0; i < 5; i++)
      await expect(accounts.signIn(wrongLogin, knownBrowser)).rejects.toMatchObject({ code: "sign_in_failed" });
    await expect(accounts.signIn(ANA, knownBrowser)).rejects.toMatchObject({ code: "too_many_attempts" });
    await accounts.signIn(ANA, BROWSER);
  });

  test("is a stranger to another account, with a changed mark, and after a year", async () => {
    const { accounts, admin, member, world } = await accountScene();
    const first = await admin();
    const bob = await member(first, "bob@example.com");
    const mark = (await accounts.deviceMark(first, undefined)) ?? "";
    const bobsMark = await accounts.deviceMark(bob, mark);
    expect(bobsMark).toBeDefined();
    expect(await accounts.deviceMark(first, mark)).toBeUndefined();
    await lockOut(accounts, ANA.email);
    for (const device of [bobsMark, mark.replace(/.$/, (last) => (last === "0" ? "1" : "0")), "", "x".repeat(9_000)])
      await expect(accounts.signIn(ANA, { ...BROWSER, device })).rejects.toMatchObject({ code: "too_many_attempts" });
    await accounts.signIn(ANA, { ...BROWSER, device: mark });
    world.system.jump(366 * 86_400_000);
    expect(await accounts.deviceMark(first, mark)).toBeDefined();
  });
});

describe("a session thief without the password", () => {
  test("has five guesses, even if the session's browser is marked repeatedly", async () => {
    const { accounts, admin } = await accountScene();
    const session = await admin();
    const marks = await Promise.all(Array.from({ length: 6 }, () => accounts.deviceMark(session, undefined)));
    const guess = (device: string | undefined) =>
      accounts.signIn({ ...ANA, password: "wrong horse" }, { ...BROWSER, device });
    for (const device of marks.slice(1)) await expect(guess(device)).rejects.toMatchObject({ code: "sign_in_failed" });
    await expect(guess(marks[0])).rejects.toMatchObject({ code: "too_many_attempts" });
    const next = await accounts.deviceMark(session, undefined);
    await expect(guess(next)).rejects.toMatchObject({ code: "too_many_attempts" });
    // Strangers and the owner's other browsers are unaffected.
    const otherSession = await accounts.signIn(ANA, BROWSER);
    await accounts.signIn(ANA, { ...BROWSER, device: await accounts.deviceMark(otherSession, undefined) });
  });

  test.each(["changed", "reset"])("is a stranger once the password is %s", async (change) => {
    const { accounts, admin } = await accountScene();
    const session = await admin();
    const { account } = session;
    const device = await accounts.deviceMark(session, undefined);
    const next = "another horse battery";
    const renewedSession =
      change === "changed"
        ? await accounts.changePassword(account, { current: PASSWORD, next }, BROWSER)
        : await accounts.resetPassword((await accounts.resetCode(ANA.email))!.code, next, BROWSER);
    const mark = await accounts.deviceMark(renewedSession, device);
    expect(mark).toBeDefined();
    await lockOut(accounts, ANA.email);
    const login = { ...ANA, password: next };
    await expect(accounts.signIn(login, { ...BROWSER, device })).rejects.toMatchObject({ code: "too_many_attempts" });
    await accounts.signIn(login, { ...BROWSER, device: mark });
  });
});

test("an account's id typed as an address does not block its owner", async () => {
  const { accounts, admin } = await accountScene();
  const { account } = await admin();
  await lockOut(accounts, account.id);
  const passwords = { current: PASSWORD, next: "another horse battery" };
  await accounts.changePassword(account, passwords, BROWSER);
});
