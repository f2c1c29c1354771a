import { describe, expect, test } from "vitest";
import { Refusal, type RefusalCode } from "../../src/domain/refusal.ts";
import { PROBLEMS } from "../../src/http/problems/problem-table.ts";
import { ask } from "./support/ask.ts";
import { serve } from "./support/fakes.ts";
import { DELIVERY_ID, delivery, WEBHOOK_ID, webhook } from "./support/webhook-fakes.ts";

const WEBHOOK_JSON = {
  id: WEBHOOK_ID,
  url: "https://example.com/hooks",
  events: ["completed"],
  description: null,
  header_names: [],
  enabled: true,
  disabled_reason: null,
  created_at: "2026-01-31T12:00:00.000Z",
  updated_at: "2026-01-31T12:00:00.000Z",
};
const DELIVERY_JSON = {
  id: DELIVERY_ID,
  webhook_id: WEBHOOK_ID,
  event_id: "evt_01k7zq3q8rf2j4m6p8s0v2x4zc",
  event_type: "completed",
  status: "delivered",
  attempts: 1,
  next_attempt_at: null,
  last_attempt_at: "2026-01-31T12:00:00.010Z",
  last_status: 204,
  last_error: null,
  created_at: "2026-01-31T12:00:00.000Z",
};
const webhookPath = `/v1/webhooks/${WEBHOOK_ID}`;

describe("POST /v1/webhooks", () => {
  const post = { method: "POST", path: "/v1/webhooks", body: { url: "https://example.com/hooks" } };

  test("responds 201 with the secret and a Location, and forbids caching", async () => {
    const { status, json, headers } = await ask(serve().app, post);
    expect(status).toBe(201);
    expect(json).toEqual({ ...WEBHOOK_JSON, secret: expect.stringMatching(/^whsec_/) });
    expect(headers).toMatchObject({ location: webhookPath, "cache-control": "no-store" });
  });

  test.each(["required", "demo_token_restricted", "webhook_quota"] satisfies RefusalCode[])(
    "the refusal %s becomes its problem document",
    async (code) => {
      const create = () => Promise.reject(new Refusal(code, "because"));
      const { status, json } = await ask(serve({ webhooks: { create } }).app, post);
      expect([status, json.code]).toEqual([PROBLEMS[code].status, code]);
    },
  );
});

describe("a webhook", () => {
  test.each([
    ["GET", webhookPath],
    ["PATCH", webhookPath],
  ])("is returned by %s without its keys", async (method, path) => {
    const reply = await ask(serve().app, { method, path, ...(method === "PATCH" && { body: {} }) });
    expect([reply.status, reply.json]).toEqual([200, WEBHOOK_JSON]);
  });

  test("has the reason if it is disabled", async () => {
    const get = async () => webhook({ disabledReason: "gone", events: null });
    const { json } = await ask(serve({ webhooks: { get } }).app, { path: webhookPath });
    expect(json).toEqual({ ...WEBHOOK_JSON, events: null, enabled: false, disabled_reason: "gone" });
  });

  test("is listed in pages", async () => {
    const list = async () => [webhook(), webhook()];
    const reply = await ask(serve({ webhooks: { list } }).app, { path: "/v1/webhooks?limit=1" });
    expect(reply.json).toEqual([WEBHOOK_JSON]);
    expect(reply.headers.link).toMatch(/^<\/v1\/webhooks\?limit=1&cursor=[\w-]+>; rel="next"$/);
  });

  test("is deleted with 204", async () => {
    expect((await ask(serve().app, { method: "DELETE", path: webhookPath })).status).toBe(204);
    const unknownReply = await ask(serve().app, { method: "DELETE", path: "/v1/webhooks/hook_unknown" });
    expect([unknownReply.status, unknownReply.json.code]).toEqual([404, "webhook_not_found"]);
  });

  test("gets a new secret, which no cache keeps", async () => {
    const reply = await ask(serve().app, { method: "POST", path: `${webhookPath}/rotate-secret` });
    expect([reply.status, reply.headers["cache-control"]]).toEqual([200, "no-store"]);
    expect(reply.json).toEqual({ ...WEBHOOK_JSON, secret: expect.stringMatching(/^whsec_/) });
  });
});

describe("the deliveries of a webhook", () => {
  test("are listed with their last attempt", async () => {
    const { status, json } = await ask(serve().app, { path: `${webhookPath}/deliveries` });
    expect([status, json]).toEqual([200, [DELIVERY_JSON]]);
  });

  test("are filtered by status, 50 a page", async () => {
    const requests: unknown[] = [];
    const deliveries = async (...args: unknown[]) => {
      requests.push(args.slice(2));
      return [delivery({ status: "failed" })];
    };
    await ask(serve({ webhooks: { deliveries } }).app, { path: `${webhookPath}/deliveries?status=failed` });
    expect(requests).toEqual([[{ status: "failed" }, { limit: 51, after: undefined }]]);
    expect((await ask(serve().app, { path: `${webhookPath}/deliveries?status=lost` })).status).toBe(400);
  });

  test.each([`${webhookPath}/test`, `${webhookPath}/deliveries/${DELIVERY_ID}/replay`])(
    "are created by POST %s with 202",
    async (path) => {
      const { status, json } = await ask(serve().app, { method: "POST", path });
      expect([status, json]).toEqual([202, { ...DELIVERY_JSON, status: "pending" }]);
    },
  );

  test("that are unknown get 404", async () => {
    const { status, json } = await ask(serve().app, { method: "POST", path: `${webhookPath}/deliveries/dlv_x/replay` });
    expect([status, json.code]).toEqual([404, "delivery_not_found"]);
  });
});
