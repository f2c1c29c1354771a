import { describe, expect, test } from "vitest";
import { bearerToken } from "../../src/http/bearer.ts";
import { ask } from "./support/ask.ts";
import { serve, TOKEN } from "./support/fakes.ts";

/** Requests outside the routes that routes.test.ts checks. */
const unusualRequests: [string, string][] = [
  ["HEAD", "/v1/calls"],
  ["OPTIONS", "/v1/calls"],
  ["PUT", "/v1/calls"],
  ["GET", "/v1"],
  ["GET", "/v1/"],
  ["GET", "/v1/nothing/here"],
  ["GET", "/v1/calls/%ff"],
  ["GET", "/v1/calls/%zz"],
  ["GET", "/v1/../healthz"],
  ["GET", "/v1/%2e%2E/healthz"],
  ["GET", "/v1/..\\healthz"],
];

describe("a request without a valid token", () => {
  test.each(unusualRequests)("%s %s gets a 401 before any other check", async (method, path) => {
    for (const token of [null, "unknown"]) {
      // The body would be refused too, and must not be read.
      let isRead = false;
      const body = (async function* () {
        isRead = true;
        yield new Uint8Array(1);
      })();
      const reply = await ask(serve().app, { method, path, token, body, headers: { "content-type": "text/plain" } });
      expect(reply.status).toBe(401);
      expect(reply.headers).toMatchObject({ "www-authenticate": "Bearer" });
      if (method !== "HEAD") expect(reply.json).toMatchObject({ code: "unauthorized", status: 401 });
      expect(isRead).toBe(false);
    }
  });
});

test.each(["Bearer rp_live_\u00e2\u0080\u00a6", "rp_live_anna", "Basic YW5uYQ=="])(
  "the refusal of %s names the header",
  async (value) => {
    const reply = await ask(serve().app, { path: "/v1/calls", token: null, headers: { authorization: value } });
    expect([reply.status, reply.json.code]).toEqual([401, "unauthorized"]);
    expect(reply.json.detail).toMatch(/^the Authorization header must be Bearer, a space and your access token/);
  },
);

test("an unavailable token store causes 503, never 401", async () => {
  const authenticate = () => Promise.reject(new Error("connection refused to 10.0.0.7"));
  const { app, logLines } = serve({ http: { authenticate } });
  const reply = await ask(app, { path: "/v1/calls" });
  expect([reply.status, reply.json.code]).toEqual([503, "storage_unavailable"]);
  expect(reply.headers["retry-after"]).toBe("1");
  expect(reply.text).not.toContain("10.0.0.7");
  expect(logLines.filter((line) => line.level === "error")).toHaveLength(1);
});

test("every request is authenticated again", async () => {
  let count = 0;
  const authenticate = async () => {
    count++;
    return { userId: "usr_anna" };
  };
  const { app } = serve({ http: { authenticate } });
  await ask(app, { path: "/v1/calls" });
  await ask(app, { path: "/v1/calls" });
  expect(count).toBe(2);
});

test("the scheme's name ignores case, and the token stays unchanged", () => {
  expect(bearerToken(`Bearer ${TOKEN}`)).toBe(TOKEN);
  expect(bearerToken("bEARER   a.b-c_d~e+f/g==")).toBe("a.b-c_d~e+f/g==");
  for (const header of ["", "Bearer", "Bearer ", "Basic abc", "Bearer a b", "Bearer a,b", "Bearerabc", "Bearer ключ"])
    expect(bearerToken(header)).toBeUndefined();
  expect(bearerToken(`Bearer ${"x".repeat(100_000)}`)).toBeUndefined();
  expect(bearerToken(null)).toBeUndefined();
});
