import { describe, expect, test } from "vitest";
import type { Principal } from "../../../src/domain/access/principal.ts";
import { NUMBER } from "../../support/application.ts";
import { accountScene, BROWSER, PASSWORD } from "./scene.ts";

const DAY_MS = 24 * 60 * 60_000;

test("the server's daily limit counts calls from all of an account's browsers together", async () => {
  const { world, accounts, admin, member } = await accountScene({ callLimits: { maxCallsPerDay: 2 } });
  const ana = await admin();
  const bob = await member(ana, "bob@example.com");
  const secondSession = await accounts.signIn({ email: "ana@example.com", password: PASSWORD }, BROWSER);
  const call = async (principal: Principal) => {
    const { id } = await world.newInstance(principal);
    const input = { instanceId: id, type: "DYNAMIC_STREAM", target: { phoneNumber: NUMBER } } as const;
    return world.app.calls.create(principal, input, {});
  };
  await call(ana.principal);
  await call(secondSession.principal);
  for (const { principal } of [ana, secondSession])
    await expect(call(principal)).rejects.toMatchObject({ code: "daily_call_limit", limit: 2 });
  await call(bob.principal);
});

describe("an account's token", () => {
  test("belongs to the account's user, and is listed until it is revoked", async () => {
    const { accounts, admin, revokedTokenIds } = await accountScene();
    const { account } = await admin();
    const first = await accounts.createToken(account, { label: " laptop " });
    const second = await accounts.createToken(account, { label: "shop", scopes: ["call", "read"] });
    expect(first).toMatchObject({ userId: account.userId, label: "laptop", scopes: null, demoInstanceId: null });
    expect(second).toMatchObject({ scopes: ["read", "call"] });
    expect(first.token).toMatch(/^rp_live_/);
    const ids = async () => (await accounts.tokens(account)).map(({ id }) => id);
    expect(await ids()).toEqual([second.id, first.id]);
    await accounts.revokeToken(account, first.id);
    expect(await ids()).toEqual([second.id]);
    expect(revokedTokenIds).toEqual([first.id]);
    await expect(accounts.revokeToken(account, first.id)).rejects.toMatchObject({ code: "token_not_found" });
  });

  test("is not accessible to other accounts", async () => {
    const { accounts, admin, member } = await accountScene();
    const ana = await admin();
    const bob = await member(ana, "bob@example.com");
    const { id } = await accounts.createToken(ana.account, { label: "laptop" });
    expect(await accounts.tokens(bob.account)).toEqual([]);
    for (const inaccessibleId of [id, "tok_0", "\0"])
      await expect(accounts.revokeToken(bob.account, inaccessibleId)).rejects.toMatchObject({
        code: "token_not_found",
      });
    expect(await accounts.tokens(ana.account)).toHaveLength(1);
  });

  test("needs one of the account's instances if it is for a demo", async () => {
    const { world, accounts, admin, member } = await accountScene();
    const ana = await admin();
    const bob = await member(ana, "bob@example.com");
    const instance = await world.newInstance({ userId: ana.account.userId });
    const demo = await accounts.createToken(ana.account, { label: "demo", demoInstanceId: instance.id });
    expect(demo).toMatchObject({ demoInstanceId: instance.id, maxCallsPerDay: 50 });
    const refusal = { code: "instance_not_found" };
    const tokenForOthersInstance = accounts.createToken(bob.account, { label: "demo", demoInstanceId: instance.id });
    await expect(tokenForOthersInstance).rejects.toMatchObject(refusal);
    const tokenForUnknownInstance = accounts.createToken(ana.account, { label: "demo", demoInstanceId: "\0" });
    await expect(tokenForUnknownInstance).rejects.toMatchObject(refusal);
  });

  test.each([
    ["without a name", { label: " " }],
    ["with a long name", { label: "x".repeat(121) }],
    ["with a control character", { label: "a\0b" }],
    ["without a scope", { label: "x", scopes: [] }],
    ["with an unknown scope", { label: "x", scopes: ["everything" as never] }],
    ["that has expired", { label: "x", expiresAt: 1 }],
    ["that never expires", { label: "x", expiresAt: Number.POSITIVE_INFINITY }],
  ])("%s is refused", async (_, token) => {
    const { accounts, admin } = await accountScene();
    const { account } = await admin();
    await expect(accounts.createToken(account, token)).rejects.toMatchObject({ code: "token_invalid" });
    expect(await accounts.tokens(account)).toEqual([]);
  });

  test("is refused beyond a hundred", async () => {
    const { accounts, admin } = await accountScene();
    const { account } = await admin();
    for (let i = 0; i < 100; i++) await accounts.createToken(account, { label: `token ${i}` });
    await expect(accounts.createToken(account, { label: "one more" })).rejects.toMatchObject({ code: "token_quota" });
  });

  test("is kept after its revocation, until a hundred newer ones have also been revoked", async () => {
    const { world, accounts, admin } = await accountScene();
    const { account } = await admin();
    const ids: string[] = [];
    for (let i = 0; i < 103; i++) {
      const { id } = await accounts.createToken(account, { label: `token ${i}` });
      await accounts.revokeToken(account, id);
      ids.push(id);
    }
    const tokenIds = (await world.storage.accounts.tokens(account.userId)).map(({ id }) => id);
    expect(tokenIds).toEqual(ids.slice(2));
  });
});

describe("the audit log", () => {
  test("lists actions, newest first: all for the administrator, their own for others", async () => {
    const { accounts, admin, member } = await accountScene();
    const ana = await admin();
    const bob = await member(ana, "bob@example.com");
    const token = await accounts.createToken(bob.account, { label: "laptop" });
    await accounts.note(bob.account, "instance.deleted", "inst_1");
    const summary = (entries: { email: string | null; action: string; subject: string | null }[]) =>
      entries.map(({ email, action, subject }) => [email, action, subject]);
    const ownEntries = [
      ["bob@example.com", "instance.deleted", "inst_1"],
      ["bob@example.com", "token.created", token.id],
      ["bob@example.com", "account.registered", null],
    ];
    expect(summary(await accounts.audit(bob.account))).toEqual(ownEntries);
    expect(summary(await accounts.audit(ana.account)).slice(0, 3)).toEqual(ownEntries);
    expect(summary(await accounts.audit(ana.account)).map(([, action]) => action)).toContain("invitation.created");
  });

  test("is read page by page", async () => {
    const { accounts, admin } = await accountScene();
    const { account } = await admin();
    for (let i = 0; i < 150; i++) await accounts.note(account, "instance.deleted", String(i));
    const first = await accounts.audit(account);
    expect(first).toHaveLength(100);
    const second = await accounts.audit(account, { after: first.at(-1)?.id });
    expect(second).toHaveLength(51);
    expect(second[0]?.subject).toBe("49");
    for (const after of ["", "\0", "aud_0"]) expect(await accounts.audit(account, { after })).toEqual([]);
  });

  test("keeps entries for a year", async () => {
    const { world, accounts, admin } = await accountScene();
    const { account } = await admin();
    for (let day = 0; day <= 366; day += 61) {
      await accounts.note(account, "instance.deleted", String(day));
      await world.system.advance(61 * DAY_MS);
    }
    await accounts.note(account, "instance.deleted", "last");
    const subjects = (await accounts.audit(account)).map(({ subject }) => subject);
    expect(subjects).toEqual(["last", "366", "305", "244", "183", "122"]);
  });

  test("never fails a request; its own failures are logged", async () => {
    const { world, accounts, admin } = await accountScene();
    await admin();
    world.storage.before = (operation) => {
      if (operation === "logins.note") throw new Error("the disk is full");
    };
    await accounts.signIn({ email: "ana@example.com", password: PASSWORD }, BROWSER);
    expect(world.errors).toEqual([expect.stringContaining("an entry of the audit log could not be stored")]);
  });
});
