import { describe, expect, test } from "vitest";
import type { NewSession } from "../../../src/application/accounts/account-use-cases.ts";
import { StorageUnavailable } from "../../../src/ports/storage.ts";
import { NUMBER, type World } from "../../support/application.ts";
import { type AccountScene, accountScene, BROWSER, PASSWORD, sceneOf } from "./scene.ts";

/** Advances time until the work has settled. */
async function settle<T>({ system }: World, work: Promise<T>): Promise<T> {
  let isSettled = false;
  const markSettled = (): void => {
    isSettled = true;
  };
  work.then(markSettled, markSettled);
  for (let tries = 0; tries < 200 && !isSettled; tries++) await system.advance(500);
  return work;
}

/**
 * All data that an account can have: a live call, ended calls with recordings, an unfinished deletion, webhooks,
 * tokens.
 */
async function fillAccount({ world, accounts }: AccountScene, { account, principal }: NewSession): Promise<string[]> {
  const { app } = world;
  const endedInstance = await world.newInstance(principal);
  const input = { instanceId: endedInstance.id, type: "DYNAMIC_STREAM", target: { phoneNumber: NUMBER } } as const;
  const call = await app.calls.create(principal, input, { idempotencyKey: "order-66" });
  await app.calls.hangUp(principal, call.id);
  world.recordings.record(call.id, 8_000, () => {});
  const deletedInstance = await world.newInstance(principal);
  await app.instances.delete(principal, deletedInstance.id);
  const activeInstance = await world.activeInstance(principal);
  const answeredCall = await world.call(activeInstance, "x".repeat(200), principal);
  world.leg(answeredCall).placed();
  world.leg(answeredCall).answer();
  await world.system.settle();
  await app.webhooks.create(principal, { url: "https://example.com/hook" });
  await accounts.createToken(account, { label: "laptop" });
  const revokedToken = await accounts.createToken(account, { label: "old laptop" });
  await accounts.revokeToken(account, revokedToken.id);
  return [endedInstance.id, deletedInstance.id, activeInstance.id];
}

async function expectDeleted(
  { world, accounts }: AccountScene,
  { principal, account, secret }: NewSession,
  ids: string[],
) {
  const { userId } = principal;
  const { storage } = world;
  expect(await storage.accounts.tokens(userId)).toEqual([]);
  expect(await storage.webhooks.list(userId, {})).toEqual([]);
  expect(await storage.calls.list(userId, {}, {})).toEqual([]);
  expect(await storage.instances.list(userId, {})).toEqual([]);
  expect(await storage.events.ofUser(userId, {}, {})).toEqual([]);
  for (const id of ids) {
    expect(await storage.instances.get(id)).toBeUndefined();
    expect(await storage.instances.loadCredentials(id)).toBeUndefined();
    expect(world.network.devices.has(id)).toBe(false);
  }
  expect(world.recordings.stored.size).toBe(0);
  const key = { userId, scope: "", key: "order-66" };
  expect(await storage.receipts.find(key, 0)).toBeUndefined();
  expect(await storage.logins.account(account.id)).toBeUndefined();
  expect(await accounts.session(secret)).toBeUndefined();
  const users = await storage.accounts.users();
  expect(users.find(({ id }) => id === userId)?.name).toBe(userId);
}

describe("an account's deletion", () => {
  test("deletes only its own user's data", async () => {
    const scene = await accountScene();
    const { world, accounts, admin, member, revokedTokenIds } = scene;
    const ana = await admin();
    const bob = await member(ana, "bob@example.com");
    const otherInstance = await world.newInstance(ana.principal);
    const token = await accounts.createToken(ana.account, { label: "laptop" });
    const ids = await fillAccount(scene, bob);
    const liveTokenId = (await accounts.tokens(bob.account))[0]?.id;
    await settle(world, accounts.delete(bob.account, PASSWORD));
    await expectDeleted(scene, bob, ids);
    expect(revokedTokenIds).toContain(liveTokenId);
    expect(await world.app.instances.list(ana.principal)).toHaveLength(1);
    expect((await world.app.instances.get(ana.principal, otherInstance.id)).id).toBe(otherInstance.id);
    expect((await accounts.tokens(ana.account)).map(({ id }) => id)).toEqual([token.id]);
    expect(await accounts.session(ana.secret)).toBeDefined();
    const refusal = { code: "sign_in_failed" };
    await expect(accounts.signIn({ email: "bob@example.com", password: PASSWORD }, BROWSER)).rejects.toMatchObject(
      refusal,
    );
    const entries = await accounts.audit(ana.account);
    expect(entries[0]).toMatchObject({ action: "account.deleted", email: "bob@example.com", subject: bob.account.id });
    expect(world.errors).toEqual([]);
  });

  test.each([
    ["every storage fault", "before"],
    ["every lost storage response", "after"],
  ] as const)("resumes after %s", { timeout: 120_000 }, async (_, moment) => {
    let faults = 0;
    for (let faultIndex = 0; ; faultIndex++) {
      const scene = await accountScene();
      const { world, accounts, admin, member } = scene;
      const bob = await member(await admin(), "bob@example.com");
      const ids = await fillAccount(scene, bob);
      let operationsUntilFault = faultIndex;
      let failedStep = "";
      world.storage[moment] = (operation: string) => {
        if (operation.startsWith("lease.") || operationsUntilFault-- !== 0) return;
        failedStep = operation;
        throw new StorageUnavailable("the database is locked");
      };
      const firstResult = await settle(world, accounts.delete(bob.account, PASSWORD)).catch((error: unknown) => error);
      world.storage[moment] = () => {};
      if (firstResult !== undefined) {
        faults++;
        expect(firstResult, failedStep).toMatchObject({ code: "storage_unavailable" });
        await settle(world, accounts.delete(bob.account, PASSWORD)).catch((error: { code: string }) => {
          // The account may have been deleted before the fault.
          expect(error.code, failedStep).toBe("password_wrong");
        });
      }
      await expectDeleted(scene, bob, ids);
      await world.stop();
      if (failedStep === "") break;
    }
    expect(faults).toBeGreaterThan(10);
  });

  test("resumes in another process", async () => {
    const scene = await accountScene();
    const { world, admin, member } = scene;
    const bob = await member(await admin(), "bob@example.com");
    const ids = await fillAccount(scene, bob);
    world.storage.before = (operation) => {
      if (operation === "logins.forgetUser") throw new StorageUnavailable("the database is locked");
    };
    await expect(settle(world, scene.accounts.delete(bob.account, PASSWORD))).rejects.toMatchObject({
      code: "storage_unavailable",
    });
    world.storage.before = () => {};
    const restartedWorld = await world.crashAndRestart();
    const next = await sceneOf(restartedWorld);
    const { account } = (await next.accounts.session(bob.secret))!;
    await settle(restartedWorld, next.accounts.delete(account, PASSWORD));
    await expectDeleted(next, bob, ids);
  });

  test("waits for an unfinished instance deletion", async () => {
    const scene = await accountScene();
    const { world, accounts, admin, member } = scene;
    const bob = await member(await admin(), "bob@example.com");
    const { id } = await world.activeInstance(bob.principal);
    world.storage.before = (operation) => {
      if (operation === "instances.hasSecrets") throw new StorageUnavailable("the database is locked");
    };
    await expect(settle(world, world.app.instances.delete(bob.principal, id))).rejects.toMatchObject({
      code: "storage_unavailable",
    });
    world.storage.before = () => {};
    expect(await world.storage.instances.get(id)).toMatchObject({ status: "DELETED", erasedAt: null });
    await settle(world, accounts.delete(bob.account, PASSWORD));
    await expectDeleted(scene, bob, [id]);
  });

  test("deletes what another browser creates in the meantime", async () => {
    const scene = await accountScene();
    const { world, accounts, admin, member } = scene;
    const bob = await member(await admin(), "bob@example.com");
    let lateInstanceId: string | undefined;
    world.storage.before = async (operation) => {
      if (operation !== "logins.forgetUser" || lateInstanceId !== undefined) return;
      lateInstanceId = "";
      lateInstanceId = (await world.newInstance(bob.principal)).id;
    };
    await settle(world, accounts.delete(bob.account, PASSWORD));
    expect(await world.storage.instances.get(lateInstanceId ?? "")).toBeUndefined();
    await expectDeleted(scene, bob, []);
  });

  test.each(["tokens", "webhooks", "instances"])("deletes %s created at the last moment", async (kind) => {
    const scene = await accountScene();
    const { world, accounts, admin, member } = scene;
    const bob = await member(await admin(), "bob@example.com");
    let wasCreated = false;
    world.storage.before = async (operation) => {
      if (operation !== "logins.deleteAccount" || wasCreated) return;
      wasCreated = true;
      if (kind === "tokens") await accounts.createToken(bob.account, { label: "late" });
      if (kind === "webhooks") await world.app.webhooks.create(bob.principal, { url: "https://example.com/late" });
      if (kind === "instances") await world.newInstance(bob.principal);
    };
    await settle(world, accounts.delete(bob.account, PASSWORD));
    expect(wasCreated).toBe(true);
    await expectDeleted(scene, bob, []);
  });

  test("leaves no token from earlier requests", async () => {
    const scene = await accountScene();
    const { world, accounts, admin, member } = scene;
    const bob = await member(await admin(), "bob@example.com");
    world.storage.before = async (operation) => {
      if (operation !== "accounts.insertToken") return;
      world.storage.before = () => {};
      await settle(world, accounts.delete(bob.account, PASSWORD));
    };
    await expect(accounts.createToken(bob.account, { label: "late" })).rejects.toMatchObject({ code: "token_invalid" });
    await expectDeleted(scene, bob, []);
  });

  test.each(["webhooks.list", "instances.list", "calls.list", "logins.forgetUser", "logins.deleteAccount"])(
    "neither deletes nor blocks a user who registers before %s, if it is the administrator's",
    async (moment) => {
      const scene = await accountScene();
      const { world, accounts, admin, member } = scene;
      const ana = await admin();
      const { id } = await world.newInstance(ana.principal);
      let registration: Promise<unknown> | undefined;
      world.storage.before = async (operation) => {
        if (operation !== moment || registration) return;
        registration = member(ana, "bob@example.com");
        await registration.catch(() => {});
      };
      const deletion = settle(world, accounts.delete(ana.account, PASSWORD));
      const [result] = await Promise.allSettled([deletion]);
      if (result.status === "fulfilled") {
        await expect(registration).rejects.toMatchObject({ code: "registration_closed" });
        return expectDeleted(scene, ana, [id]);
      }
      expect(result.reason).toMatchObject({ code: "last_admin" });
      expect((await world.app.instances.get(ana.principal, id)).id).toBe(id);
    },
  );

  test("needs the password, with a guessing limit", async () => {
    const { accounts, admin } = await accountScene();
    const { account, secret } = await admin();
    for (let i = 0; i < 5; i++)
      await expect(accounts.delete(account, "wrong horse")).rejects.toMatchObject({ code: "password_wrong" });
    await expect(accounts.delete(account, PASSWORD)).rejects.toMatchObject({ code: "too_many_attempts" });
    expect(await accounts.session(secret)).toBeDefined();
  });

  test("is refused to the administrator while other accounts exist", async () => {
    const { world, accounts, admin, member } = await accountScene();
    const ana = await admin();
    const bob = await member(ana, "bob@example.com");
    const instance = await world.newInstance(ana.principal);
    await expect(accounts.delete(ana.account, PASSWORD)).rejects.toMatchObject({ code: "last_admin" });
    expect((await world.app.instances.get(ana.principal, instance.id)).id).toBe(instance.id);
    await settle(world, accounts.delete(bob.account, PASSWORD));
    await settle(world, accounts.delete(ana.account, PASSWORD));
    expect(await accounts.registration()).toBe("first");
  });

  test("leaves the user to the next administrator, without earlier data", async () => {
    const { world, accounts, admin } = await accountScene();
    const ana = await admin();
    await world.newInstance(ana.principal);
    await settle(world, accounts.delete(ana.account, PASSWORD));
    const next = await admin("eva@example.com");
    // A trunk that only the first user may use stays with the operator.
    expect(next.account.userId).toBe(ana.account.userId);
    expect(await world.app.instances.list(next.principal)).toEqual([]);
    expect(await accounts.tokens(next.account)).toEqual([]);
  });
});
