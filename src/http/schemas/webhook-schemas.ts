import * as v from "valibot";
import { EVENT_TYPES } from "../../domain/events.ts";
import { DELIVERY_STATUSES } from "../../domain/webhook.ts";
import { count, shape, timestamp } from "./shape.ts";

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
  created_at: timestamp,
  updated_at: timestamp,
};

export const Webhook = shape("An endpoint that gets events.", webhook);

export const WebhookWithSecret = shape("A webhook with a new secret, which is shown this one time only.", {
  ...webhook,
  secret: v.pipe(v.string(), v.startsWith("whsec_"), v.description("The secret that verifies its messages.")),
});

export const WebhookDelivery = shape("One event on its way to one webhook.", {
  id: v.pipe(v.string(), v.startsWith("dlv_")),
  webhook_id: webhook.id,
  event_id: v.pipe(v.string(), v.startsWith("evt_"), v.description("The webhook-id of the message.")),
  event_type: v.pipe(v.string(), v.description("The type of the event; webhook.test for a test.")),
  status: v.picklist(DELIVERY_STATUSES),
  attempts: count,
  next_attempt_at: v.pipe(v.nullable(timestamp), v.description("null if no attempt is due.")),
  last_attempt_at: v.nullable(timestamp),
  last_status: v.pipe(v.nullable(v.number()), v.description("Status code of the last response; null without one.")),
  last_error: v.pipe(v.nullable(v.string()), v.description("Why the last attempt failed.")),
  created_at: timestamp,
});
