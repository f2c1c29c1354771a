import { Webhook } from "standardwebhooks";
import { describe, expect, test, vi } from "vitest";
import { MAX_CONCURRENT_ATTEMPTS } from "../../../src/application/webhooks/endpoint.ts";
import { eventView } from "../../../src/http/views/event-view.ts";
import { ManualSystem } from "../../../src/testing/manual-system.ts";
import { ALICE, BOB, World, type WorldOptions } from "../../support/application.ts";
import { useFixedDate } from "../../support/fixed-date.ts";
import { LeasedDatabase } from "../../support/leased-storage.ts";
import { memoryStorage } from "../../support/memory-storage.ts";

const URL = "https://hooks.example.com/in";
const HOUR_MS = 3_600_000;

useFixedDate();

/** A world in which Alice has a webhook for some types. */
async function startWithWebhook(
  events: ("instance.created" | "completed" | "failed")[] | null = null,
  options?: WorldOptions,
) {
  const world = await World.start(options);
  const webhook = await world.app.webhooks.create(ALICE, { url: URL, events });
  const deliveries = async () => (await world.app.webhooks.deliveries(ALICE, webhook.id)).toReversed();
  return { world, webhook, deliveries };
}

describe("a user's events", () => {
  test("are delivered as GET /v1/events shows them, with a valid signature", async () => {
    const { world, webhook } = await startWithWebhook();
    const instance = await world.activeInstance();
    await world.answeredCall(instance);
    await world.system.advance(5_000);
    const { events } = await world.app.queries.events(ALICE, { limit: 200 });
    const verifier = new Webhook(webhook.secret);
    const requests = world.endpoints.attempts.map(({ body, headers, url }) => {
      expect(url).toBe(URL);
      expect(headers["webhook-id"]).toBe(JSON.parse(body).id);
      return verifier.verify(body, headers);
    });
    expect(events.length).toBeGreaterThan(5);
    expect(requests).toEqual(JSON.parse(JSON.stringify(events.map(eventView))));
  });

  test("are filtered by type", async () => {
    const { world } = await startWithWebhook(["completed", "failed"]);
    await world.answeredCall(await world.activeInstance());
    await world.system.advance(5_000);
    expect(world.endpoints.bodies(URL).map(({ type }) => type)).toEqual(["completed"]);
  });

  test("reach no other user's webhook", async () => {
    const { world } = await startWithWebhook();
    await world.newInstance(BOB);
    await world.system.advance(60_000);
    expect(world.endpoints.attempts).toEqual([]);
  });

  test("are not delivered if they precede the webhook", async () => {
    const world = await World.start();
    await world.newInstance();
    await world.app.webhooks.create(ALICE, { url: URL });
    await world.system.advance(60_000);
    expect(world.endpoints.attempts).toEqual([]);
  });

  test("are delivered after the restart if they were pending at a crash", async () => {
    const { world } = await startWithWebhook(["instance.created"]);
    world.endpoints.reply = () => "silence";
    const first = await world.newInstance();
    world.storage.before = (operation) => {
      if (operation === "webhooks.plan") throw new Error("the process is dying");
    };
    const second = await world.newInstance();
    await world.system.settle();
    world.storage.before = () => {};
    const next = await world.crashAndRestart();
    expect(new Set(next.endpoints.bodies(URL).map((body) => body.instance_id))).toEqual(new Set([first.id, second.id]));
  });

  test("are found by the next sweep if they were stored without notice", async () => {
    const { world } = await startWithWebhook();
    const event = world.context.events.event(
      { event: "dtmf", data: { digit: "1" } },
      { callId: null, instanceId: "inst_1", userId: ALICE.userId },
    );
    await world.storage.events.append([event]);
    await world.system.advance(29_000);
    expect(world.endpoints.attempts).toEqual([]);
    await world.system.advance(2_000);
    expect(world.endpoints.bodies(URL).map(({ id }) => id)).toEqual([event.id]);
  });

  test("continue from the restored database's position", async () => {
    const { world, webhook } = await startWithWebhook(["instance.created"]);
    await world.newInstance();
    const second = await world.newInstance();
    await world.system.settle();
    const { position = NaN } = (await world.storage.webhooks.get(webhook.id)) ?? {};
    expect(await world.storage.webhooks.plan(webhook.id, position, position - 1, [])).toBe(true);
    await world.system.advance(31_000);
    const bodies = world.endpoints.bodies(URL).map((body) => body.instance_id);
    expect(bodies).toHaveLength(3);
    expect(bodies.at(-1)).toBe(second.id);
  });
});

describe("a failed attempt", () => {
  test("is repeated under the same id with a new timestamp until it succeeds", async () => {
    const { world, webhook, deliveries } = await startWithWebhook(["instance.created"]);
    world.endpoints.reply = () => (world.endpoints.attempts.length < 3 ? 500 : 200);
    await world.newInstance();
    await world.system.advance(10_000);
    expect(await deliveries()).toMatchObject([{ status: "pending", attempts: 2, lastStatus: 500 }]);
    await world.system.advance(6 * 60_000);
    const [first, , third] = world.endpoints.attempts;
    expect(world.endpoints.attempts).toHaveLength(3);
    expect(third?.headers["webhook-id"]).toBe(first?.headers["webhook-id"]);
    expect(third?.headers["webhook-timestamp"]).not.toBe(first?.headers["webhook-timestamp"]);
    expect(await deliveries()).toMatchObject([{ status: "delivered", attempts: 3, lastStatus: 200, lastError: null }]);
    vi.setSystemTime(world.system.now());
    expect(() => new Webhook(webhook.secret).verify(third?.body ?? "", third?.headers ?? {})).not.toThrow();
  });

  test("ends after 15 s without a response", async () => {
    const { world, deliveries } = await startWithWebhook(["instance.created"]);
    world.endpoints.reply = () => "silence";
    await world.newInstance();
    await world.system.advance(14_900);
    expect(world.endpoints.waitingCounts.get(URL)).toBe(1);
    await world.system.advance(200);
    expect(world.endpoints.waitingCounts.get(URL)).toBe(0);
    expect(await deliveries()).toMatchObject([
      { status: "pending", attempts: 1, lastStatus: null, lastError: "the endpoint did not respond within 15000 ms" },
    ]);
  });

  test("keeps its retry schedule over a restart", async () => {
    const { world } = await startWithWebhook(["instance.created"]);
    world.endpoints.reply = () => 503;
    await world.newInstance();
    await world.system.settle();
    const next = await world.crashAndRestart();
    expect(next.endpoints.attempts).toHaveLength(0);
    await next.system.advance(6_000);
    expect(next.endpoints.attempts).toHaveLength(1);
  });

  test("disables the webhook if its status is 410", async () => {
    const { world, webhook, deliveries } = await startWithWebhook(["instance.created"]);
    world.endpoints.reply = () => 410;
    await world.newInstance();
    await world.system.settle();
    expect(await deliveries()).toMatchObject([{ status: "failed", attempts: 1, lastStatus: 410 }]);
    expect(await world.app.webhooks.get(ALICE, webhook.id)).toMatchObject({ disabledReason: "gone" });
    await world.newInstance();
    await world.system.advance(HOUR_MS);
    expect(world.endpoints.attempts).toHaveLength(1);
  });

  test("disables the webhook, until it is resumed, after days of failures", async () => {
    const { world, webhook, deliveries } = await startWithWebhook(["instance.created"]);
    world.endpoints.reply = () => new Error("connect ECONNREFUSED");
    await world.newInstance();
    for (let day = 0; day < 5; day++) await world.system.advance(24 * HOUR_MS);
    expect(await deliveries()).toMatchObject([
      { status: "failed", attempts: 10, lastStatus: null, lastError: "connect ECONNREFUSED" },
    ]);
    expect(await world.app.webhooks.get(ALICE, webhook.id)).toMatchObject({ disabledReason: "failing" });
    await world.newInstance();
    await world.app.webhooks.update(ALICE, webhook.id, { enabled: true });
    world.endpoints.reply = () => 200;
    const laterInstance = await world.newInstance();
    await world.system.settle();
    expect(world.endpoints.bodies(URL).at(-1)).toMatchObject({ instance_id: laterInstance.id });
    expect(await deliveries()).toHaveLength(2);
  });

  test("does not disable a webhook whose other deliveries work", async () => {
    const { world, webhook } = await startWithWebhook(["instance.created"]);
    const brokenInstance = await world.newInstance();
    await world.system.settle();
    world.endpoints.attempts.length = 0;
    world.endpoints.reply = ({ body }) => (JSON.parse(body).instance_id === brokenInstance.id ? 500 : 200);
    const [delivery] = await world.app.webhooks.deliveries(ALICE, webhook.id);
    await world.app.webhooks.replay(ALICE, webhook.id, delivery?.id ?? "");
    for (let day = 0; day < 5; day++) {
      await world.system.advance(24 * HOUR_MS);
      await world.newInstance();
    }
    await world.system.settle();
    expect(world.endpoints.bodies(URL).filter((body) => body.instance_id === brokenInstance.id)).toHaveLength(10);
    expect(await world.app.webhooks.get(ALICE, webhook.id)).toMatchObject({ disabledReason: null });
  });
});

describe("a dead endpoint", () => {
  test("occupies few connections and slows no other endpoint", async () => {
    const { world } = await startWithWebhook(["instance.created"]);
    const otherUrl = "https://other.example.com/";
    await world.app.webhooks.create(ALICE, { url: otherUrl, events: ["instance.created"] });
    world.endpoints.reply = ({ url }) => (url === URL ? "silence" : 200);
    for (let n = 0; n < 150; n++) await world.newInstance();
    await world.system.settle();
    expect(world.endpoints.bodies(otherUrl)).toHaveLength(150);
    expect(world.endpoints.waitingCounts.get(URL)).toBe(MAX_CONCURRENT_ATTEMPTS);
  });

  test("catches up later, each event once", async () => {
    const { world } = await startWithWebhook(["instance.created"]);
    let isDead = true;
    world.endpoints.reply = () => (isDead ? "silence" : 200);
    for (let n = 0; n < 250; n++) await world.newInstance();
    await world.system.settle();
    isDead = false;
    world.endpoints.attempts.length = 0;
    await world.system.advance(10 * 60_000);
    const ids = world.endpoints.bodies(URL).map(({ id }) => id);
    expect([ids.length, new Set(ids).size]).toEqual([250, 250]);
  });
});

describe("the storage", () => {
  test("loses no delivery and repeats none if it is down for a while", async () => {
    const { world, deliveries } = await startWithWebhook(["instance.created"]);
    world.endpoints.reply = () => {
      world.storage.isFull = true; // after the attempt, before its result is stored
      return 200;
    };
    await world.newInstance();
    await world.system.advance(20_000);
    expect(world.endpoints.attempts).toHaveLength(1);
    world.storage.isFull = false;
    await world.system.advance(10_000);
    expect(world.endpoints.attempts).toHaveLength(1);
    expect(await deliveries()).toMatchObject([{ status: "delivered", attempts: 1 }]);
  });

  test("forgets deliveries a week after their creation", async () => {
    const { world, deliveries } = await startWithWebhook(["instance.created"]);
    await world.newInstance();
    for (let day = 0; day < 7; day++) await world.system.advance(24 * HOUR_MS - 1_000);
    expect(await deliveries()).toHaveLength(1);
    await world.system.advance(3 * HOUR_MS);
    expect(await deliveries()).toHaveLength(0);
  });
});

describe("a server whose lease is about to end", () => {
  test("makes no attempt; the next owner delivers", async () => {
    const system = new ManualSystem();
    const database = new LeasedDatabase(system, memoryStorage());
    const storage = database.storage();
    const { world } = await startWithWebhook(["instance.created"], { system, storage });
    await system.advance(2_000);
    storage.holdRenewals = new Promise(() => {});
    await system.advance(6_100);
    const newInstance = await world.newInstance();
    await system.advance(1_000);
    expect(world.endpoints.attempts).toEqual([]);
    await system.advance(12_000); // the database has renewed the lease all along
    const next = await World.start({ system, storage: database.storage() });
    expect(world.endpoints.attempts).toEqual([]);
    expect(next.endpoints.bodies(URL)).toMatchObject([{ instance_id: newInstance.id }]);
    await next.app.stop(0);
  });
});

describe("a stopped server", () => {
  test("does not count an attempt that it aborted", async () => {
    const { world, webhook } = await startWithWebhook(["instance.created"]);
    world.endpoints.reply = () => "silence";
    await world.newInstance();
    await world.system.settle();
    const stop = world.app.stop(0);
    await world.system.advance(2_000);
    await stop;
    expect(world.endpoints.waitingCounts.get(URL)).toBe(0);
    expect(await world.storage.webhooks.deliveries(webhook.id, {}, {})).toMatchObject([
      { status: "pending", attempts: 0 },
    ]);
    expect(world.system.waiting).toBe(0);
  });
});
