import type { Webhook, WebhookDelivery } from "../../domain/webhooks/webhook.ts";
import { type Clause, idsOf, type StorageScene } from "./scene.ts";

const LIMIT = 100;

/** Webhooks, their place in the log, and their deliveries. */
export function webhooksContract(clause: Clause, persistenceClause: Clause): void {
  persistenceClause("a webhook is read back unchanged, even after a restart", async (scene) => {
    const newWebhook = webhook(scene, {
      events: ["completed", "failed"],
      description: "Office",
      oldKeyUntil: scene.now(),
    });
    const headers = { headerNames: ["authorization", "x-key"], sealedHeaders: Uint8Array.of(6, 7) };
    const record = { ...newWebhook, ...headers, sealedOldKey: Uint8Array.of(4, 5) };
    const result = await scene.storage.webhooks.insert(record, LIMIT);
    scene.equal(result, { ...record, position: result?.position });
    await scene.reopen();
    scene.equal(await scene.storage.webhooks.get(newWebhook.id), result);
    scene.equal(await scene.storage.webhooks.get(scene.id("hook")), undefined);
  });

  clause("webhooks are listed newest first, per user", async (scene) => {
    const [first, second, third] = [await storedWebhook(scene), await storedWebhook(scene), await storedWebhook(scene)];
    await storedWebhook(scene, { userId: scene.id("usr") });
    const { webhooks } = scene.storage;
    scene.equal(idsOf(await webhooks.list(scene.userId, {})), idsOf([third, second, first]));
    scene.equal(idsOf(await webhooks.list(scene.userId, { limit: 1, after: third.id })), idsOf([second]));
  });

  clause("concurrent creations succeed up to the limit", async (scene) => {
    const attempts = Array.from({ length: 8 }, () => scene.storage.webhooks.insert(webhook(scene), 3));
    const webhooks = (await Promise.all(attempts)).filter((webhook) => webhook !== undefined);
    scene.equal(webhooks.length, 3);
    scene.equal((await scene.storage.webhooks.list(scene.userId, {})).length, 3);
  });

  clause("an update requires the expected version", async (scene) => {
    const { webhooks } = scene.storage;
    const { id } = await storedWebhook(scene);
    const patch = { url: "https://example.com/new", events: null, description: null, updatedAt: scene.now() };
    const updatedWebhook = await webhooks.update(id, 1, patch);
    scene.equal(updatedWebhook, { ...(await webhooks.get(id)), ...patch, version: 2 });
    scene.equal(await webhooks.update(id, 1, patch), undefined);
    const headers = { headerNames: ["x-key"], sealedHeaders: Uint8Array.of(8) };
    scene.equal(await webhooks.update(id, 2, headers), { ...updatedWebhook, ...headers, version: 3 });
    const noHeaders = { headerNames: [], sealedHeaders: null };
    scene.equal(await webhooks.update(id, 3, noHeaders), { ...updatedWebhook, ...noHeaders, version: 4 });
    scene.equal(await webhooks.update(scene.id("hook"), 1, patch), undefined);
  });

  clause("a new webhook begins at the end of its user's log", async (scene) => {
    const instance = await scene.storedInstance();
    await scene.storage.events.append([scene.event("instance.created", instance)]);
    const [event] = await scene.storage.events.ofUser(scene.userId, {}, {});
    scene.equal((await storedWebhook(scene)).position, event?.position);
    scene.equal(await scene.storage.webhooks.behind(), []);
  });

  clause("a webhook is behind until the events after its position are planned", async (scene) => {
    const { webhooks, events } = scene.storage;
    const { id, position } = await storedWebhook(scene);
    await storedWebhook(scene, { userId: scene.id("usr") });
    await events.append([scene.event("instance.created", await scene.storedInstance())]);
    scene.equal(await webhooks.behind(), [id]);
    const plannedDelivery = delivery(scene, id);
    scene.equal(await webhooks.plan(id, position, position + 1, [plannedDelivery]), true);
    scene.equal(await webhooks.behind(), []);
    scene.equal(await webhooks.plan(id, position, position + 1, [delivery(scene, id)]), false);
    scene.equal(await webhooks.deliveries(id, {}, {}), [plannedDelivery]);
  });

  clause("a disabled webhook plans no deliveries, and continues at the end of the log", async (scene) => {
    const { webhooks, events } = scene.storage;
    const { id, position } = await storedWebhook(scene);
    await webhooks.update(id, 1, { disabledReason: "gone" });
    await events.append([scene.event("instance.created", await scene.storedInstance())]);
    scene.equal(await webhooks.enabled(), []);
    scene.equal(await webhooks.behind(), []);
    scene.equal(await webhooks.plan(id, position, position + 1, []), false);
    const enabledWebhook = await webhooks.update(id, 2, { disabledReason: null });
    scene.equal(enabledWebhook?.position, position + 1);
    scene.equal(idsOf(await webhooks.enabled()), [id]);
  });

  clause("pending deliveries are returned with their events, by due time", async (scene) => {
    const { webhooks, events } = scene.storage;
    const { id } = await storedWebhook(scene);
    const call = await scene.storedCall(await scene.storedInstance());
    const [earlierEvent, event] = [scene.event("queued", call), scene.event("ringing", call)];
    await events.append([earlierEvent, event]);
    const laterDelivery = delivery(scene, id, { eventId: event.id, nextAttemptAt: scene.now() + 1_000 });
    const eventlessDelivery = delivery(scene, id, { nextAttemptAt: scene.now() });
    const testDelivery = delivery(scene, id, { body: "{}", nextAttemptAt: scene.now() + 2_000 });
    for (const record of [testDelivery, laterDelivery, eventlessDelivery]) await webhooks.insertDelivery(record, LIMIT);
    await webhooks.insertDelivery(delivery(scene, id, { status: "delivered", nextAttemptAt: null }), LIMIT);
    scene.equal(await webhooks.pending(id, 10), [
      { delivery: eventlessDelivery, event: undefined },
      { delivery: laterDelivery, event: { ...event, sequence: 2 } },
      { delivery: testDelivery, event: undefined },
    ]);
    scene.equal((await webhooks.pending(id, 1)).length, 1);
  });

  clause("an attempt is stored with its delivery", async (scene) => {
    const { webhooks } = scene.storage;
    const { id } = await storedWebhook(scene);
    const pendingDelivery = delivery(scene, id);
    await webhooks.insertDelivery(pendingDelivery, LIMIT);
    const at = scene.now();
    const result = { attempts: 1, nextAttemptAt: null, lastAttemptAt: at, lastStatus: 204, lastError: null } as const;
    scene.equal(await webhooks.deliveredSince(id, 0), false);
    scene.equal(await webhooks.attempted(pendingDelivery.id, { ...result, status: "delivered" }), true);
    scene.equal(await webhooks.attempted(scene.id("dlv"), { ...result, status: "delivered" }), false);
    scene.equal(await webhooks.getDelivery(pendingDelivery.id), { ...pendingDelivery, ...result, status: "delivered" });
    scene.equal([await webhooks.deliveredSince(id, at), await webhooks.deliveredSince(id, at + 1)], [true, false]);
    scene.equal(await webhooks.pending(id, 10), []);
    scene.equal(idsOf(await webhooks.deliveries(id, { status: "delivered" }, {})), [pendingDelivery.id]);
    scene.equal(await webhooks.deliveries(id, { status: "failed" }, {}), []);
  });

  clause("a webhook keeps the newest ended tests and replays, up to a limit", async (scene) => {
    const { webhooks } = scene.storage;
    const [{ id, position }, other] = [await storedWebhook(scene), await storedWebhook(scene)];
    const endedDelivery = (webhookId: string) =>
      delivery(scene, webhookId, { status: "delivered", nextAttemptAt: null });
    const [plannedDelivery, otherDelivery] = [endedDelivery(id), endedDelivery(other.id)];
    await webhooks.plan(id, position, position + 1, [plannedDelivery]);
    await webhooks.insertDelivery(otherDelivery, 1);
    const replays = [1, 2, 3].map(() => endedDelivery(id));
    for (const replay of replays) scene.equal(await webhooks.insertDelivery(replay, 2), true);
    const next = delivery(scene, id);
    scene.equal(await webhooks.insertDelivery(next, 2), true);
    scene.equal(
      idsOf(await webhooks.deliveries(id, {}, {})),
      idsOf([next, ...replays.slice(1).toReversed(), plannedDelivery]),
    );
    scene.equal(idsOf(await webhooks.deliveries(other.id, {}, {})), [otherDelivery.id]);
  });

  clause("a test or a replay is not stored while too many are pending", async (scene) => {
    const { webhooks } = scene.storage;
    const { id, position } = await storedWebhook(scene);
    await webhooks.plan(id, position, position + 1, [delivery(scene, id), delivery(scene, id)]);
    const [first, second, third] = [delivery(scene, id), delivery(scene, id), delivery(scene, id)];
    scene.equal(await webhooks.insertDelivery(first, 2), true);
    scene.equal(await webhooks.insertDelivery(second, 2), true);
    scene.equal(await webhooks.insertDelivery(third, 2), false);
    scene.equal(await webhooks.getDelivery(third.id), undefined);
    const attempt = { status: "delivered", attempts: 1, nextAttemptAt: null, lastAttemptAt: scene.now() } as const;
    await webhooks.attempted(first.id, { ...attempt, lastStatus: 200, lastError: null });
    scene.equal(await webhooks.insertDelivery(third, 2), true);
  });

  clause("deliveries are deleted with their webhook, and finished ones by age", async (scene) => {
    const { webhooks } = scene.storage;
    const { id } = await storedWebhook(scene);
    const [oldDelivery, pendingDelivery] = [
      delivery(scene, id, { status: "failed", nextAttemptAt: null }),
      delivery(scene, id),
    ];
    for (const record of [oldDelivery, pendingDelivery]) await webhooks.insertDelivery(record, LIMIT);
    scene.equal(await webhooks.forgetDeliveries(oldDelivery.createdAt), 0);
    scene.equal(await webhooks.forgetDeliveries(scene.now()), 1);
    scene.equal(idsOf(await webhooks.deliveries(id, {}, {})), [pendingDelivery.id]);
    scene.equal([await webhooks.delete(id), await webhooks.delete(id)], [true, false]);
    scene.equal([await webhooks.get(id), await webhooks.getDelivery(pendingDelivery.id)], [undefined, undefined]);
  });
}

async function storedWebhook(scene: StorageScene, patch: Partial<Webhook> = {}): Promise<Webhook> {
  const record = await scene.storage.webhooks.insert(webhook(scene, patch), LIMIT);
  if (!record) throw new Error("the webhook was not stored");
  return record;
}

export function webhook(scene: StorageScene, patch: Partial<Webhook> = {}): Webhook {
  const createdAt = scene.now();
  return {
    id: scene.id("hook"),
    userId: scene.userId,
    url: "https://example.com/hooks",
    events: null,
    description: null,
    headerNames: [],
    sealedHeaders: null,
    disabledReason: null,
    sealedKey: Uint8Array.of(1, 2, 3),
    sealedOldKey: null,
    oldKeyUntil: null,
    position: 0,
    createdAt,
    updatedAt: createdAt,
    version: 1,
    ...patch,
  };
}

function delivery(scene: StorageScene, webhookId: string, patch: Partial<WebhookDelivery> = {}): WebhookDelivery {
  const createdAt = scene.now();
  return {
    id: scene.id("dlv"),
    webhookId,
    eventId: scene.id("evt"),
    eventType: "completed",
    body: null,
    status: "pending",
    attempts: 0,
    nextAttemptAt: createdAt,
    lastAttemptAt: null,
    lastStatus: null,
    lastError: null,
    createdAt,
    ...patch,
  };
}
