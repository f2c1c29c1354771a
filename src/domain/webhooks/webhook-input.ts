import * as v from "valibot";
import { EVENT_TYPES, type EventType } from "../events.ts";
import { issueText, type Schema, storableText, visibleText, withJsonSchema } from "../input/input-checks.ts";
import { type WebhookHeaders, webhookHeadersSchema } from "./webhook-headers.ts";
import { WEBHOOK_URL_LENGTH } from "./webhook-url.ts";

/** The body of `POST /v1/webhooks`. */
export interface CreateWebhookInput {
  url: string;
  /** The types of the events to deliver. Default, and null: every type. */
  events?: EventType[] | null | undefined;
  description?: string | null | undefined;
  /**
   * Further headers of every message, such as an Authorization for a gateway. Stored encrypted, and never shown again.
   */
  headers?: WebhookHeaders | null | undefined;
}

/** The body of `PATCH /v1/webhooks/:webhookId`; an omitted field keeps its value. */
export interface UpdateWebhookInput {
  url?: string | undefined;
  /** Null: every type. */
  events?: EventType[] | null | undefined;
  description?: string | null | undefined;
  /** Replaces all headers; null removes them. */
  headers?: WebhookHeaders | null | undefined;
  /** True enables a disabled webhook, which continues with the events from then on. */
  enabled?: boolean | undefined;
}

const DESCRIPTION_LENGTH = 500;

/** The schemas of the bodies that create and update a webhook. */
export interface WebhookSchemas {
  readonly createWebhook: Schema<CreateWebhookInput>;
  readonly updateWebhook: Schema<UpdateWebhookInput>;
}

const types = v.nullable(
  v.pipe(
    v.array(v.picklist(EVENT_TYPES, issueText("value_invalid", "must be one of the types of GET /v1/events"))),
    v.minLength(1, issueText("too_short", "name at least one type, or omit events for every type")),
    v.maxLength(EVENT_TYPES.length, issueText("too_long", `at most ${EVENT_TYPES.length} types are allowed`)),
  ),
);
const description = v.nullable(
  v.pipe(
    v.string(),
    v.maxLength(DESCRIPTION_LENGTH, issueText("too_long", `at most ${DESCRIPTION_LENGTH} characters are allowed`)),
    storableText("the description"),
    visibleText("the description"),
  ),
);
// The use case checks the rest of the rule, which depends on the server.
const url = withJsonSchema(v.string(), {
  type: "string",
  format: "uri",
  maxLength: WEBHOOK_URL_LENGTH,
  description: "An https URL with a host on the public Internet.",
  examples: ["https://example.com/ringport"],
});

export const WEBHOOK_SCHEMAS: WebhookSchemas = {
  createWebhook: v.object({
    url,
    events: v.optional(
      withJsonSchema(types, typesJson("Types of the events to deliver; by default, and for null, every type.")),
    ),
    description: v.optional(description),
    headers: v.optional(
      webhookHeadersSchema(
        "Further headers of every message, such as an Authorization for a gateway. Stored encrypted, and never shown again.",
      ),
    ),
  }),
  updateWebhook: v.object({
    url: v.optional(url),
    events: v.optional(withJsonSchema(types, typesJson("Types of the events to deliver; null for every type."))),
    description: v.optional(description),
    headers: v.optional(
      webhookHeadersSchema("Replaces all headers; null removes them. Required if the URL leads to another origin."),
    ),
    enabled: v.optional(
      withJsonSchema(v.boolean(), {
        type: "boolean",
        description: "false stops deliveries; true resumes them, with the events from then on.",
      }),
    ),
  }),
};

function typesJson(description: string): Record<string, unknown> {
  const items = { type: "string", enum: EVENT_TYPES };
  return {
    description,
    oneOf: [{ type: "array", items, minItems: 1, maxItems: EVENT_TYPES.length }, { type: "null" }],
  };
}
