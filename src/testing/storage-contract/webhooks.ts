import type { Webhook, WebhookDelivery } from "../../domain/webhooks/webhook.ts";
import { type Clause, idsOf, type StorageScene } from "./scene.ts";

const MOST = 100;

/** Webhooks, their place in the log, and their deliveries. */
export function webhooksContract(clause: Clause, lastingClause: Clause): void {
  lastingClause("a webhook is stored completely, and survives a restart", async (scene) => {
    const full = webhook(scene, { events: ["completed", "failed"], description: "Office", oldKeyUntil: scene.now() });
    const headers = { headerNames: ["authorization", "x-key"], sealedHeaders: Uint8Array.of(6, 7) };
    const record = { ...full, ...headers, sealedOldKey: Uint8Array.of(4, 5) };
    const stored = await scene.storage.webhooks.insert(record, MOST);
    scene.equal(stored, { ...record, position: stored?.position });
    await scene.reopen();
    scene.equal(await scene.storage.webhooks.get(full.id), stored);
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
    const stored = (await Promise.all(attempts)).filter((webhook) => webhook !== undefined);
    scene.equal(stored.length, 3);
    scene.equal((await scene.storage.webhooks.list(scene.userId, {})).length, 3);
  });

  clause("an update names the version it expects", async (scene) => {
    const { webhooks } = scene.storage;
    const { id } = await storedWebhook(scene);
    const patch = { url: "https://example.com/new", events: null, description: null, updatedAt: scene.now() };
    const updated = await webhooks.update(id, 1, patch);
    scene.equal(updated, { ...(await webhooks.get(id)), ...patch, version: 2 });
    scene.equal(await webhooks.update(id, 1, patch), undefined);
    const headers = { headerNames: ["x-key"], sealedHeaders: Uint8Array.of(8) };
    scene.equal(await webhooks.update(id, 2, headers), { ...updated, ...headers, version: 3 });
    const none = { headerNames: [], sealedHeaders: null };
    scene.equal(await webhooks.update(id, 3, none), { ...updated, ...none, version: 4 });
    scene.equal(await webhooks.update(scene.id("hook"), 1, patch), undefined);
  });

  clause("a new webhook begins at the end of its user's log", async (scene) => {
    const instance = await scene.storedInstance();
    await scene.storage.events.append([scene.event("instance.created", instance)]);
    const [only] = await scene.storage.events.ofUser(scene.userId, {}, {});
    scene.equal((await storedWebhook(scene)).position, only?.position);
    scene.equal(await scene.storage.webhooks.behind(), []);
  });

  clause("a webhook is behind until the events after its position are planned", async (scene) => {
    const { webhooks, events } = scene.storage;
    const { id, position } = await storedWebhook(scene);
    await storedWebhook(scene, { userId: scene.id("usr") });
    await events.append([scene.event("instance.created", await scene.storedInstance())]);
    scene.equal(await webhooks.behind(), [id]);
    const planned = delivery(scene, id);
    scene.equal(await webhooks.plan(id, position, position + 1, [planned]), true);
    scene.equal(await webhooks.behind(), []);
    scene.equal(await webhooks.plan(id, position, position + 1, [delivery(scene, id)]), false);
    scene.equal(await webhooks.deliveries(id, {}, {}), [planned]);
  });

  clause("a disabled webhook plans nothing and continues at the end of the log", async (scene) => {
    const { webhooks, events } = scene.storage;
    const { id, position } = await storedWebhook(scene);
    await webhooks.update(id, 1, { disabledReason: "gone" });
    await events.append([scene.event("instance.created", await scene.storedInstance())]);
    scene.equal(await webhooks.enabled(), []);
    scene.equal(await webhooks.behind(), []);
    scene.equal(await webhooks.plan(id, position, position + 1, []), false);
    const enabled = await webhooks.update(id, 2, { disabledReason: null });
    scene.equal(enabled?.position, position + 1);
    scene.equal(idsOf(await webhooks.enabled()), [id]);
  });

  clause("pending deliveries are returned with their events, the longest due first", async (scene) => {
    const { webhooks, events } = scene.storage;
    const { id } = await storedWebhook(scene);
    const call = await scene.storedCall(await scene.storedInstance());
    const [before, event] = [scene.event("queued", call), scene.event("ringing", call)];
    await events.append([before, event]);
    const later = delivery(scene, id, { eventId: event.id, nextAttemptAt: scene.now() + 1_000 });
    const erased = delivery(scene, id, { nextAttemptAt: scene.now() });
    const test = delivery(scene, id, { body: "{}", nextAttemptAt: scene.now() + 2_000 });
    for (const record of [test, later, erased]) await webhooks.insertDelivery(record, MOST);
    await webhooks.insertDelivery(delivery(scene, id, { status: "delivered", nextAttemptAt: null }), MOST);
    scene.equal(await webhooks.pending(id, 10), [
      { delivery: erased, event: undefined },
      { delivery: later, event: { ...event, sequence: 2 } },
      { delivery: test, event: undefined },
    ]);
    scene.equal((await webhooks.pending(id, 1)).length, 1);
  });

  clause("an attempt is stored with its delivery", async (scene) => {
    const { webhooks } = scene.storage;
    const { id } = await storedWebhook(scene);
    const pending = delivery(scene, id);
    await webhooks.insertDelivery(pending, MOST);
    const at = scene.now();
    const result = { attempts: 1, nextAttemptAt: null, lastAttemptAt: at, lastStatus: 204, lastError: null } as const;
    scene.equal(await webhooks.deliveredSince(id, 0), false);
    scene.equal(await webhooks.attempted(pending.id, { ...result, status: "delivered" }), true);
    scene.equal(await webhooks.attempted(scene.id("dlv"), { ...result, status: "delivered" }), false);
    scene.equal(await webhooks.getDelivery(pending.id), { ...pending, ...result, status: "delivered" });
    scene.equal([await webhooks.deliveredSince(id, at), await webhooks.deliveredSince(id, at + 1)], [true, false]);
    scene.equal(await webhooks.pending(id, 10), []);
    scene.equal(idsOf(await webhooks.deliveries(id, { status: "delivered" }, {})), [pending.id]);
    scene.equal(await webhooks.deliveries(id, { status: "failed" }, {}), []);
  });

  clause("a webhook keeps the newest ended tests and replays, up to a limit", async (scene) => {
    const { webhooks } = scene.storage;
    const [{ id, position }, other] = [await storedWebhook(scene), await storedWebhook(scene)];
    const ended = (webhookId: string) => delivery(scene, webhookId, { status: "delivered", nextAttemptAt: null });
    const [planned, elsewhere] = [ended(id), ended(other.id)];
    await webhooks.plan(id, position, position + 1, [planned]);
    await webhooks.insertDelivery(elsewhere, 1);
    const requested = [1, 2, 3].map(() => ended(id));
    for (const replay of requested) scene.equal(await webhooks.insertDelivery(replay, 2), true);
    const next = delivery(scene, id);
    scene.equal(await webhooks.insertDelivery(next, 2), true);
    scene.equal(
      idsOf(await webhooks.deliveries(id, {}, {})),
      idsOf([next, ...requested.slice(1).toReversed(), planned]),
    );
    scene.equal(idsOf(await webhooks.deliveries(other.id, {}, {})), [elsewhere.id]);
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
    const [old, waiting] = [delivery(scene, id, { status: "failed", nextAttemptAt: null }), delivery(scene, id)];
    for (const record of [old, waiting]) await webhooks.insertDelivery(record, MOST);
    scene.equal(await webhooks.forgetDeliveries(old.createdAt), 0);
    scene.equal(await webhooks.forgetDeliveries(scene.now()), 1);
    scene.equal(idsOf(await webhooks.deliveries(id, {}, {})), [waiting.id]);
    scene.equal([await webhooks.delete(id), await webhooks.delete(id)], [true, false]);
    scene.equal([await webhooks.get(id), await webhooks.getDelivery(waiting.id)], [undefined, undefined]);
  });
}

async function storedWebhook(scene: StorageScene, patch: Partial<Webhook> = {}): Promise<Webhook> {
  const stored = await scene.storage.webhooks.insert(webhook(scene, patch), MOST);
  if (!stored) throw new Error("the webhook was not stored");
  return stored;
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
