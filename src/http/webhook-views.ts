import type { WebhookWithSecret } from "../application/use-cases.ts";
import type { Webhook, WebhookDelivery } from "../domain/webhook.ts";
import type { View } from "./answers.ts";
import { maybeTimestamp, timestamp } from "./views.ts";

/** A webhook without its secret. */
export function webhookView(webhook: Webhook): View<"Webhook"> {
  return {
    id: webhook.id,
    url: webhook.url,
    events: webhook.events && [...webhook.events],
    description: webhook.description,
    header_names: [...webhook.headerNames],
    enabled: webhook.disabledReason === null,
    disabled_reason: webhook.disabledReason,
    created_at: timestamp(webhook.createdAt),
    updated_at: timestamp(webhook.updatedAt),
  };
}

/** A webhook in the response that shows its new secret. */
export function webhookWithSecretView(webhook: WebhookWithSecret): View<"WebhookWithSecret"> {
  return { ...webhookView(webhook), secret: webhook.secret };
}

export function deliveryView(delivery: WebhookDelivery): View<"WebhookDelivery"> {
  return {
    id: delivery.id,
    webhook_id: delivery.webhookId,
    event_id: delivery.eventId,
    event_type: delivery.eventType,
    status: delivery.status,
    attempts: delivery.attempts,
    next_attempt_at: maybeTimestamp(delivery.nextAttemptAt),
    last_attempt_at: maybeTimestamp(delivery.lastAttemptAt),
    last_status: delivery.lastStatus,
    last_error: delivery.lastError,
    created_at: timestamp(delivery.createdAt),
  };
}
