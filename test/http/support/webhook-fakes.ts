import type { WebhookUseCases } from "../../../src/application/use-cases.ts";
import { Refusal } from "../../../src/domain/refusal.ts";
import type { Webhook, WebhookDelivery } from "../../../src/domain/webhooks/webhook.ts";

export const WEBHOOK_ID = "hook_01k7zq5r9te2f4h6k8n0q2s4vw";
export const DELIVERY_ID = "dlv_01k7zq7t1vg4h6k8n0q2s4v6xz";
const NOW = Date.UTC(2026, 0, 31, 12);
const SECRET = "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";

export const webhook = (overrides: Partial<Webhook> = {}): Webhook => ({
  id: WEBHOOK_ID,
  userId: "usr_anna",
  url: "https://example.com/hooks",
  events: ["completed"],
  description: null,
  headerNames: [],
  sealedHeaders: null,
  disabledReason: null,
  sealedKey: new TextEncoder().encode("sealed key"),
  sealedOldKey: null,
  oldKeyUntil: null,
  position: 7,
  createdAt: NOW,
  updatedAt: NOW,
  version: 1,
  ...overrides,
});

export const delivery = (overrides: Partial<WebhookDelivery> = {}): WebhookDelivery => ({
  id: DELIVERY_ID,
  webhookId: WEBHOOK_ID,
  eventId: "evt_01k7zq3q8rf2j4m6p8s0v2x4zc",
  eventType: "completed",
  body: null,
  status: "delivered",
  attempts: 1,
  nextAttemptAt: null,
  lastAttemptAt: NOW + 10,
  lastStatus: 204,
  lastError: null,
  createdAt: NOW,
  ...overrides,
});

/** Use cases with one webhook and one delivery. */
export function webhookUseCases(): WebhookUseCases {
  const assertKnown = async (id: string): Promise<void> => {
    if (id !== WEBHOOK_ID) throw new Refusal("webhook_not_found", "there is no such webhook");
  };
  return {
    create: async () => ({ ...webhook(), secret: SECRET }),
    list: async () => [webhook()],
    get: (_, id) => assertKnown(id).then(() => webhook()),
    update: (_, id) => assertKnown(id).then(() => webhook()),
    delete: (_, id) => assertKnown(id),
    rotateSecret: (_, id) => assertKnown(id).then(() => ({ ...webhook(), secret: SECRET })),
    test: (_, id) => assertKnown(id).then(() => delivery({ status: "pending" })),
    deliveries: (_, id) => assertKnown(id).then(() => [delivery()]),
    replay: async (_, id, deliveryId) => {
      await assertKnown(id);
      if (deliveryId !== DELIVERY_ID) throw new Refusal("delivery_not_found", "the webhook has no such delivery");
      return delivery({ status: "pending" });
    },
  };
}
