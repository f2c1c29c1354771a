import { describe, expect, test } from "vitest";
import { useLocalServer } from "../../support/local-server.ts";
import { expectProblem, KEYS, keysOf, MISSING_IDS, sorted } from "../../support/response-shapes.ts";
import { type CallView, expected, type InstanceView } from "../../support/server-client.ts";

const UPGRADE = {
  connection: "Upgrade",
  upgrade: "websocket",
  "sec-websocket-version": "13",
  "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
};

describe("a server under a base path, with CORS for one origin, a queue and the stream preview", () => {
  const server = useLocalServer({
    RINGPORT_BASE_PATH: "/api",
    RINGPORT_CORS: "https://console.example",
    RINGPORT_QUEUE: "fifo",
    RINGPORT_QUEUE_DEPTH: "3",
    RINGPORT_STREAM_PREVIEW: "1",
  });

  test("all URLs are under the base path", async () => {
    expect(new URL(server.base).pathname).toBe("/api");
    const client = await server.as("ada");
    const createdResponse = expected(201, await client.post("/v1/instances", { name: "x" }));
    const { id } = createdResponse.json<InstanceView>();
    expect(createdResponse.headers.location).toBe(`/api/v1/instances/${id}`);
    await client.createInstance();
    const { link } = expected(200, await client.get("/v1/instances?limit=1")).headers;
    expect(link).toMatch(/^<\/api\/v1\/instances\?/);
    expectProblem(await client.get("/v1/nothing"), 404, "not_found", "/api/v1/nothing");
    expect(await client.linkUrl(id)).toMatch(new RegExp(`^${server.base}/simulator/link/`));
    await client.link(id);
    const origin = new URL(server.base).origin;
    for (const path of ["/v1/instances", "/healthz", "/docs", "/apis/healthz", "/api2"])
      expect({ path, status: (await fetch(origin + path)).status }).toEqual({ path, status: 404 });
    for (const path of ["/healthz", "/readyz", "/openapi.json", "/docs"])
      expect({ path, status: (await server.request("GET", path)).status }).toEqual({ path, status: 200 });
    const documentedUrl = server.document?.servers[0]?.url ?? "";
    expect(new URL(documentedUrl, `${server.base}/openapi.json`).href).toBe(server.base);
  });

  test("a preflight gets 204 without a token, and the origin may read", async () => {
    const origin = "https://console.example";
    const preflight = await server.request("OPTIONS", "/v1/calls", {
      origin,
      "access-control-request-method": "POST",
      "access-control-request-headers": "authorization, content-type, idempotency-key",
    });
    expect({ status: preflight.status, body: preflight.text }).toEqual({ status: 204, body: "" });
    expect(preflight.headers["access-control-allow-origin"]).toBe(origin);
    expect(preflight.headers["access-control-allow-methods"]).toMatch(/POST/);
    expect(preflight.headers["access-control-allow-methods"]).toMatch(/DELETE/);
    for (const name of ["authorization", "content-type", "idempotency-key"])
      expect(preflight.headers["access-control-allow-headers"]).toContain(name);
    const client = await server.as("ada");
    for (const response of [
      await client.get("/v1/instances", { origin }),
      await client.get("/v1/nothing", { origin }),
      await server.client().get("/v1/instances", { origin }),
    ]) {
      expect(response.headers["access-control-allow-origin"]).toBe(origin);
      expect(response.headers["access-control-expose-headers"]).toMatch(/x-request-id/i);
      expect(response.headers.vary).toMatch(/origin/i);
    }
  });

  test("no other origin may read", async () => {
    for (const origin of ["https://evil.example", "https://console.example.evil.example", "null"]) {
      const response = await (await server.as("ada")).get("/v1/instances", { origin });
      expect(response.headers["access-control-allow-origin"]).toBeUndefined();
      expect(response.headers["access-control-allow-credentials"]).toBeUndefined();
    }
  });

  test("a full queue lists its calls oldest first, and refuses the next", async () => {
    const client = await server.as("ada");
    const { id } = await client.createInstance();
    const calls: CallView[] = [];
    for (const text of ["one", "two", "three"])
      calls.push(await client.call(id, { tts: { text, voiceId: "en-US-1" } }));
    const { callQueue = [] } = await client.instance(id);
    expect(callQueue.map((call) => call.id)).toEqual(calls.map((call) => call.id));
    for (const call of callQueue) expect(keysOf(call)).toEqual(sorted(KEYS.queuedCall));
    expectProblem(await client.postCall(id), 409, "queue_full", "/api/v1/calls");
    expect((await client.delete(`/v1/calls/${calls[1]!.id}`)).status).toBe(204);
    const laterCall = await client.call(id);
    expect((await client.instance(id)).callQueue?.map((call) => call.id)).toEqual([
      calls[0]!.id,
      calls[2]!.id,
      laterCall.id,
    ]);
  });

  test("50 concurrent creations fill a queue exactly to its depth", async () => {
    const client = await server.as("ada");
    const { id } = await client.createInstance();
    const responses = await Promise.all(Array.from({ length: 50 }, () => client.postCall(id)));
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(3);
    expect(responses.filter(({ status }) => status === 409)).toHaveLength(47);
    expect((await client.instance(id)).callQueue).toHaveLength(3);
  });

  test("the stream is refused before the upgrade: 401, 404, 409, 426", async () => {
    const client = await server.as("ada");
    const { id } = await client.createInstance();
    const [messageCall, stream] = [await client.call(id), await client.call(id, { type: "DYNAMIC_STREAM" })];
    const streamPath = (call: string) => `/v1/calls/${call}/stream`;
    for (const headers of [{}, UPGRADE]) {
      expectProblem(await server.client().get(streamPath(stream.id), headers), 401, "unauthorized");
      expectProblem(await client.get(streamPath(MISSING_IDS.call), headers), 404, "call_not_found");
      expectProblem(await (await server.as("eve")).get(streamPath(stream.id), headers), 404, "call_not_found");
      expectProblem(await client.get(streamPath(messageCall.id), headers), 409, "not_a_stream_call");
    }
    const plainResponse = await client.get(streamPath(stream.id));
    expectProblem(plainResponse, 426, "upgrade_required");
    expect(plainResponse.headers.upgrade).toBe("websocket");
    expect((await client.delete(`/v1/calls/${stream.id}`)).status).toBe(204);
    for (const headers of [{}, UPGRADE])
      expectProblem(await client.get(streamPath(stream.id), headers), 409, "call_ended");
  });
});

describe("a server with short limits, open to all origins", () => {
  const server = useLocalServer(
    {
      RINGPORT_CORS: "*",
      RINGPORT_QUEUE_TIMEOUT_MS: "1000",
      RINGPORT_RATE_LIMIT: "200",
      RINGPORT_RATE_WINDOW_MS: "3600000", // no request is allowed again during the test, however slow the machine
    },
    { limits: { nameLength: 5, bodyBytes: 4_096 } },
  );

  test("a call that waits too long ends FAILED/instance_not_linked", async () => {
    const client = await server.as("waiter");
    const { id } = await client.call((await client.createInstance("wait")).id);
    const endedCall = await client.waitForCall(id, ["FAILED"], 3_000);
    expect(endedCall.outcome).toMatchObject({ reason: "instance_not_linked", heard_ms: 0, duration_ms: 0 });
    expect(Date.parse(endedCall.ended_at!) - Date.parse(endedCall.created_at)).toBeGreaterThanOrEqual(1_000);
  });

  test("too many requests get 429 with Retry-After; other users continue", async () => {
    const client = await server.as("hasty");
    const responses = await Promise.all(Array.from({ length: 210 }, () => client.get("/v1/instances")));
    const refusals = responses.filter(({ status }) => status === 429);
    expect(refusals).toHaveLength(10);
    expectProblem(refusals[0]!, 429, "rate_limited");
    expect(Number(refusals[0]!.headers["retry-after"])).toBeGreaterThan(0);
    for (const response of responses) {
      expect(response.headers.ratelimit).toBeTruthy();
      expect(response.headers["ratelimit-policy"]).toBeTruthy();
    }
    expect((await (await server.as("calm")).get("/v1/instances")).status).toBe(200);
  });

  test("configured limits replace the defaults", async () => {
    const client = await server.as("limited");
    expectProblem(await client.post("/v1/instances", { name: "123456" }), 400, "invalid_request");
    const response = await client.post("/v1/instances", { name: "x", padding: "y".repeat(5000) });
    expect(expectProblem(response, 413, "body_too_large")).toMatchObject({ limit: 4096 });
  });

  test("every origin may read", async () => {
    const response = await (await server.as("open")).get("/v1/instances", { origin: "https://any.example" });
    expect(response.headers["access-control-allow-origin"]).toBe("*");
  });
});
