import { describe, expect, test } from "vitest";
import { callerLimiter, rateLimiter } from "../../src/http/rate-limit.ts";
import { ask } from "./support/ask.ts";
import { NOW, serve } from "./support/fakes.ts";

/** An application with a quota, and a clock that a test advances. */
function serveLimited() {
  const clock = { ms: 0 };
  const { app } = serve({
    http: {
      rateLimit: { limit: 3, windowMs: 60_000 },
      authenticate: async (token) => ({ userId: "usr_anna", tokenId: token }),
      system: { now: () => NOW, monotonic: () => clock.ms, random: () => {}, after: () => () => {} },
    },
  });
  return { app, clock };
}

test("without a limit, no response has rate limit headers", async () => {
  const { headers } = await ask(serve().app, { path: "/v1/calls" });
  expect(Object.keys(headers).filter((name) => name.startsWith("ratelimit"))).toEqual([]);
});

describe("with a limit", () => {
  test("each response has the quota and the remainder; an excess request gets 429", async () => {
    const { app, clock } = serveLimited();
    for (const remainder of [2, 1, 0]) {
      const response = await ask(app, { path: "/v1/calls" });
      expect(response.status).toBe(200);
      expect(response.headers).toMatchObject({ "ratelimit-policy": '"default";q=3;w=60' });
      expect(response.headers.ratelimit).toMatch(new RegExp(`^"default";r=${remainder};t=\\d+$`));
    }
    const refusal = await ask(app, { path: "/v1/calls" });
    expect([refusal.status, refusal.json.code]).toEqual([429, "rate_limited"]);
    expect(refusal.headers).toMatchObject({ "retry-after": "20", ratelimit: '"default";r=0;t=60' });
    clock.ms = 20_000;
    expect((await ask(app, { path: "/v1/calls" })).status).toBe(200);
    expect((await ask(app, { path: "/v1/calls" })).status).toBe(429);
  });

  test("each token has its own quota, and a 401 does not count", async () => {
    const { app } = serveLimited();
    for (let i = 0; i < 3; i++) await ask(app, { path: "/v1/calls", token: "one" });
    expect((await ask(app, { path: "/v1/calls", token: "one" })).status).toBe(429);
    expect((await ask(app, { path: "/v1/calls", token: "two" })).status).toBe(200);
    expect((await ask(app, { path: "/v1/calls", token: null })).headers).not.toHaveProperty("ratelimit");
  });

  test("health checks are not limited", async () => {
    const { app } = serveLimited();
    for (let i = 0; i < 5; i++) expect((await ask(app, { path: "/healthz", token: null })).status).toBe(200);
  });
});

describe("demo tokens", () => {
  const caller = (instance: string, token: string) => ({
    userId: "usr_anna",
    tokenId: token,
    demoInstanceId: instance,
  });

  test("of one instance share 100 requests if the server has no limit", () => {
    let now = 0;
    const limiter = callerLimiter(undefined, () => now);
    for (let i = 0; i < 100; i++) expect(limiter(caller("inst_1", `token ${i % 3}`))?.isAllowed).toBe(true);
    expect(limiter(caller("inst_1", "token 4"))?.isAllowed).toBe(false);
    expect(limiter(caller("inst_2", "token 5"))?.isAllowed).toBe(true);
    expect(limiter({ userId: "usr_anna", tokenId: "token 6" })).toBeUndefined();
    now = 100;
    expect(limiter(caller("inst_1", "token 1"))?.isAllowed).toBe(true);
  });

  test.each([
    ["2 in 60 s", { limit: 2, windowMs: 60_000 }, 2],
    ["20 in 1 s", { limit: 20, windowMs: 1_000 }, 20],
    ["5,000 in 600 s", { limit: 5_000, windowMs: 600_000 }, 100],
    ["10,000 in 60 s", { limit: 10_000, windowMs: 60_000 }, 100],
  ])("the stricter limit applies if the server's is %s", (_, limit, allowedCount) => {
    const limiter = callerLimiter(limit, () => 0);
    for (let i = 0; i < allowedCount; i++) expect(limiter(caller("inst_1", "token"))?.isAllowed).toBe(true);
    expect(limiter(caller("inst_1", "token"))?.isAllowed).toBe(false);
  });

  test("above their limit get 429 with the time to wait", async () => {
    const { app } = serve({
      http: {
        authenticate: async (token) => ({ userId: "usr_anna", tokenId: token, demoInstanceId: "inst_1" }),
        system: { now: () => NOW, monotonic: () => 0, random: () => {}, after: () => () => {} },
      },
    });
    for (let i = 0; i < 100; i++)
      expect((await ask(app, { path: "/v1/calls", token: `demo-${i % 2}` })).status).toBe(200);
    const refusal = await ask(app, { path: "/v1/calls", token: "demo-0" });
    expect([refusal.status, refusal.json.code]).toEqual([429, "rate_limited"]);
    expect(refusal.headers).toMatchObject({ "retry-after": "1", "ratelimit-policy": '"default";q=100;w=10' });
  });
});

test("the limiter keeps a bounded number of keys", () => {
  const limiter = rateLimiter({ limit: 1, windowMs: 1000 }, () => 0);
  expect(limiter("first").isAllowed).toBe(true);
  expect(limiter("first").isAllowed).toBe(false);
  for (let i = 0; i < 10_000; i++) limiter(`key ${i}`);
  expect(limiter("first").isAllowed).toBe(true);
});
