import { DELIVERY_STATUSES } from "../../domain/webhooks/webhook.ts";
import type { CreateWebhookInput, UpdateWebhookInput } from "../../domain/webhooks/webhook-input.ts";
import type { Reply } from "../../ports/web.ts";
import type { ReadJson } from "../bodies/body.ts";
import type { HttpDependencies } from "../dependencies.ts";
import { createOptions, preferenceApplied } from "../replies/creation.ts";
import { page } from "../replies/list-reply.ts";
import { jsonReply, noContentAfter, record } from "../replies/reply.ts";
import { choiceParameter, cursorParameter, limitParameter, readQuery } from "../requests/query-parameter.ts";
import { type HttpRoute, NOT_MODIFIED, operationsOf } from "../route.ts";
import { deliveryView, webhookView, webhookWithSecretView } from "../views/webhook-view.ts";
import { deliveryIdOf, webhookIdOf } from "./record-id.ts";

const path = { webhookId: "The id of the webhook, with the prefix hook_." };
const deliveryPath = { ...path, deliveryId: "The id of the delivery, with the prefix dlv_." };
/** Maximum size of a body, bytes: a long URL and description, every event type, escapes and white space. */
const MAX_BODY = 64 * 1024;
const listQuery = { limit: limitParameter(200, "all"), cursor: cursorParameter("hook") };
const deliveriesQuery = {
  status: choiceParameter("status", "Only deliveries in this state.", DELIVERY_STATUSES),
  limit: limitParameter(200, "50"),
  cursor: cursorParameter("dlv"),
};
const DEFAULT_DELIVERIES = 50;
const BODY_PROBLEMS = [
  ...(["invalid_request", "invalid_json", "demo_token_restricted", "body_too_large"] as const),
  ...(["unsupported_media_type", "request_timeout", "server_busy"] as const),
];
const WEBHOOK_PROBLEMS = ["demo_token_restricted", "webhook_not_found"] as const;

/** The routes for the user's webhooks. */
export function webhookRoutes({ webhooks }: Pick<HttpDependencies, "webhooks">, readJson: ReadJson): HttpRoute[] {
  const operation = operationsOf("Webhooks");

  return [
    {
      method: "POST",
      path: "/v1/webhooks",
      operation: operation("createWebhook", "Create a webhook", {
        access: "admin",
        cost: ["bodies"],
        description:
          "From then on, events of all instances and calls are sent to the URL, signed as Standard Webhooks 1.0 " +
          "specifies. Only this response shows the secret.",
        headers: ["Prefer"],
        body: { schema: "CreateWebhook" },
        responses: {
          201: {
            description: "The webhook was created.",
            schema: "WebhookWithSecret",
            headers: ["Location", "Preference-Applied"],
          },
        },
        problems: [...BODY_PROBLEMS, "webhook_quota"],
      }),
      async run(context) {
        const body = await readJson(context, MAX_BODY);
        const webhook = await webhooks.create(context.caller, body as CreateWebhookInput, createOptions(context));
        const location = `${context.base}${context.path}/${webhook.id}`;
        return secretReply(201, webhookWithSecretView(webhook), { location, ...preferenceApplied(context) });
      },
    },
    {
      method: "GET",
      path: "/v1/webhooks",
      operation: operation("listWebhooks", "List webhooks, newest first", {
        access: "read",
        cost: ["pages", "turns"],
        query: listQuery,
        responses: {
          200: { description: "The list.", schema: "WebhookList", headers: ["Link"] },
        },
        problems: ["invalid_request", "demo_token_restricted"],
      }),
      async run(context) {
        const { limit, cursor } = readQuery(context.search, listQuery);
        return page(context, limit, cursor, (page) => webhooks.list(context.caller, page), webhookView);
      },
    },
    {
      method: "GET",
      path: "/v1/webhooks/:webhookId",
      operation: operation("getWebhook", "Read a webhook", {
        access: "read",
        cost: "small",
        path,
        headers: ["If-None-Match"],
        responses: {
          200: { description: "The webhook.", schema: "Webhook", headers: ["ETag"] },
          304: NOT_MODIFIED,
        },
        problems: WEBHOOK_PROBLEMS,
      }),
      run: async (context) => record(context, webhookView(await webhooks.get(context.caller, webhookIdOf(context)))),
    },
    {
      method: "PATCH",
      path: "/v1/webhooks/:webhookId",
      operation: operation("updateWebhook", "Change a webhook", {
        access: "admin",
        cost: ["bodies"],
        description:
          "Changes the fields that the body names. A webhook that is enabled again gets the events from then on; its " +
          "pending deliveries continue.",
        path,
        headers: ["Prefer"],
        body: { schema: "UpdateWebhook" },
        responses: {
          200: {
            description: "The webhook as it is now.",
            schema: "Webhook",
            headers: ["Preference-Applied"],
          },
        },
        problems: [...BODY_PROBLEMS, "webhook_not_found"],
      }),
      async run(context) {
        const id = webhookIdOf(context);
        const body = await readJson(context, MAX_BODY);
        const { strict } = createOptions(context);
        const webhook = await webhooks.update(context.caller, id, body as UpdateWebhookInput, { strict });
        return jsonReply(200, webhookView(webhook), preferenceApplied(context));
      },
    },
    {
      method: "DELETE",
      path: "/v1/webhooks/:webhookId",
      operation: operation("deleteWebhook", "Delete a webhook and its deliveries", {
        access: "admin",
        cost: "small",
        path,
        responses: { 204: { description: "The webhook was deleted." } },
        problems: WEBHOOK_PROBLEMS,
      }),
      run: async (context) => noContentAfter(webhooks.delete(context.caller, webhookIdOf(context))),
    },
    {
      method: "POST",
      path: "/v1/webhooks/:webhookId/rotate-secret",
      operation: operation("rotateWebhookSecret", "Replace the secret of a webhook", {
        access: "admin",
        cost: "small",
        description: "For 24 h every message is signed with the old secret too, so that no message is lost.",
        path,
        responses: {
          200: {
            description: "The webhook with its new secret.",
            schema: "WebhookWithSecret",
          },
        },
        problems: WEBHOOK_PROBLEMS,
      }),
      run: async (context) =>
        secretReply(200, webhookWithSecretView(await webhooks.rotateSecret(context.caller, webhookIdOf(context)))),
    },
    {
      method: "POST",
      path: "/v1/webhooks/:webhookId/test",
      operation: operation("testWebhook", "Send a test event to a webhook", {
        access: "admin",
        cost: "small",
        description: "The event has the type webhook.test and appears in no log; call_id and instance_id are null.",
        path,
        responses: { 202: { description: "The delivery.", schema: "WebhookDelivery" } },
        problems: [...WEBHOOK_PROBLEMS, "webhook_disabled", "delivery_quota"],
      }),
      run: async (context) => jsonReply(202, deliveryView(await webhooks.test(context.caller, webhookIdOf(context)))),
    },
    {
      method: "GET",
      path: "/v1/webhooks/:webhookId/deliveries",
      operation: operation("listWebhookDeliveries", "List the deliveries of a webhook, newest first", {
        access: "read",
        cost: ["pages"],
        description: "Finished deliveries are kept for seven days.",
        path,
        query: deliveriesQuery,
        responses: {
          200: {
            description: "One page.",
            schema: "WebhookDeliveryList",
            headers: ["Link"],
          },
        },
        problems: ["invalid_request", ...WEBHOOK_PROBLEMS],
      }),
      async run(context) {
        const { status, limit = DEFAULT_DELIVERIES, cursor } = readQuery(context.search, deliveriesQuery);
        const id = webhookIdOf(context);
        const read = (page: { limit?: number | undefined; after?: string | undefined }) =>
          webhooks.deliveries(context.caller, id, { status }, page);
        return page(context, limit, cursor, read, deliveryView);
      },
    },
    {
      method: "POST",
      path: "/v1/webhooks/:webhookId/deliveries/:deliveryId/replay",
      operation: operation("replayWebhookDelivery", "Deliver the event of a delivery again", {
        access: "admin",
        cost: "small",
        description: "Makes a new delivery of the same event, with the same webhook-id.",
        path: deliveryPath,
        responses: { 202: { description: "The new delivery.", schema: "WebhookDelivery" } },
        problems: [...WEBHOOK_PROBLEMS, "delivery_not_found", "webhook_disabled", "delivery_quota"],
      }),
      async run(context) {
        const webhookId = webhookIdOf(context);
        return jsonReply(202, deliveryView(await webhooks.replay(context.caller, webhookId, deliveryIdOf(context))));
      },
    },
  ];
}

/** A reply with a secret, which no cache may keep. */
function secretReply(status: number, view: unknown, headers: Readonly<Record<string, string>> = {}): Reply {
  return jsonReply(status, view, { ...headers, "cache-control": "no-store" });
}
