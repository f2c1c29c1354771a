import { describe, expect, test } from "vitest";
import { REPLY_HEADERS, REQUEST_HEADERS } from "../../src/http/route.ts";
import { ask } from "./support/ask.ts";
import { CALL_ID, call, INSTANCE_ID, serve } from "./support/fakes.ts";

const ORIGIN = "https://app.example";
const preflight = {
  method: "OPTIONS",
  path: "/v1/calls",
  token: null,
  headers: { origin: ORIGIN, "access-control-request-method": "POST" },
};

test("without CORS, a preflight gets a 401 and no reply has CORS headers", async () => {
  const { app } = serve();
  expect((await ask(app, preflight)).status).toBe(401);
  const reply = await ask(app, { path: "/v1/calls", headers: { origin: ORIGIN } });
  expect(Object.keys(reply.headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
  expect(reply.headers).not.toHaveProperty("vary");
});

describe("CORS for all origins", () => {
  const { app } = serve({ http: { cors: true } });

  test("a preflight without a token gets 204", async () => {
    for (const path of ["/v1/calls", "/v1/calls/x", "/nowhere"]) {
      const reply = await ask(app, { ...preflight, path });
      expect(reply.status).toBe(204);
      expect(reply.headers).toMatchObject({
        "access-control-allow-origin": "*",
        "access-control-allow-methods": "GET, HEAD, POST, PUT, PATCH, DELETE",
        "access-control-max-age": "600",
      });
      expect(reply.headers["access-control-allow-headers"]).toContain("authorization");
      expect(reply.headers["access-control-allow-headers"]).toContain("idempotency-key");
    }
  });

  test("an OPTIONS request beyond preflight needs a token", async () => {
    expect((await ask(app, { method: "OPTIONS", path: "/v1/calls", token: null })).status).toBe(401);
  });

  test("the page can also read refusals", async () => {
    const reply = await ask(app, { path: "/v1/calls", token: null, headers: { origin: ORIGIN } });
    expect(reply.status).toBe(401);
    expect(reply.headers["access-control-allow-origin"]).toBe("*");
    expect(reply.headers["access-control-expose-headers"]).toContain("x-request-id");
    expect(reply.headers["access-control-expose-headers"]).toContain("next-cursor");
    expect(reply.headers).not.toHaveProperty("vary");
  });
});

/** Headers that a page can always read (https://fetch.spec.whatwg.org/#cors-safelisted-response-header-name). */
const SAFE_REPLY = ["cache-control", "content-language", "content-length", "content-type", "expires", "last-modified"];
/** Headers that are irrelevant to a page. */
const OTHER_HEADERS = ["vary", "x-content-type-options", "connection", "upgrade"];

describe("CORS headers", () => {
  const file = { size: 3, durationMs: 1, bytes: async function* () {} };
  const { app } = serve({
    http: { cors: true, rateLimit: { limit: 100, windowMs: 1000 } },
    calls: { get: async () => call({ status: "COMPLETED" }), recording: async () => file },
  });
  const exposedHeaders = async () =>
    (await ask(app, { path: "/v1/calls" })).headers["access-control-expose-headers"]?.split(", ") ?? [];

  test("every documented header is allowed or exposed", async () => {
    const { headers } = await ask(app, preflight);
    const allowedHeaders = headers["access-control-allow-headers"]?.split(", ");
    const names = (table: object) => Object.keys(table).map((name) => name.toLowerCase());
    expect(allowedHeaders).toEqual(
      expect.arrayContaining(["range", "if-range", "authorization", ...names(REQUEST_HEADERS)]),
    );
    expect(await exposedHeaders()).toEqual(
      expect.arrayContaining(["content-range", "content-disposition", ...names(REPLY_HEADERS)]),
    );
  });

  test.each<[method: string, path: string, headers?: Record<string, string>]>([
    ["GET", "/v1/calls"],
    ["GET", "/v1/events"],
    ["GET", "/v1/instances"],
    ["GET", `/v1/instances/${INSTANCE_ID}`],
    ["GET", `/v1/instances/${INSTANCE_ID}/configure`],
    ["GET", `/v1/calls/${CALL_ID}/recording`],
    ["GET", `/v1/calls/${CALL_ID}/recording`, { range: "bytes=0-1" }],
    ["GET", `/v1/calls/${CALL_ID}/recording`, { range: "bytes=9-" }],
    ["GET", `/v1/calls/${CALL_ID}/stream`],
    ["PUT", "/v1/calls"],
    ["POST", "/v1/calls", { "content-type": "text/plain" }],
  ])("%s %s sends only exposed headers %j", async (method, path, headers = {}) => {
    const { headers: replyHeaders } = await ask(app, {
      method,
      path,
      headers,
      ...(method === "POST" && { body: "x" }),
    });
    const names = Object.keys(replyHeaders).filter((name) => !name.startsWith("access-control"));
    expect([...SAFE_REPLY, ...OTHER_HEADERS, ...(await exposedHeaders())]).toEqual(expect.arrayContaining(names));
  });
});

describe("CORS for some origins", () => {
  const { app } = serve({ http: { cors: { origins: [ORIGIN], maxAgeSeconds: 5 } } });

  test("an allowed origin is named, another is not, and Vary names Origin", async () => {
    const allowedReply = await ask(app, { path: "/v1/calls", headers: { origin: ORIGIN } });
    expect(allowedReply.headers).toMatchObject({ "access-control-allow-origin": ORIGIN, vary: "Origin" });
    for (const headers of [{ origin: "https://evil.example" }, { origin: "null" }, {}] as Record<string, string>[]) {
      const reply = await ask(app, { path: "/v1/calls", headers });
      expect(reply.headers).not.toHaveProperty("access-control-allow-origin");
      expect(reply.headers.vary).toBe("Origin");
    }
  });

  test("the preflight of an allowed origin has a max-age", async () => {
    expect((await ask(app, preflight)).headers).toMatchObject({
      "access-control-allow-origin": ORIGIN,
      "access-control-max-age": "5",
    });
  });
});
