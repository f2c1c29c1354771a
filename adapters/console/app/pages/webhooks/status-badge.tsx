import type { Webhook, WebhookDelivery } from "../../../../../src/client/index.ts";
import { Badge } from "../../components/badge.tsx";
import { dictionary } from "../../dictionary/dictionary.ts";
import en from "../../dictionary/en/webhooks.ts";
import pt from "../../dictionary/pt/webhooks.ts";

const t = dictionary({ en, pt });

/** A webhook's state. */
export function WebhookBadge({ webhook }: { readonly webhook: Webhook }) {
  const { status } = t.value;
  if (webhook.enabled) return <Badge tone="good">{status.enabled}</Badge>;
  return <Badge tone={webhook.disabled_reason === "requested" ? "quiet" : "bad"}>{status.disabled}</Badge>;
}

const TONES = { pending: "info", delivered: "good", failed: "bad" } as const;

/** A delivery's state. */
export function DeliveryBadge({ delivery }: { readonly delivery: WebhookDelivery }) {
  return <Badge tone={TONES[delivery.status]}>{t.value.deliveries.status[delivery.status]}</Badge>;
}
