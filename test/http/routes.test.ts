import { describe, expect, test } from "vitest";
import { METHODS } from "../../src/http/route.ts";
import { ask } from "./support/ask.ts";
import { addressOf, ENDPOINTS, PAGES, PROTECTED, RESOURCES } from "./support/endpoints.ts";
import { serve } from "./support/fakes.ts";

const ORIGIN = "https://app.example";
const app = (parts = {}) => serve({ http: { pages: [PAGES], ...parts } }).app;

test("every route except the public ones is protected", () => {
  const publicRoutes = ENDPOINTS.filter(({ isProtected }) => !isProtected).map(
    ({ method, path }) => `${method} ${path}`,
  );
  expect(publicRoutes.sort()).toEqual([
    "GET /",
    "GET /docs",
    "GET /docs/assets/:name",
    "GET /docs/errors",
    "GET /healthz",
    "GET /link-page/:ticket",
    "GET /metrics",
    "GET /openapi.json",
    "GET /readyz",
  ]);
  expect(PROTECTED.length).toBeGreaterThan(15);
});

describe("a protected route", () => {
  test.each(PROTECTED)("$method $path returns 401 without a valid token", async ({ method, address }) => {
    for (const token of [null, "unknown"]) {
      // The body would be refused too, and must not be read.
      let isRead = false;
      const body = (async function* () {
        isRead = true;
        yield new Uint8Array(1);
      })();
      const request = { method, path: address, token, body, headers: { "content-type": "text/plain" } };
      const reply = await ask(app(), request);
      expect([reply.status, reply.json.code]).toEqual([401, "unauthorized"]);
      expect(reply.headers).toMatchObject({ "www-authenticate": "Bearer" });
      expect(isRead).toBe(false);
    }
  });
});

describe("a public route", () => {
  const publicRoutes = ENDPOINTS.filter(({ isProtected }) => !isProtected);
  test.each(publicRoutes)("$method $path needs no token", async ({ method, address }) => {
    expect((await ask(app(), { method, path: address, token: null })).status).not.toBe(401);
  });
});

describe("a resource", () => {
  test.each(RESOURCES)("$path lists its methods for OPTIONS", async ({ path, methods, allow }) => {
    const reply = await ask(app(), { method: "OPTIONS", path: addressOf(path) });
    expect([reply.status, reply.headers.allow]).toEqual([204, allow]);
    const allowedMethods = allow.split(", ");
    expect(allowedMethods.filter((name) => name !== "HEAD" && name !== "OPTIONS").sort()).toEqual(
      [...methods.keys()].sort(),
    );
    expect(allowedMethods.includes("HEAD")).toBe(methods.has("GET"));
  });

  test.each(RESOURCES)("$path returns 405 for every other method", async ({ path, allow }) => {
    const otherMethods = [...METHODS, "TRACE"].filter((name) => !allow.split(", ").includes(name));
    expect(otherMethods).toContain("TRACE");
    for (const method of otherMethods) {
      const reply = await ask(app(), { method, path: addressOf(path) });
      expect([method, reply.status, reply.headers.allow]).toEqual([method, 405, allow]);
      if (method !== "HEAD")
        expect(reply.json).toMatchObject({ code: "method_not_allowed", detail: `allowed methods: ${allow}` });
    }
  });
});

describe("a route called by a page of another origin", () => {
  const preflight = { origin: ORIGIN, "access-control-request-method": "GET" };

  test.each(ENDPOINTS)("$method $path may be called with its headers", async ({ method, address, route }) => {
    const { status, headers } = await ask(app({ cors: true }), {
      method: "OPTIONS",
      path: address,
      token: null,
      headers: { ...preflight, "access-control-request-method": method },
    });
    expect(status).toBe(204);
    expect(headers["access-control-allow-methods"]?.split(", ")).toContain(method);
    const requiredHeaders = [...(route.operation.headers ?? []), "Authorization", "Content-Type"];
    const allowedHeaders = headers["access-control-allow-headers"]?.split(", ");
    expect(allowedHeaders).toEqual(expect.arrayContaining(requiredHeaders.map((name) => name.toLowerCase())));
  });

  test.each(ENDPOINTS)("$method $path lets the page read its headers", async ({ method, address, route }) => {
    const { headers } = await ask(app({ cors: true }), { method, path: address, headers: { origin: ORIGIN } });
    expect(headers["access-control-allow-origin"]).toBe("*");
    const documentedHeaders = Object.values(route.operation.responses).flatMap((response) => response.headers ?? []);
    const exposedHeaders = headers["access-control-expose-headers"]?.split(", ");
    expect(exposedHeaders).toEqual(expect.arrayContaining(documentedHeaders.map((name) => name.toLowerCase())));
  });

  test.each(ENDPOINTS)("$method $path has no CORS headers by default", async ({ method, address }) => {
    const { headers } = await ask(app(), { method, path: address, headers: { origin: ORIGIN } });
    expect(Object.keys(headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
  });
});
