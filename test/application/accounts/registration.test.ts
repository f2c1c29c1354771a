import { describe, expect, test } from "vitest";
import { firstCode } from "../../../src/application/accounts/one-time-codes.ts";
import { issueToken } from "../../../src/application/tokens/tokens.ts";
import { sha256Hex } from "../../../src/base/sha256.ts";
import { accountScene, BROWSER, PASSWORD } from "./scene.ts";

const HOUR_MS = 3_600_000;

describe("the first account", () => {
  test("is the administrator's, and takes over the first token's user", async () => {
    const { world, accounts, admin } = await accountScene();
    const { system, context, storage } = world;
    const first = await issueToken(storage.accounts, system, context.ids, { userName: "admin", label: "first start" });
    expect(await accounts.registration()).toBe("first");
    const { account, principal, session } = await admin("Ana@Example.com");
    expect(account).toMatchObject({ email: "Ana@Example.com", role: "admin", userId: first.userId });
    expect(principal).toEqual({ userId: first.userId, tokenId: first.userId });
    expect(session.userAgent).toBe("Browser/1.0");
    expect(await accounts.registration()).toBe("invitation");
    expect(await accounts.firstCode()).toBeUndefined();
  });

  test("does not take over another user for whom the operator created a token", async () => {
    const { world, admin } = await accountScene();
    const { system, context, storage } = world;
    const customer = { userName: "customer-a", label: "cli" };
    const { userId } = await issueToken(storage.accounts, system, context.ids, customer);
    const { account } = await admin();
    expect(account.userId).not.toBe(userId);
  });

  test("gets its own user on a server without users", async () => {
    const { world, admin } = await accountScene();
    const { account } = await admin();
    expect(await world.storage.accounts.users()).toMatchObject([{ id: account.userId, name: "ana@example.com" }]);
  });

  test("needs the code from the first start, even if registration is open afterwards", async () => {
    const { accounts } = await accountScene({ registration: "open" });
    const person = { email: "eve@example.com", password: PASSWORD };
    await expect(accounts.register(person, BROWSER)).rejects.toMatchObject({ code: "registration_closed" });
    const guess = { ...person, code: "0".repeat(64) };
    await expect(accounts.register(guess, BROWSER)).rejects.toMatchObject({ code: "code_invalid" });
  });

  test("is created once, however often the code is used", async () => {
    const { accounts } = await accountScene();
    const { code } = (await accounts.firstCode())!;
    const people = Array.from({ length: 10 }, (_, i) => ({ email: `p${i}@example.com`, password: PASSWORD, code }));
    const results = await Promise.allSettled(people.map((person) => accounts.register(person, BROWSER)));
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    const refusals = results.flatMap((result) => (result.status === "rejected" ? [result.reason.code] : []));
    expect(new Set(refusals)).toEqual(new Set(["code_invalid"]));
  });

  test("is not created with a code that has been replaced or has expired", async () => {
    const { world, accounts } = await accountScene();
    const { logins } = world.storage;
    const oldCode = (await accounts.firstCode())!;
    // Created as the command line does while a server is running.
    const { code, expiresAt } = (await firstCode({
      logins,
      system: world.system,
      ids: world.context.ids,
      sha256: sha256Hex,
    }))!;
    expect(expiresAt).toBe(world.system.now() + 24 * HOUR_MS);
    const person = { email: "ana@example.com", password: PASSWORD };
    const refusal = { code: "code_invalid" };
    await expect(accounts.register({ ...person, code: oldCode.code }, BROWSER)).rejects.toMatchObject(refusal);
    await world.system.advance(24 * HOUR_MS);
    await expect(accounts.register({ ...person, code }, BROWSER)).rejects.toMatchObject(refusal);
  });
});

describe("a registration", () => {
  test("by invitation needs one, and uses it up", async () => {
    const { accounts, admin } = await accountScene();
    const { account } = await admin();
    const { code, id, expiresAt, createdAt } = await accounts.invite(account);
    expect(expiresAt - createdAt).toBe(7 * 24 * HOUR_MS);
    expect(await accounts.invitations(account)).toEqual([{ id, createdAt, expiresAt }]);
    const person = { email: "bob@example.com", password: PASSWORD };
    await expect(accounts.register(person, BROWSER)).rejects.toMatchObject({ code: "registration_closed" });
    const { account: bob } = await accounts.register({ ...person, code }, BROWSER);
    expect(bob).toMatchObject({ role: "member", email: "bob@example.com" });
    expect(bob.userId).not.toBe(account.userId);
    expect(await accounts.invitations(account)).toEqual([]);
    const second = { ...person, email: "eve@example.com", code };
    await expect(accounts.register(second, BROWSER)).rejects.toMatchObject({ code: "code_invalid" });
  });

  test("needs no code if registration is open, and creates a member", async () => {
    const { accounts, admin } = await accountScene({ registration: "open" });
    await admin();
    expect(await accounts.registration()).toBe("open");
    const { account } = await accounts.register({ email: "bob@example.com", password: PASSWORD }, BROWSER);
    expect(account.role).toBe("member");
  });

  test("reveals only with an invitation whether an address is taken", async () => {
    const { accounts, admin } = await accountScene();
    await admin();
    for (const email of ["ana@example.com", "nobody@example.com"])
      await expect(accounts.register({ email, password: PASSWORD }, BROWSER)).rejects.toMatchObject({
        code: "registration_closed",
      });
  });

  test("is refused for a taken address, and keeps the invitation valid", async () => {
    const { accounts, admin, hasher } = await accountScene();
    const { account } = await admin();
    const { code } = await accounts.invite(account);
    const { hashCount } = hasher;
    const takenAddress = { email: "ANA@example.com", password: PASSWORD, code };
    await expect(accounts.register(takenAddress, BROWSER)).rejects.toMatchObject({ code: "email_taken" });
    expect(hasher.hashCount).toBe(hashCount);
    expect((await accounts.register({ ...takenAddress, email: "bob@example.com" }, BROWSER)).account.role).toBe(
      "member",
    );
  });

  test.each([
    ["without an @", { email: "ana.example.com" }, "email_invalid"],
    ["with a short password", { password: "too short" }, "password_invalid"],
    ["with a long password", { password: "x".repeat(257) }, "password_invalid"],
    ["with the address as the password", { password: "BOB@example.com" }, "password_invalid"],
    ["with a common password", { password: "Password123" }, "password_common"],
  ])("%s is refused", async (_, patch, code) => {
    const { accounts, admin, hasher } = await accountScene({ registration: "open" });
    await admin();
    const before = hasher.hashCount;
    const person = { email: "bob@example.com", password: PASSWORD, ...patch };
    await expect(accounts.register(person, BROWSER)).rejects.toMatchObject({ code });
    expect(hasher.hashCount).toBe(before);
  });

  test("never takes over an existing user with the same name", async () => {
    const { world, accounts, admin, member } = await accountScene();
    const { system, context, storage } = world;
    const first = await admin();
    const token = await issueToken(storage.accounts, system, context.ids, { userName: "bob@example.com", label: "x" });
    const { account } = await member(first, "bob@example.com");
    expect(account.userId).not.toBe(token.userId);
    expect(await accounts.tokens(account)).toEqual([]);
  });
});

describe("an invitation", () => {
  test("is created, listed and withdrawn only by the administrator", async () => {
    const { accounts, admin, member } = await accountScene();
    const first = await admin();
    const { account } = await member(first, "bob@example.com");
    const refusal = { code: "admin_required" };
    await expect(accounts.invite(account)).rejects.toMatchObject(refusal);
    await expect(accounts.invitations(account)).rejects.toMatchObject(refusal);
    const { id, code } = await accounts.invite(first.account);
    await expect(accounts.withdrawInvitation(account, id)).rejects.toMatchObject(refusal);
    await accounts.withdrawInvitation(first.account, id);
    const person = { email: "eve@example.com", password: PASSWORD, code };
    await expect(accounts.register(person, BROWSER)).rejects.toMatchObject({ code: "code_invalid" });
    for (const unknownId of [id, "code_0", "\0"])
      await expect(accounts.withdrawInvitation(first.account, unknownId)).rejects.toMatchObject({
        code: "invitation_not_found",
      });
  });

  test("is refused beyond a hundred", async () => {
    const { world, accounts, admin } = await accountScene();
    const { account } = await admin();
    for (let i = 0; i < 100; i++) await accounts.invite(account);
    await expect(accounts.invite(account)).rejects.toMatchObject({ code: "invitation_quota" });
    const [newestInvitation] = await accounts.invitations(account);
    await accounts.withdrawInvitation(account, newestInvitation!.id);
    await accounts.invite(account);
    await world.system.advance(7 * 24 * HOUR_MS);
    await accounts.invite(account);
  });

  test("expires after a week", async () => {
    const { world, accounts, admin } = await accountScene();
    const { account } = await admin();
    const { code } = await accounts.invite(account);
    await world.system.advance(7 * 24 * HOUR_MS);
    expect(await accounts.invitations(account)).toEqual([]);
    const person = { email: "bob@example.com", password: PASSWORD, code };
    await expect(accounts.register(person, BROWSER)).rejects.toMatchObject({ code: "code_invalid" });
  });
});
