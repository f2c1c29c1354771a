import { describe, expect, test } from "vitest";
import { StorageUnavailable } from "../../src/ports/storage.ts";
import type { Reply } from "../../src/ports/web.ts";
import { processorMs } from "../support/processor-time.ts";
import { ask, requestOf } from "./support/ask.ts";
import { CALL_ID, call, INSTANCE_ID, serve } from "./support/fakes.ts";

const callPath = `/v1/calls/${CALL_ID}`;

describe("methods", () => {
  test.each([
    ["/v1/calls", "GET, HEAD, POST, OPTIONS"],
    [callPath, "GET, HEAD, DELETE, OPTIONS"],
    [`/v1/instances/${INSTANCE_ID}/configure`, "GET, HEAD, OPTIONS"],
    [`${callPath}/stream`, "GET, HEAD, OPTIONS"],
    ["/healthz", "GET, HEAD, OPTIONS"],
  ])("%s allows %s", async (path, allow) => {
    const { app } = serve();
    const options = await ask(app, { method: "OPTIONS", path });
    expect([options.status, options.headers.allow]).toEqual([204, allow]);
    for (const method of ["PUT", "PATCH", "TRACE", "constructor", "__proto__"]) {
      const reply = await ask(app, { method, path });
      expect([reply.status, reply.json.code, reply.headers.allow]).toEqual([405, "method_not_allowed", allow]);
    }
  });

  test.each([
    callPath,
    "/v1/calls",
    "/v1/voices",
    "/healthz",
    "/openapi.json",
    `/v1/instances/${INSTANCE_ID}/configure`,
  ])("HEAD %s has the headers of GET and no body", async (path) => {
    const { app } = serve();
    const get = await ask(app, { path });
    const head = await ask(app, { method: "HEAD", path });
    expect(head.raw.body).toBeUndefined();
    expect(head.status).toBe(200);
    expect(head.headers).toEqual({
      ...get.headers,
      "content-length": String(new TextEncoder().encode(get.text).length),
    });
  });
});

describe("paths", () => {
  test.each([
    "/",
    "/v1",
    "/v1/",
    "/v1/calls/",
    `${callPath}/`,
    `${callPath}//`,
    "//v1/calls",
    "/v1//calls",
    "/V1/calls",
    "/v2/calls",
    `${callPath}/nothing`,
    "/v1/calls/%ff",
    "/docs/../v1/calls",
    "/docs/%2e%2E/v1/calls",
    "/v1/calls/..%5c",
    "/docs/assets/..%2f..%2fpackage.json",
    "/docs/assets/constructor",
    "/favicon.ico",
  ])("%s is a problem document with 404", async (path) => {
    const reply = await ask(serve().app, { path });
    expect(reply.status).toBe(404);
    expect(reply.headers["content-type"]).toBe("application/problem+json");
    expect(reply.json).toMatchObject({ status: 404, instance: path, type: expect.stringMatching(/#/) });
  });

  test.each([
    ["/v1/calls/%zz", '"%zz"'],
    ["/v1/calls/%", '"%"'],
    ["/docs\\..\\metrics", '"\\\\"'],
    ['/docs/"', '"\\""'],
    ["/docs/<x>", '"<"'],
    ["/docs/x y", '" "'],
    ["/docs/a\u0000", '"\\u0000"'],
    ["/docs/\u{1f600}", '"\u{1f600}"'],
    ["/nothing#x", '"#"'],
  ])("%j is refused with 400, which names the character", async (path, character) => {
    const { app } = serve();
    const reply = await ask(app, { path });
    expect([reply.status, reply.json.code, reply.json.detail]).toEqual([
      400,
      "invalid_request",
      `the path has ${character}, which is not allowed in a URL (RFC 3986): percent-encode it`,
    ]);
    expect((await app.upgrade(requestOf({ path }))) as Reply).toMatchObject({ status: 400 });
  });

  test("the fragment of a WHATWG request stays with the client", async () => {
    const { app } = serve();
    expect((await app.fetch(new Request("http://h/healthz?a#x/../y"))).status).toBe(200);
  });

  test("a very long path gets 404", async () => {
    const reply = await ask(serve().app, { path: `/v1/${"a".repeat(1_000_000)}` });
    expect(reply.status).toBe(404);
    expect(reply.json.instance).toHaveLength(1024);
  });

  test("a query of a million bytes is read", async () => {
    const startedAt = processorMs();
    const reply = await ask(serve().app, { path: `/v1/calls?${"a=1&".repeat(250_000)}limit=3` });
    expect(reply.status).toBe(200);
    expect(processorMs() - startedAt).toBeLessThan(2000);
  });

  test("a base path precedes every path", async () => {
    const { app } = serve({ http: { basePath: "/api/v2/" } });
    expect((await ask(app, { path: "/api/v2/healthz", token: null })).status).toBe(200);
    expect((await ask(app, { path: "/api/v2/v1/calls", token: null })).status).toBe(401);
    const createdReply = await ask(app, { method: "POST", path: "/api/v2/v1/calls", body: {} });
    expect(createdReply.headers.location).toBe(`/api/v2${callPath}`);
    expect((await ask(app, { path: createdReply.headers.location! })).status).toBe(200);
    const missingReply = await ask(app, { path: "/api/v2/v1/nothing" });
    expect(missingReply.json).toMatchObject({ type: "/api/v2/docs/errors#not_found", instance: "/api/v2/v1/nothing" });
    for (const path of ["/v1/calls", "/api/v2", "/api/v2x/healthz", "/healthz"])
      expect((await ask(app, { path, token: null })).status).toBe(404);
  });

  test.each(["api", "/a b", "/a/../b", "/*", "/:x", "/a?b"])("the base path %j is refused", (basePath) => {
    expect(() => serve({ http: { basePath } })).toThrow(TypeError);
  });
});

describe("problem documents", () => {
  test("every problem document has the same shape", async () => {
    const { app } = serve();
    const reply = await ask(app, { path: "/v1/calls/call_x?secret=1", headers: { "x-request-id": "r-1" } });
    expect(reply.headers["content-type"]).toBe("application/problem+json");
    expect(reply.json).toEqual({
      type: "/docs/errors#call_not_found",
      title: "There is no such call",
      status: 404,
      detail: "there is no such call",
      instance: "/v1/calls/call_x",
      code: "call_not_found",
      request_id: "r-1",
    });
  });

  test("an unexpected error is logged with the request id and not revealed", async () => {
    const get = async () => {
      throw Object.assign(new Error("SELECT secret FROM tokens"), { status: 418, secret: "s3cr3t" });
    };
    const { app, logLines } = serve({ calls: { get } });
    const reply = await ask(app, { path: callPath, headers: { "x-request-id": "r-2" } });
    expect([reply.status, reply.json.code]).toEqual([500, "internal_error"]);
    expect(reply.text).not.toMatch(/SELECT|s3cr3t|stack/);
    expect(logLines.find((line) => line.level === "error")?.fields).toMatchObject({ request_id: "r-2" });
  });

  test.each([undefined, null, "a string", 0, { status: 200 }])("a thrown %j leads to 500", async (thrownValue) => {
    const get = () => Promise.reject(thrownValue);
    expect((await ask(serve({ calls: { get } }).app, { path: callPath })).status).toBe(500);
  });

  test("an unavailable storage leads to 503 with Retry-After", async () => {
    const get = () => Promise.reject(new StorageUnavailable("database is locked: /var/lib/x.db"));
    const reply = await ask(serve({ calls: { get } }).app, { path: callPath });
    expect([reply.status, reply.json.code]).toEqual([503, "storage_unavailable"]);
    expect(reply.headers["retry-after"]).toBe("1");
    expect(reply.text).not.toContain("/var/lib");
  });

  test("a broken logger leads to 500, not to a rejection", async () => {
    const fail = () => {
      throw new Error("disk full");
    };
    const { app } = serve({ http: { log: { debug: fail, info: fail, warn: fail, error: fail } } });
    expect((await app.handle(requestOf({ path: callPath }))).status).toBe(500);
  });
});

describe("ETag", () => {
  test.each([callPath, `/v1/instances/${INSTANCE_ID}`, "/openapi.json"])(
    "%s can be revalidated with its ETag",
    async (path) => {
      const { app } = serve();
      const { etag } = (await ask(app, { path })).headers;
      expect(etag).toMatch(/^"[0-9a-f]{16}"$/);
      for (const match of [etag!, `W/${etag}`, `"x", ${etag}`, "*"]) {
        const reply = await ask(app, { path, headers: { "if-none-match": match } });
        expect(reply.status).toBe(304);
        expect(reply.raw.body).toBeUndefined();
        expect(reply.headers.etag).toBe(etag);
      }
      expect((await ask(app, { path, headers: { "if-none-match": '"x"' } })).status).toBe(200);
    },
  );

  test("the ETag changes with the record and its expansions", async () => {
    const tags = new Set<string | undefined>();
    for (const status of ["QUEUED", "RINGING", "IN_PROGRESS"] as const)
      for (const query of ["", "?expand=outcome"]) {
        const { app } = serve({ calls: { get: async () => call({ status }) } });
        tags.add((await ask(app, { path: callPath + query })).headers.etag);
      }
    expect(tags.size).toBe(6);
  });
});

describe("request ids", () => {
  test("the request's id is returned, even on errors", async () => {
    const { app } = serve();
    for (const path of [callPath, "/v1/nothing", "/healthz"])
      expect((await ask(app, { path, headers: { "x-request-id": "abc/1" } })).headers["x-request-id"]).toBe("abc/1");
  });

  test.each(["a b", "x".repeat(129), "é", ""])("an invalid request id is replaced (%#)", async (id) => {
    const headers = { "x-request-id": id };
    expect((await ask(serve().app, { path: callPath, headers })).headers["x-request-id"]).toMatch(/^req_[0-9a-f]{16}$/);
  });

  test("new ids come from the newRequestId option", async () => {
    const { app } = serve({ http: { newRequestId: () => "mine-1" } });
    expect((await ask(app, { path: callPath })).headers["x-request-id"]).toBe("mine-1");
  });
});

test("each request is logged once, without token, query or body", async () => {
  const { app, logLines } = serve();
  const body = { secret: "hunter2" };
  await ask(app, { method: "POST", path: "/v1/calls?access_token=t0k3n", body, headers: { "x-request-id": "r-3" } });
  await app.handle(requestOf({ path: "/v1/calls", token: null }));
  await ask(app, { path: `/v1/instances/${INSTANCE_ID}` });
  const lines = logLines.filter((line) => line.fields.path !== "/openapi.json");
  expect(lines).toEqual([
    {
      level: "info",
      message: "request",
      fields: {
        request_id: "r-3",
        method: "POST",
        path: "/v1/calls",
        status: 201,
        ms: 0,
        user_id: "usr_anna",
        call_id: CALL_ID,
      },
    },
    { level: "info", message: "request", fields: expect.objectContaining({ status: 401, user_id: undefined }) },
    { level: "info", message: "request", fields: expect.objectContaining({ instance_id: INSTANCE_ID }) },
  ]);
  expect(JSON.stringify(logLines)).not.toMatch(/rp_live|hunter2|t0k3n/);
});

describe("fetch", () => {
  test("fetch returns a WHATWG response to a WHATWG request", async () => {
    const { app } = serve();
    const headers = { authorization: "Bearer rp_live_anna" };
    const json = { ...headers, "content-type": "application/json" };
    const post = new Request("http://h/v1/calls", { method: "POST", headers: json, body: "{}" });
    const createdResponse = await app.fetch(post);
    expect(createdResponse.status).toBe(201);
    expect(await createdResponse.json()).toHaveProperty("id", CALL_ID);
    const deletion = await app.fetch(new Request(`http://h${callPath}`, { method: "DELETE", headers }));
    expect([deletion.status, await deletion.text()]).toEqual([204, ""]);
    const { etag = "" } = (await ask(app, { path: callPath })).headers;
    const unchangedRequest = new Request(`http://h${callPath}`, { headers: { ...headers, "if-none-match": etag } });
    expect((await app.fetch(unchangedRequest)).status).toBe(304);
    const head = await app.fetch(new Request(`http://h${callPath}`, { method: "HEAD", headers }));
    expect(head.headers.get("content-type")).toBe("application/json");
    const png = new Request(`http://h/v1/instances/${INSTANCE_ID}/configure`, {
      headers: { ...headers, accept: "image/png" },
    });
    expect(new Uint8Array(await (await app.fetch(png)).arrayBuffer())[1]).toBe(0x50);
  });
});

test("a request that fails because the server is closing gets 503", async () => {
  const create = () => Promise.reject(new Error("the worker pool has been closed"));
  for (const [isClosing, code] of [
    [true, "stopping"],
    [false, "internal_error"],
  ] as const) {
    const { app, logLines } = serve({ calls: { create }, http: { closing: () => isClosing } });
    const reply = await ask(app, { method: "POST", path: "/v1/calls", body: "{}" });
    expect([reply.status, reply.json.code]).toEqual([isClosing ? 503 : 500, code]);
    expect(logLines.filter(({ level }) => level === "error")).toHaveLength(isClosing ? 0 : 1);
  }
});
