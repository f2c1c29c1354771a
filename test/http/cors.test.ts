import { describe, expect, test } from "vitest";
import { ask } from "./support/ask.ts";
import { serve } from "./support/fakes.ts";

const ORIGIN = "https://app.example";
const preflight = {
  method: "OPTIONS",
  path: "/v1/calls",
  token: null,
  headers: { origin: ORIGIN, "access-control-request-method": "POST" },
};

test("switched off, a preflight is a request without a token and no reply has CORS headers", async () => {
  const { app } = serve();
  expect((await ask(app, preflight)).status).toBe(401);
  const reply = await ask(app, { path: "/v1/calls", headers: { origin: ORIGIN } });
  expect(Object.keys(reply.headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
  expect(reply.headers).not.toHaveProperty("vary");
});

describe("for everybody", () => {
  const { app } = serve({ http: { cors: true } });

  test("a preflight is answered with 204 without a token", async () => {
    for (const path of ["/v1/calls", "/v1/calls/x", "/nowhere"]) {
      const reply = await ask(app, { ...preflight, path });
      expect(reply.status).toBe(204);
      expect(reply.headers).toMatchObject({
        "access-control-allow-origin": "*",
        "access-control-allow-methods": "GET, HEAD, POST, DELETE",
        "access-control-max-age": "600",
      });
      expect(reply.headers["access-control-allow-headers"]).toContain("authorization");
      expect(reply.headers["access-control-allow-headers"]).toContain("idempotency-key");
    }
  });

  test("an OPTIONS that is no preflight needs a token", async () => {
    expect((await ask(app, { method: "OPTIONS", path: "/v1/calls", token: null })).status).toBe(401);
  });

  test("refusals can be read by the page too", async () => {
    const reply = await ask(app, { path: "/v1/calls", token: null, headers: { origin: ORIGIN } });
    expect(reply.status).toBe(401);
    expect(reply.headers["access-control-allow-origin"]).toBe("*");
    expect(reply.headers["access-control-expose-headers"]).toContain("x-request-id");
    expect(reply.headers["access-control-expose-headers"]).toContain("next-cursor");
    expect(reply.headers).not.toHaveProperty("vary");
  });
});

describe("for some origins", () => {
  const { app } = serve({ http: { cors: { origins: [ORIGIN], maxAgeSeconds: 5 } } });

  test("an allowed origin is named, another is not, and caches are told", async () => {
    const allowed = await ask(app, { path: "/v1/calls", headers: { origin: ORIGIN } });
    expect(allowed.headers).toMatchObject({ "access-control-allow-origin": ORIGIN, vary: "Origin" });
    for (const headers of [{ origin: "https://evil.example" }, { origin: "null" }, {}] as Record<string, string>[]) {
      const reply = await ask(app, { path: "/v1/calls", headers });
      expect(reply.headers).not.toHaveProperty("access-control-allow-origin");
      expect(reply.headers.vary).toBe("Origin");
    }
  });

  test("the preflight of an allowed origin may be kept", async () => {
    expect((await ask(app, preflight)).headers).toMatchObject({
      "access-control-allow-origin": ORIGIN,
      "access-control-max-age": "5",
    });
  });
});
