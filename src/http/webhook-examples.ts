import type { View } from "./answers.ts";
import { EVENT_EXAMPLE } from "./examples.ts";
import type { Examples } from "./route.ts";

export const CREATE_WEBHOOK_EXAMPLES: Examples = {
  all: { summary: "Every event", value: { url: "https://example.com/ringport" } },
  final: {
    summary: "How calls end",
    value: { url: "https://example.com/ringport", events: ["completed", "failed"], description: "CRM" },
  },
};

export const UPDATE_WEBHOOK_EXAMPLES: Examples = {
  events: { summary: "Other types", value: { events: ["completed"] } },
  enable: { summary: "Resume deliveries", value: { enabled: true } },
};

export const WEBHOOK_EXAMPLE: View<"Webhook"> = {
  id: "hook_01k7zq5r9te2f4h6k8n0q2s4vw",
  url: "https://example.com/ringport",
  events: ["completed", "failed"],
  description: "CRM",
  enabled: true,
  disabled_reason: null,
  created_at: "2026-01-31T11:59:00.000Z",
  updated_at: "2026-01-31T11:59:00.000Z",
};

export const WEBHOOK_WITH_SECRET_EXAMPLE: View<"WebhookWithSecret"> = {
  ...WEBHOOK_EXAMPLE,
  secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=",
};

export const DELIVERY_EXAMPLE: View<"WebhookDelivery"> = {
  id: "dlv_01k7zq7t1vg4h6k8n0q2s4v6xz",
  webhook_id: WEBHOOK_EXAMPLE.id,
  event_id: EVENT_EXAMPLE.id,
  event_type: "completed",
  status: "pending",
  attempts: 1,
  next_attempt_at: "2026-01-31T12:00:15.300Z",
  last_attempt_at: "2026-01-31T12:00:10.020Z",
  last_status: 503,
  last_error: "the endpoint answered 503",
  created_at: "2026-01-31T12:00:10.000Z",
};
