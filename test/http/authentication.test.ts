import { describe, expect, test } from "vitest";
import { bearerToken } from "../../src/http/bearer.ts";
import { ask } from "./support/ask.ts";
import { CALL_ID, INSTANCE_ID, serve, TOKEN } from "./support/fakes.ts";

const everywhere: [string, string][] = [
  ["POST", "/v1/calls"],
  ["GET", "/v1/calls"],
  ["GET", `/v1/calls/${CALL_ID}`],
  ["DELETE", `/v1/calls/${CALL_ID}`],
  ["GET", `/v1/calls/${CALL_ID}/stream`],
  ["GET", `/v1/calls/${CALL_ID}/events`],
  ["POST", "/v1/instances"],
  ["GET", "/v1/instances"],
  ["GET", `/v1/instances/${INSTANCE_ID}`],
  ["GET", `/v1/instances/${INSTANCE_ID}/configure`],
  ["PATCH", `/v1/instances/${INSTANCE_ID}`],
  ["DELETE", `/v1/instances/${INSTANCE_ID}`],
  ["GET", "/v1/voices"],
  ["GET", "/v1/voices/pt-BR-1/sample.wav"],
  ["GET", "/v1/events"],
  ["HEAD", "/v1/calls"],
  ["OPTIONS", "/v1/calls"],
  ["PUT", "/v1/calls"],
  ["GET", "/v1"],
  ["GET", "/v1/"],
  ["GET", "/v1/nothing/here"],
  ["GET", "/v1/calls/%ff"],
  ["GET", "/docs/../v1/calls"],
  ["GET", "/docs/%2e%2E/v1/calls"],
  ["GET", "/docs\\..\\v1\\calls"],
];

describe("without a valid token", () => {
  test.each(everywhere)("%s %s is answered with 401 before anything else", async (method, path) => {
    for (const token of [null, "unknown"]) {
      // A body that would be refused too, and was never asked for.
      let read = false;
      const body = (async function* () {
        read = true;
        yield new Uint8Array(1);
      })();
      const reply = await ask(serve().app, { method, path, token, body, headers: { "content-type": "text/plain" } });
      expect(reply.status).toBe(401);
      expect(reply.headers).toMatchObject({ "www-authenticate": "Bearer" });
      if (method !== "HEAD") expect(reply.json).toMatchObject({ code: "unauthorized", status: 401 });
      expect(read).toBe(false);
    }
  });

  test.each(["/healthz", "/readyz", "/metrics", "/openapi.json", "/docs/errors"])("%s answers", async (path) => {
    expect((await ask(serve().app, { path, token: null })).status).toBe(200);
  });
});

test("a token store that is down is answered with 503, never 401", async () => {
  const authenticate = () => Promise.reject(new Error("connection refused to 10.0.0.7"));
  const { app, logged } = serve({ http: { authenticate } });
  const reply = await ask(app, { path: "/v1/calls" });
  expect([reply.status, reply.json.code]).toEqual([503, "storage_unavailable"]);
  expect(reply.headers["retry-after"]).toBe("1");
  expect(reply.text).not.toContain("10.0.0.7");
  expect(logged.filter((line) => line.level === "error")).toHaveLength(1);
});

test("every request is authenticated anew", async () => {
  let times = 0;
  const authenticate = async () => {
    times++;
    return { userId: "usr_anna" };
  };
  const { app } = serve({ http: { authenticate } });
  await ask(app, { path: "/v1/calls" });
  await ask(app, { path: "/v1/calls" });
  expect(times).toBe(2);
});

test("the scheme's name ignores case and the token is taken as it is", () => {
  expect(bearerToken(`Bearer ${TOKEN}`)).toBe(TOKEN);
  expect(bearerToken("bEARER   a.b-c_d~e+f/g==")).toBe("a.b-c_d~e+f/g==");
  for (const header of ["", "Bearer", "Bearer ", "Basic abc", "Bearer a b", "Bearer a,b", "Bearerabc", "Bearer ключ"])
    expect(bearerToken(header)).toBeUndefined();
  expect(bearerToken(`Bearer ${"x".repeat(100_000)}`)).toBeUndefined();
  expect(bearerToken(null)).toBeUndefined();
});
