import type { WebhookDelivery } from "../../domain/webhooks/webhook.ts";
import type { Context } from "../context.ts";

/** A delivery that is due now. */
export function newDelivery(
  { ids, system }: Pick<Context, "ids" | "system">,
  fields: Pick<WebhookDelivery, "webhookId" | "eventId" | "eventType" | "body">,
): WebhookDelivery {
  const now = system.now();
  return {
    id: ids("dlv"),
    ...fields,
    status: "pending",
    attempts: 0,
    nextAttemptAt: now,
    lastAttemptAt: null,
    lastStatus: null,
    lastError: null,
    createdAt: now,
  };
}
