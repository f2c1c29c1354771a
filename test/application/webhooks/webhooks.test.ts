import { Webhook } from "standardwebhooks";
import * as v from "valibot";
import { describe, expect, test, vi } from "vitest";
import { Refusal, type RefusalCode } from "../../../src/domain/refusal.ts";
import { SCHEMAS } from "../../../src/http/views/all-shapes.ts";
import { ALICE, BOB, World } from "../../support/application.ts";
import { useFixedDate } from "../../support/fixed-date.ts";
import { refusal } from "../../support/refusal.ts";

const URL = "https://hooks.example.com/in";
const HOUR_MS = 3_600_000;

async function refusalOf(work: Promise<unknown>): Promise<Refusal> {
  const error = await refusal(work);
  if (!(error instanceof Refusal)) throw new Error("the work was not refused", { cause: error });
  return error;
}

useFixedDate();

describe("a new webhook", () => {
  test("is stored without its secret in the clear", async () => {
    const { app, storage } = await World.start();
    const { secret, ...webhook } = await app.webhooks.create(ALICE, { url: URL });
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(await app.webhooks.get(ALICE, webhook.id)).toEqual(webhook);
    const storedWebhook = await storage.webhooks.get(webhook.id);
    const key = Buffer.from(secret.slice("whsec_".length), "base64");
    expect(Buffer.from(storedWebhook?.sealedKey ?? []).includes(key)).toBe(false);
  });

  test("is refused above the server's limit", async () => {
    const { app } = await World.start({ limits: { webhooksPerUser: 1 } });
    await app.webhooks.create(ALICE, { url: URL });
    await app.webhooks.create(BOB, { url: URL });
    expect(await refusalOf(app.webhooks.create(ALICE, { url: URL }))).toMatchObject({ code: "webhook_quota" });
  });

  test("is refused with all faults at once", async () => {
    const { app } = await World.start();
    const input = { url: "http://10.0.0.1/", events: ["compleeted"], description: 7 } as never;
    const { errors } = await refusalOf(app.webhooks.create(ALICE, input));
    expect(errors.map(({ pointer, code }) => `${pointer} ${code}`).sort()).toEqual([
      "/description type_invalid",
      "/events/0 value_invalid",
      "/url value_invalid",
    ]);
    expect((await refusalOf(app.webhooks.create(ALICE, {} as never))).errors).toMatchObject([
      { pointer: "/url", code: "required" },
    ]);
  });

  test("may have a private URL only if the server allows that", async () => {
    const url = "http://127.0.0.1:3000/hooks";
    const strictWorld = await World.start();
    expect((await refusalOf(strictWorld.app.webhooks.create(ALICE, { url }))).message).toMatch(/use https/);
    const privateWorld = await World.start({ webhooksAllowPrivate: true });
    expect(await privateWorld.app.webhooks.create(ALICE, { url })).toMatchObject({ url });
  });
});

describe("a webhook", () => {
  test("belongs to its user, but not to demo tokens", async () => {
    const { app } = await World.start();
    const { id } = await app.webhooks.create(ALICE, { url: URL });
    const { id: deliveryId } = await app.webhooks.test(ALICE, id);
    for (const [principal, code] of [
      [BOB, "webhook_not_found"],
      [{ ...ALICE, demoInstanceId: "inst_1" }, "demo_token_restricted"],
    ] satisfies [typeof BOB, RefusalCode][]) {
      const requests = [
        app.webhooks.get(principal, id),
        app.webhooks.update(principal, id, { enabled: false }),
        app.webhooks.delete(principal, id),
        app.webhooks.rotateSecret(principal, id),
        app.webhooks.test(principal, id),
        app.webhooks.deliveries(principal, id),
        app.webhooks.replay(principal, id, deliveryId),
      ];
      for (const request of requests) expect(await refusalOf(request)).toMatchObject({ code });
    }
    expect(await app.webhooks.list(BOB)).toEqual([]);
    const demo = { ...ALICE, demoInstanceId: "inst_1" };
    expect(await refusalOf(app.webhooks.list(demo))).toMatchObject({ code: "demo_token_restricted" });
    expect(await refusalOf(app.webhooks.create(demo, { url: URL }))).toMatchObject({ code: "demo_token_restricted" });
  });

  test("is changed field by field", async () => {
    const { app } = await World.start();
    const { id } = await app.webhooks.create(ALICE, { url: URL, events: ["failed"], description: "CRM" });
    expect(await app.webhooks.update(ALICE, id, { events: null })).toMatchObject({
      url: URL,
      events: null,
      description: "CRM",
    });
    expect(await app.webhooks.update(ALICE, id, { url: `${URL}2`, description: null })).toMatchObject({
      url: `${URL}2`,
      description: null,
    });
    expect(await refusalOf(app.webhooks.update(ALICE, id, { url: "https://localhost/" }))).toMatchObject({
      errors: [{ pointer: "/url", code: "value_invalid" }],
    });
  });

  test("sends its headers, and shows only their names", async () => {
    const { app, storage, endpoints, system } = await World.start();
    const headers = { Authorization: "Bearer 7f3a9c", "X-Key": "4e5d6b" };
    const { id, headerNames } = await app.webhooks.create(ALICE, { url: URL, headers });
    expect(headerNames).toEqual(["authorization", "x-key"]);
    const storedWebhook = await storage.webhooks.get(id);
    expect(Buffer.from(storedWebhook?.sealedHeaders ?? []).toString("latin1")).not.toMatch(
      /7f3a9c|4e5d6b|authorization/,
    );
    await app.webhooks.test(ALICE, id);
    await system.settle();
    expect(endpoints.attempts[0]?.headers).toMatchObject({
      authorization: "Bearer 7f3a9c",
      "x-key": "4e5d6b",
      "content-type": "application/json",
      "webhook-id": expect.stringMatching(/^evt_/),
    });
    expect(await app.webhooks.update(ALICE, id, { headers: { "X-Other": "1" } })).toMatchObject({
      headerNames: ["x-other"],
    });
    await app.webhooks.test(ALICE, id);
    await system.settle();
    expect(endpoints.attempts[1]?.headers).toMatchObject({ "x-other": "1" });
    expect(endpoints.attempts[1]?.headers).not.toHaveProperty("authorization");
    expect(await app.webhooks.update(ALICE, id, { headers: null })).toMatchObject({
      headerNames: [],
      sealedHeaders: null,
    });
  });

  test("sends its headers to another origin only if they are set again", async () => {
    const { app } = await World.start();
    const { id } = await app.webhooks.create(ALICE, { url: URL, headers: { "X-Key": "7f3a9c" } });
    expect(await app.webhooks.update(ALICE, id, { url: `${URL}2` })).toMatchObject({ headerNames: ["x-key"] });
    const otherUrl = "https://example.net/hooks";
    const refusal = await refusalOf(app.webhooks.update(ALICE, id, { url: otherUrl }));
    expect(refusal).toMatchObject({ errors: [{ pointer: "/headers", code: "required" }] });
    expect(refusal.message).not.toContain("7f3a9c");
    expect(await app.webhooks.get(ALICE, id)).toMatchObject({ url: `${URL}2` });
    const headers = { "X-Key": "other" };
    expect(await app.webhooks.update(ALICE, id, { url: otherUrl, headers })).toMatchObject({ url: otherUrl });
    expect(await app.webhooks.update(ALICE, id, { url: URL, headers: null })).toMatchObject({ headerNames: [] });
  });

  test("delivers to its new URL at once", async () => {
    const world = await World.start();
    const { id } = await world.app.webhooks.create(ALICE, { url: URL });
    await world.app.webhooks.update(ALICE, id, { url: `${URL}2` });
    await world.newInstance();
    await world.system.settle();
    expect(world.endpoints.attempts.map(({ url }) => url)).toEqual([`${URL}2`]);
  });

  test("never delivers events that occurred while it was disabled", async () => {
    const world = await World.start();
    const { id } = await world.app.webhooks.create(ALICE, { url: URL });
    expect(await world.app.webhooks.update(ALICE, id, { enabled: false })).toMatchObject({
      disabledReason: "requested",
    });
    await world.newInstance();
    expect(await refusalOf(world.app.webhooks.test(ALICE, id))).toMatchObject({ code: "webhook_disabled" });
    await world.system.advance(60_000);
    await world.app.webhooks.update(ALICE, id, { enabled: true });
    const laterInstance = await world.newInstance();
    await world.system.settle();
    expect(world.endpoints.bodies(URL)).toMatchObject([{ instance_id: laterInstance.id }]);
  });

  test("no longer exists once deleted, nor do its deliveries", async () => {
    const world = await World.start();
    const { id } = await world.app.webhooks.create(ALICE, { url: URL });
    await world.app.webhooks.delete(ALICE, id);
    await world.newInstance();
    await world.system.advance(60_000);
    expect(world.endpoints.attempts).toEqual([]);
    expect(await refusalOf(world.app.webhooks.get(ALICE, id))).toMatchObject({ code: "webhook_not_found" });
  });
});

describe("a rotated secret", () => {
  test("signs alongside the old one for 24 hours", async () => {
    const world = await World.start();
    const { id, secret: oldSecret } = await world.app.webhooks.create(ALICE, { url: URL });
    const { secret } = await world.app.webhooks.rotateSecret(ALICE, id);
    expect(secret).not.toBe(oldSecret);
    const verify = async (key: string): Promise<unknown> => {
      await world.app.webhooks.test(ALICE, id);
      await world.system.settle();
      vi.setSystemTime(world.system.now());
      const { body, headers } = world.endpoints.attempts.at(-1) ?? { body: "", headers: {} };
      return new Webhook(key).verify(body, headers);
    };
    await verify(oldSecret);
    await verify(secret);
    await world.system.advance(24 * HOUR_MS);
    await verify(secret);
    await expect(verify(oldSecret)).rejects.toThrow("No matching signature found");
  });
});

describe("a test event", () => {
  test("is delivered in the shape of an event, and is in no log", async () => {
    const world = await World.start();
    const { id } = await world.app.webhooks.create(ALICE, { url: URL, events: ["failed"] });
    const delivery = await world.app.webhooks.test(ALICE, id);
    await world.system.settle();
    const timestamp = new Date(world.system.now()).toISOString();
    expect(world.endpoints.bodies(URL)).toEqual([
      {
        id: delivery.eventId,
        type: "webhook.test",
        timestamp,
        call_id: null,
        instance_id: null,
        sequence: null,
        data: { webhook_id: id },
      },
    ]);
    expect(v.is(SCHEMAS.WebhookTest, world.endpoints.bodies(URL)[0])).toBe(true);
    expect(await world.app.webhooks.deliveries(ALICE, id)).toMatchObject([{ id: delivery.id, status: "delivered" }]);
    expect((await world.app.queries.events(ALICE)).events).toEqual([]);
  });
});

describe("a replay", () => {
  test("repeats the same event under its webhook-id", async () => {
    const world = await World.start();
    const { id } = await world.app.webhooks.create(ALICE, { url: URL });
    await world.newInstance();
    await world.system.settle();
    const [first] = await world.app.webhooks.deliveries(ALICE, id);
    const second = await world.app.webhooks.replay(ALICE, id, first?.id ?? "");
    await world.system.settle();
    expect(second.id).not.toBe(first?.id);
    const [firstAttempt, secondAttempt] = world.endpoints.attempts;
    expect(secondAttempt?.body).toBe(firstAttempt?.body);
    expect(secondAttempt?.headers["webhook-id"]).toBe(firstAttempt?.headers["webhook-id"]);
    expect(await world.app.webhooks.deliveries(ALICE, id, { status: "delivered" })).toHaveLength(2);
  });

  test("is refused, as is a test, while a thousand wait for a webhook", async () => {
    const world = await World.start();
    const { id } = await world.app.webhooks.create(ALICE, { url: URL });
    world.endpoints.reply = () => "silence";
    const { id: firstDeliveryId } = await world.app.webhooks.test(ALICE, id);
    for (let i = 0; i < 999; i++) await world.app.webhooks.test(ALICE, id);
    for (const refusal of [world.app.webhooks.test(ALICE, id), world.app.webhooks.replay(ALICE, id, firstDeliveryId)])
      expect(await refusalOf(refusal)).toMatchObject({ code: "delivery_quota" });
  });

  test("of another webhook's delivery is refused", async () => {
    const world = await World.start();
    const { id } = await world.app.webhooks.create(ALICE, { url: URL });
    const otherWebhook = await world.app.webhooks.create(ALICE, { url: URL });
    const delivery = await world.app.webhooks.test(ALICE, otherWebhook.id);
    for (const deliveryId of [delivery.id, "dlv_unknown", ""])
      expect(await refusalOf(world.app.webhooks.replay(ALICE, id, deliveryId))).toMatchObject({
        code: "delivery_not_found",
      });
  });

  test("of a deleted event fails without attempts", async () => {
    const world = await World.start();
    const { id } = await world.app.webhooks.create(ALICE, { url: URL });
    const lostDelivery = { ...(await world.app.webhooks.test(ALICE, id)), id: world.context.ids("dlv"), body: null };
    await world.storage.webhooks.insertDelivery(lostDelivery, 10);
    await world.system.settle();
    expect(world.endpoints.attempts).toHaveLength(1);
    expect(await world.storage.webhooks.getDelivery(lostDelivery.id)).toMatchObject({
      status: "failed",
      attempts: 0,
      lastError: "the event was deleted before it could be delivered",
    });
  });
});
