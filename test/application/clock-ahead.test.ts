import { describe, expect, test, vi } from "vitest";
import type { Instance } from "../../src/domain/instances/instance.ts";
import { ALICE, World } from "../support/application.ts";
import { accountScene, BROWSER, PASSWORD } from "./accounts/scene.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const YEAR_MS = 366 * DAY_MS;
const URL = "https://hooks.example.com/in";

/** Places a call to a busy number; returns the reason for its end. */
async function dial(world: World, instance: Instance): Promise<string | undefined> {
  const call = await world.call(instance);
  if (world.network.legs.at(-1)?.callId === call.id) world.leg(call).end("busy");
  await world.system.settle();
  return (await world.storedCall(call)).outcome?.reason;
}

/** Advances up to `withinMs`, until this number of attempts has been made and each result is stored. */
async function waitForAttempts(world: World, attempts: number, withinMs: number): Promise<void> {
  const until = world.system.monotonic() + withinMs;
  await vi.waitFor(
    async () => {
      const attemptCount = world.storage.operations.filter((operation) => operation === "webhooks.attempted").length;
      if (world.endpoints.attempts.length < attempts)
        await world.system.advance(Math.min(1_000, until - world.system.monotonic()));
      expect([world.endpoints.attempts.length, attemptCount >= attempts]).toEqual([attempts, true]);
    },
    { timeout: 20_000, interval: 1 },
  );
}

/** Waits until the first attempt to deliver an instance's creation has failed, and the failure is stored. */
async function waitForFirstFailure(world: World, { id }: Instance): Promise<void> {
  await vi.waitFor(async () => {
    await world.system.settle();
    const [webhook] = await world.app.webhooks.list(ALICE);
    const deliveries = await world.storage.webhooks.deliveries(webhook?.id ?? "", {}, {});
    const events = await world.storage.events.ofUser(ALICE.userId, { instanceId: id }, {});
    expect(deliveries.find(({ eventId }) => events.some((event) => event.id === eventId))?.attempts).toBe(1);
  }, 10_000);
}

describe("after the clock was ahead", () => {
  test("a webhook is retried after the usual pause", async () => {
    const world = await World.start();
    const webhook = await world.app.webhooks.create(ALICE, { url: URL, events: ["instance.created"] });
    world.endpoints.reply = () => 500;
    world.system.jump(30 * DAY_MS);
    await waitForFirstFailure(world, await world.newInstance());
    world.system.jump(-30 * DAY_MS);
    await waitForAttempts(world, 2, 12_000);
    await waitForAttempts(world, 3, 6 * 60_000);
    await waitForAttempts(world, 4, 36 * 60_000);
    expect(await world.app.webhooks.deliveries(ALICE, webhook.id)).toMatchObject([{ status: "pending" }]);
    await world.stop();
  });

  test("an earlier retry does not hide the others", async () => {
    const world = await World.start();
    await world.app.webhooks.create(ALICE, { url: URL, events: ["instance.created"] });
    world.endpoints.reply = () => 500;
    world.system.jump(30 * DAY_MS);
    const instance = await world.newInstance();
    await waitForFirstFailure(world, instance);
    world.system.jump(-30 * DAY_MS);
    await world.newInstance();
    await waitForAttempts(world, 4, 12_000);
    const attempts = world.endpoints.bodies(URL).filter(({ instance_id }) => instance_id === instance.id);
    expect(attempts).toHaveLength(2);
    await world.stop();
  });

  test("a restarted server retries webhooks as usual", async () => {
    const world = await World.start();
    await world.app.webhooks.create(ALICE, { url: URL, events: ["instance.created"] });
    world.endpoints.reply = () => 500;
    world.system.jump(30 * DAY_MS);
    await waitForFirstFailure(world, await world.newInstance());
    world.system.jump(-30 * DAY_MS);
    const next = await world.crashAndRestart();
    await waitForAttempts(next, 1, 6_000);
    await next.stop();
  });

  test("a webhook that has delivered since is not disabled for an old failure", async () => {
    const world = await World.start();
    const webhook = await world.app.webhooks.create(ALICE, { url: URL, events: ["instance.created"] });
    let failedId: string | undefined;
    world.endpoints.reply = ({ body }) => {
      failedId ??= JSON.parse(body).instance_id;
      return JSON.parse(body).instance_id === failedId ? 500 : 200;
    };
    world.system.jump(YEAR_MS);
    await waitForFirstFailure(world, await world.newInstance());
    world.system.jump(-YEAR_MS);
    await world.newInstance();
    for (let day = 0; day < 5; day++) await world.system.advance(DAY_MS);
    expect(await world.app.webhooks.deliveries(ALICE, webhook.id, { status: "failed" })).toHaveLength(1);
    expect((await world.app.webhooks.get(ALICE, webhook.id)).disabledReason).toBeNull();
    await world.stop();
  });

  test("recent deliveries are still listed", async () => {
    const world = await World.start();
    const webhook = await world.app.webhooks.create(ALICE, { url: URL, events: ["instance.created"] });
    await world.newInstance();
    await world.system.advance(2 * HOUR_MS);
    world.system.jump(30 * DAY_MS);
    await world.system.advance(2 * HOUR_MS);
    world.system.jump(-30 * DAY_MS);
    expect(await world.app.webhooks.deliveries(ALICE, webhook.id)).toHaveLength(1);
    await world.stop();
  });

  test("a warm-up continues with the days that pass", async () => {
    const world = await World.start({ policy: { kind: "single", warmUp: { firstDay: 1, growth: 2, days: 3 } } });
    world.system.jump(YEAR_MS);
    const instance = await world.activeInstance();
    world.system.jump(-YEAR_MS);
    expect(await dial(world, instance)).toBe("busy");
    expect(await dial(world, instance)).toBe("instance_paused");
    await world.system.advance(DAY_MS + HOUR_MS);
    expect([await dial(world, instance), await dial(world, instance)]).toEqual(["busy", "busy"]);
    expect(await dial(world, instance)).toBe("instance_paused");
    const next = await world.crashAndRestart();
    await next.system.advance(DAY_MS + HOUR_MS);
    for (let n = 0; n < 4; n++) expect(await dial(next, instance)).toBe("busy");
    await next.stop();
  });

  test("sessions and codes are still valid", async () => {
    const { world, accounts, admin, member } = await accountScene();
    const first = await admin();
    const { code } = await accounts.invite(first.account);
    world.system.jump(YEAR_MS);
    await accounts.signIn({ email: "ana@example.com", password: PASSWORD }, BROWSER);
    await world.system.settle();
    world.system.jump(-YEAR_MS);
    expect(await accounts.session(first.secret)).toBeDefined();
    expect(await accounts.invitations(first.account)).toHaveLength(1);
    await accounts.register({ email: "bea@example.com", password: PASSWORD, code }, BROWSER);
    await member(first, "cleo@example.com");
    await world.stop();
  });

  test("a session created while it was ahead ends within 14 days", async () => {
    const { world, accounts, admin } = await accountScene();
    await admin();
    world.system.jump(YEAR_MS);
    const { secret, account } = await accounts.signIn({ email: "ana@example.com", password: PASSWORD }, BROWSER);
    world.system.jump(-YEAR_MS);
    const latestExpiry = world.system.now() + 14 * DAY_MS;
    expect((await accounts.session(secret))?.session.expiresAt).toBe(latestExpiry);
    expect((await accounts.sessions(account))[0]?.expiresAt).toBe(latestExpiry);
    const { expiresAt } = await accounts.invite(account);
    expect(expiresAt).toBe(world.system.now() + 7 * DAY_MS);
    await world.stop();
  });

  test("a token's daily limit counts no call twice", async () => {
    const world = await World.start();
    const alice = { ...ALICE, tokenId: "tok_1", maxCallsPerDay: 2 };
    const instance = await world.activeInstance();
    world.system.jump(YEAR_MS);
    for (let n = 0; n < 2; n++) {
      const call = await world.call(instance, undefined, alice);
      world.leg(call).end("busy");
      await world.system.settle();
    }
    world.system.jump(-YEAR_MS);
    await expect(world.call(instance, undefined, alice)).rejects.toMatchObject({ code: "daily_call_limit" });
    await world.system.advance(DAY_MS + HOUR_MS);
    await world.call(instance, undefined, alice);
    await world.stop();
  });

  test("a call created while it was ahead waits no longer than others", async () => {
    const world = await World.start({
      policy: { kind: "single", answerRate: { floor: 1, calls: 1, pauseMs: HOUR_MS } },
    });
    const instance = await world.activeInstance();
    await dial(world, instance);
    world.line(instance).goOffline("gone");
    world.system.jump(YEAR_MS);
    const call = await world.call(instance);
    world.system.jump(-YEAR_MS);
    world.line(instance).goOnline();
    await world.system.settle();
    expect((await world.storedCall(call)).outcome?.reason).toBe("instance_paused");
    await world.stop();
  });
});
