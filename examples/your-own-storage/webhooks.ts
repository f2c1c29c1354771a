import type { Storage, Webhook } from "ringport";
import type { Memory } from "./memory.ts";

/** Endpoints of users, and the deliveries to them. */
export function webhooks(memory: Memory): Storage["webhooks"] {
  const newestFirst = <T extends { id: string }>(
    records: Iterable<T>,
    page: { limit?: number | undefined; after?: string | undefined },
  ) =>
    [...records]
      .filter(({ id }) => page.after === undefined || id < page.after)
      .sort((one, other) => (one.id < other.id ? 1 : -1))
      .slice(0, page.limit);
  const endOf = (userId: string) =>
    Math.max(
      0,
      ...[...memory.events.values()].filter((event) => event.userId === userId).map((event) => event.position),
    );
  const enabled = () => [...memory.webhooks.values()].filter(({ disabledReason }) => disabledReason === null);
  const deliveriesOf = (webhookId: string) =>
    [...memory.deliveries.values()].filter((delivery) => delivery.webhookId === webhookId);
  /** Tests and replays. */
  const requested = new Set<string>();

  return {
    insert: async (webhook, most) => {
      const own = [...memory.webhooks.values()].filter(({ userId }) => userId === webhook.userId);
      if (own.length >= most) return undefined;
      const stored: Webhook = { ...webhook, position: endOf(webhook.userId) };
      memory.webhooks.set(stored.id, stored);
      return stored;
    },
    get: async (id) => memory.webhooks.get(id),
    list: async (userId, page) =>
      newestFirst(
        [...memory.webhooks.values()].filter((webhook) => webhook.userId === userId),
        page,
      ),
    enabled: async () => enabled(),
    update: async (id, version, patch) => {
      const before = memory.webhooks.get(id);
      if (before?.version !== version) return undefined;
      const position =
        patch.disabledReason === null && before.disabledReason !== null ? endOf(before.userId) : before.position;
      const updated: Webhook = { ...before, ...patch, position, version: version + 1 };
      memory.webhooks.set(id, updated);
      return updated;
    },
    delete: async (id) => {
      for (const delivery of deliveriesOf(id)) memory.deliveries.delete(delivery.id);
      return memory.webhooks.delete(id);
    },
    behind: async () =>
      enabled()
        .filter(({ userId, position }) => endOf(userId) > position)
        .map(({ id }) => id),
    plan: async (id, from, to, deliveries) => {
      const webhook = memory.webhooks.get(id);
      if (webhook?.position !== from || webhook.disabledReason !== null) return false;
      memory.webhooks.set(id, { ...webhook, position: to });
      for (const delivery of deliveries) memory.deliveries.set(delivery.id, delivery);
      return true;
    },
    insertDelivery: async (delivery, most) => {
      const asked = deliveriesOf(delivery.webhookId).filter(({ id }) => requested.has(id));
      const over = asked.filter(({ nextAttemptAt }) => nextAttemptAt === null);
      if (asked.length - over.length >= most) return false;
      for (const { id } of newestFirst(over, {}).slice(most)) memory.deliveries.delete(id);
      memory.deliveries.set(delivery.id, delivery);
      requested.add(delivery.id);
      return true;
    },
    pending: async (webhookId, limit) =>
      deliveriesOf(webhookId)
        .filter(({ nextAttemptAt }) => nextAttemptAt !== null)
        .sort((one, other) => (one.nextAttemptAt ?? 0) - (other.nextAttemptAt ?? 0))
        .slice(0, limit)
        .map((delivery) => {
          const { position: _, ...event } = memory.events.get(delivery.eventId) ?? { position: 0 };
          return { delivery, event: "id" in event && delivery.body === null ? event : undefined };
        }),
    attempted: async (id, result) => {
      const before = memory.deliveries.get(id);
      if (before) memory.deliveries.set(id, { ...before, ...result });
      return before !== undefined;
    },
    deliveredSince: async (webhookId, at) =>
      deliveriesOf(webhookId).some(({ status, lastAttemptAt }) => status === "delivered" && (lastAttemptAt ?? 0) >= at),
    getDelivery: async (id) => memory.deliveries.get(id),
    deliveries: async (webhookId, { status }, page) =>
      newestFirst(
        deliveriesOf(webhookId).filter((delivery) => delivery.status === (status ?? delivery.status)),
        page,
      ),
    forgetDeliveries: async (createdBefore) => {
      const old = [...memory.deliveries.values()].filter(
        (one) => one.status !== "pending" && one.createdAt < createdBefore,
      );
      for (const { id } of old) memory.deliveries.delete(id);
      return old.length;
    },
  };
}
