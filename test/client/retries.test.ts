import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type Client, createClient, type FetchRequest, RingportError } from "ringport/client";
import { beforeAll, describe, expect, test } from "vitest";
import { server } from "./support/server.ts";

const { ringport, client: createTestClient } = server();
const spokenCall = {
  type: "FIXED_TTS",
  target: { phoneNumber: "+12025550100" },
  tts: { text: "Hello there.", voiceId: "en-US-1" },
} as const;

let client: Client;
beforeAll(() => {
  client = createTestClient();
});

/** Records the requests, and applies a fault to the first `times` responses. */
function flakyFetch(times: number, corrupt: (response: Response) => Response | Promise<Response>) {
  const requests: { method: string; path: string; key: string | null; at: number }[] = [];
  const fetch: FetchRequest = async (request) => {
    const { pathname } = new URL(request.url);
    const key = request.headers.get("idempotency-key");
    requests.push({ method: request.method, path: pathname, key, at: performance.now() });
    const response = await ringport.fetch(request);
    return requests.length <= times ? corrupt(response) : response;
  };
  return { requests, fetch };
}

/** A connection that breaks after the server has carried out the request. */
const drop = (): never => {
  throw new TypeError("the connection was reset");
};

const busyFor = (retryAfter: string) => () =>
  Response.json(
    { code: "server_busy", detail: "too many calls are being read", request_id: "req_1" },
    { status: 503, headers: { "retry-after": retryAfter, "content-type": "application/problem+json" } },
  );

test("a deletion is sent once in a browser that shows an empty body instead of none", async () => {
  const methods: string[] = [];
  const fetch: FetchRequest = async (request) => {
    methods.push(request.method);
    return Object.defineProperty(await ringport.fetch(request), "body", { value: new ReadableStream() });
  };
  const { id } = await client.instances.create({ name: "once" });
  await createTestClient({ fetch }).instances.delete(id);
  expect(methods).toEqual(["DELETE"]);
});

describe("a lost connection", () => {
  test("creates no duplicate", async () => {
    const { requests, fetch } = flakyFetch(2, drop);
    const name = `Desk ${crypto.randomUUID()}`;
    const instance = await createTestClient({ fetch }).instances.create({ name });
    expect(requests.map(({ method }) => method)).toEqual(["POST", "POST", "POST"]);
    expect(new Set(requests.map(({ key }) => key)).size).toBe(1);
    const { items } = await client.instances.page();
    expect(items.filter((instance) => instance.name === name)).toEqual([instance]);
  });

  test("a response that breaks off counts as a lost connection", async () => {
    const truncatedResponse = () => {
      const body = new ReadableStream({
        start(controller) {
          controller.enqueue(new TextEncoder().encode('{"id":"inst_'));
          controller.error(new TypeError("terminated"));
        },
      });
      return new Response(body, { status: 201, headers: { "content-type": "application/json" } });
    };
    const { requests, fetch } = flakyFetch(1, truncatedResponse);
    const instance = await createTestClient({ fetch }).instances.create({ name: "Half" });
    expect(requests).toHaveLength(2);
    expect((await client.instances.get(instance.id)).name).toBe("Half");
  });

  test("does not turn a completed deletion into an error", async () => {
    const { id } = await client.instances.create({ name: "Gone" });
    const call = await client.calls.create({ instanceId: id, ...spokenCall });
    await createTestClient(flakyFetch(1, drop)).calls.hangUp(call.id);
    expect((await client.calls.get(call.id)).status).toBe("FAILED");
    await createTestClient(flakyFetch(1, drop)).instances.delete(id);
    await expect(client.instances.delete(id)).rejects.toMatchObject({ code: "instance_not_found" });
  });

  test("the error after the last retry has its cause", async () => {
    const { requests, fetch } = flakyFetch(99, drop);
    const error = await createTestClient({ fetch, retries: 1 })
      .voices()
      .catch((error: unknown) => error);
    expect(requests).toHaveLength(2);
    expect(error).toBeInstanceOf(RingportError);
    expect(error).toMatchObject({ code: "network_error", status: 0, requestId: null, retryAfter: null, errors: [] });
    expect(String(error)).toContain("http://ringport.test did not respond: the connection was reset");
  });

  test("a broken socket is retried on every runtime", async () => {
    let requests = 0;
    const sockets = createServer((request, response) => {
      if (++requests === 1) request.socket.destroy();
      else response.setHeader("content-type", "application/json").end("[]");
    });
    await new Promise<void>((resolve) => sockets.listen(0, "127.0.0.1", resolve));
    const { port } = sockets.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}`;
    expect(await createClient({ url, token: "t" }).voices()).toEqual([]);
    expect(requests).toBe(2);
    await new Promise((resolve) => sockets.close(resolve).closeAllConnections());
    await expect(createClient({ url, token: "t", retries: 0 }).voices()).rejects.toMatchObject({
      code: "network_error",
    });
  });
});

describe("an idempotency key", () => {
  test("each creation has a new idempotency key, unless the caller sets one", async () => {
    const { requests, fetch } = flakyFetch(0, drop);
    const flakyClient = createTestClient({ fetch });
    const first = await flakyClient.instances.create({ name: "A" });
    expect((await flakyClient.instances.create({ name: "A" })).id).not.toBe(first.id);
    const keyedInstance = await flakyClient.instances.create({ name: "B" }, { idempotencyKey: "order-7" });
    expect(await flakyClient.instances.create({ name: "B" }, { idempotencyKey: "order-7" })).toEqual(keyedInstance);
    const keys = requests.map(({ key }) => key);
    expect(keys.slice(2)).toEqual(["order-7", "order-7"]);
    expect(new Set(keys).size).toBe(3);
    await expect(flakyClient.instances.create({ name: "C" }, { idempotencyKey: "order-7" })).rejects.toMatchObject({
      code: "idempotency_key_reused",
      status: 422,
    });
  });

  test("a request waits for its key's first request", async () => {
    const inProgress = () =>
      Response.json(
        { code: "idempotency_key_in_progress", detail: "still running", request_id: "req_1" },
        { status: 409, headers: { "retry-after": "0", "content-type": "application/problem+json" } },
      );
    const { requests, fetch } = flakyFetch(1, inProgress);
    await createTestClient({ fetch }).instances.create({ name: "Twice" });
    expect(requests).toHaveLength(2);
  });
});

describe("a busy server", () => {
  test("a retry waits for Retry-After", async () => {
    const { requests, fetch } = flakyFetch(1, busyFor("1"));
    await createTestClient({ fetch }).voices();
    expect(requests).toHaveLength(2);
    expect(requests[1]!.at - requests[0]!.at).toBeGreaterThanOrEqual(990);
  });

  test("a long Retry-After, or the last retry, ends the retries", async () => {
    const longWait = flakyFetch(9, busyFor("3600"));
    await expect(createTestClient(longWait).voices()).rejects.toMatchObject({
      code: "server_busy",
      status: 503,
      retryAfter: 3600,
      requestId: "req_1",
    });
    expect(longWait.requests).toHaveLength(1);
    const { requests, fetch } = flakyFetch(9, busyFor("0"));
    await expect(createTestClient({ fetch, retries: 2 }).voices()).rejects.toMatchObject({ retryAfter: 0 });
    expect(requests).toHaveLength(3);
  });
});

test("a timeout is retried, then reported", async () => {
  let requestCount = 0;
  const fetch: FetchRequest = () => {
    requestCount++;
    return new Promise(() => {});
  };
  await expect(createTestClient({ fetch, retries: 1, timeoutMs: 20 }).voices()).rejects.toMatchObject({
    code: "timeout",
  });
  expect(requestCount).toBe(2);
});
