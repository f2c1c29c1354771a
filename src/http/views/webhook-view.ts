import * as v from "valibot";
import type { WebhookWithSecret as RevealedWebhook } from "../../application/use-cases.ts";
import { EVENT_TYPES } from "../../domain/events.ts";
import {
  DELIVERY_STATUSES,
  type WebhookDelivery as StoredDelivery,
  type Webhook as StoredWebhook,
} from "../../domain/webhooks/webhook.ts";
import type { View } from "../response-types.ts";
import { maybeTimestamp, timestamp } from "../timestamp.ts";
import { count, isoTime, shape } from "./shape.ts";

const webhook = {
  id: v.pipe(v.string(), v.startsWith("hook_")),
  url: v.string(),
  events: v.pipe(
    v.nullable(v.array(v.picklist(EVENT_TYPES))),
    v.description("The delivered types; null for every type."),
  ),
  description: v.nullable(v.string()),
  header_names: v.pipe(
    v.array(v.string()),
    v.description("Names of the headers that are sent along, in lower case; their values are never shown."),
  ),
  enabled: v.boolean(),
  disabled_reason: v.pipe(
    v.nullable(v.picklist(["requested", "gone", "failing"])),
    v.description("gone: the endpoint returned 410; failing: it failed for days; null while the webhook is enabled."),
  ),
  created_at: isoTime,
  updated_at: isoTime,
};

export const webhookShape = shape("An endpoint that gets events.", webhook);

export const webhookWithSecretShape = shape("A webhook with a new secret, which is shown only once.", {
  ...webhook,
  secret: v.pipe(v.string(), v.startsWith("whsec_"), v.description("The secret that verifies its messages.")),
});

export const webhookDeliveryShape = shape("One event on its way to one webhook.", {
  id: v.pipe(v.string(), v.startsWith("dlv_")),
  webhook_id: webhook.id,
  event_id: v.pipe(v.string(), v.startsWith("evt_"), v.description("The webhook-id of the message.")),
  event_type: v.pipe(v.string(), v.description("The type of the event; webhook.test for a test.")),
  status: v.picklist(DELIVERY_STATUSES),
  attempts: count,
  next_attempt_at: v.pipe(v.nullable(isoTime), v.description("null if no attempt is due.")),
  last_attempt_at: v.nullable(isoTime),
  last_status: v.pipe(v.nullable(v.number()), v.description("Status code of the last response; null without one.")),
  last_error: v.pipe(v.nullable(v.string()), v.description("Reason for the failure of the last attempt.")),
  created_at: isoTime,
});

/** A webhook without its secret. */
export function webhookView(webhook: StoredWebhook): View<"Webhook"> {
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
export function webhookWithSecretView(webhook: RevealedWebhook): View<"WebhookWithSecret"> {
  return { ...webhookView(webhook), secret: webhook.secret };
}

export function deliveryView(delivery: StoredDelivery): View<"WebhookDelivery"> {
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
