import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type Client, type ClientOptions, createClient, type FetchRequest } from "ringport/client";
import { afterAll, describe, expect, test } from "vitest";
import { freePort } from "../support/free-port.ts";
import { printedForms } from "../support/printed.ts";
import { relayTo } from "../support/relay.ts";
import { streamScene, waitUntil } from "./support/stream-scene.ts";

// Created at run time, because Bun prints source lines next to an error.
const TEXT = `secret text ${randomBytes(12).toString("hex")}`;
const TOKEN = `rp_live_${randomBytes(24).toString("hex")}`;
const INPUT = {
  instanceId: "inst_1",
  type: "FIXED_TTS",
  target: { phoneNumber: "+12025550100" },
  tts: { text: TEXT, voiceId: "en-US-1" },
} as const;

const scene = streamScene();
const failureOf = async (promise: Promise<unknown>): Promise<Error> => {
  const error = await promise.then(
    (value: unknown) => expect.fail(`the promise did not fail: ${JSON.stringify(value)}`),
    (error: unknown) => error,
  );
  return error as Error;
};

/** Checks that no printed form of the value contains the token or the text. */
function expectNoSecrets(value: unknown, secrets: readonly string[] = [TOKEN, TEXT]): void {
  const output = printedForms(value);
  for (const secret of secrets) expect(output.includes(secret), `${secret} in ${output}`).toBe(false);
}

const stub = (fetch: FetchRequest, options?: Partial<ClientOptions>): Client =>
  createClient({ url: "http://ringport.test/voice", token: TOKEN, retries: 0, fetch, ...options });

describe("a failed request's error", () => {
  const place = (client: Client, signal?: AbortSignal) => client.calls.create(INPUT, { ...(signal ? { signal } : {}) });

  test("a refusal prints neither token nor body", async () => {
    const wrongToken = createClient({ url: scene.url, token: TOKEN });
    const unauthorized = await failureOf(place(wrongToken));
    expectNoSecrets(unauthorized);
    expect(unauthorized).toMatchObject({ code: "unauthorized", status: 401, method: "POST", path: "/v1/calls" });
    const client = scene.client();
    for (const invalidInput of [
      INPUT,
      { ...INPUT, target: { phoneNumber: "555" } },
      { ...INPUT, tts: { text: TEXT.repeat(999) } },
    ]) {
      const refusal = await failureOf(client.calls.create(invalidInput as never));
      expectNoSecrets(refusal, [scene.token, TEXT]);
      expect(refusal).toMatchObject({ method: "POST", path: "/v1/calls", requestId: expect.stringMatching(/\S/) });
    }
  });

  test.each([400, 401, 403, 404, 409, 413, 422, 429, 500, 502, 503])(
    "the status %i prints neither token nor body",
    async (status) => {
      const headers = { "x-request-id": "req_1" };
      const problem = { code: "server_busy", detail: "later", request_id: "req_1" };
      const refusal = await failureOf(place(stub(async () => Response.json(problem, { status, headers }))));
      expectNoSecrets(refusal);
      expect(refusal).toMatchObject({ code: "server_busy", status, requestId: "req_1", path: "/voice/v1/calls" });
    },
  );

  test("a response that repeats the request prints neither token nor body", async () => {
    const echo: FetchRequest = async (request) =>
      new Response(`${request.headers.get("authorization")} ${await request.text()}`, { status: 500 });
    const refusal = await failureOf(place(stub(echo)));
    expectNoSecrets(refusal);
    expect(refusal).toMatchObject({ code: "unexpected_answer", status: 500 });
  });

  test("a response that is not JSON prints neither token nor body", async () => {
    const echo: FetchRequest = async (request) => new Response(`${TOKEN} ${await request.text()}`);
    const refusal = await failureOf(place(stub(echo)));
    expectNoSecrets(refusal);
    expect(refusal).toMatchObject({ code: "unexpected_answer", status: 200, message: expect.stringMatching(/JSON/) });
    const page = await failureOf(stub(async () => Response.json([])).eventPage());
    expect(page).toMatchObject({ code: "unexpected_answer", message: expect.stringMatching(/Next-Cursor/) });
  });

  test("a refused connection prints neither token nor body", async () => {
    const port = await freePort();
    const error = await failureOf(place(createClient({ url: `http://127.0.0.1:${port}`, token: TOKEN, retries: 1 })));
    expectNoSecrets(error);
    expect(error).toMatchObject({ code: "network_error", status: 0, method: "POST", path: "/v1/calls" });
    expect(error.message).toContain(`http://127.0.0.1:${port}`);
  });

  test("an error that contains the request prints neither token nor body", async () => {
    const failingFetch: FetchRequest = async (request) => {
      const cause = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED", request });
      throw Object.assign(new Error(`sent ${request.headers.get("authorization")}`, { cause }), {
        request,
        body: await request.clone().text(),
      });
    };
    const error = await failureOf(place(stub(failingFetch)));
    expectNoSecrets(error);
    expect(error.cause).toMatchObject({ cause: { message: "connect ECONNREFUSED", code: "ECONNREFUSED" } });
  });

  test("a broken response prints no secrets", async () => {
    const server = createServer((_, response) => {
      response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
      response.write("{");
      setTimeout(() => response.destroy(), 50);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const error = await failureOf(place(createClient({ url: `http://127.0.0.1:${port}`, token: TOKEN, retries: 0 })));
    server.close();
    expectNoSecrets(error);
    expect(error).toMatchObject({ code: "network_error" });
  });

  test("a timeout prints neither token nor body", async () => {
    const error = await failureOf(place(stub(() => new Promise(() => {}), { timeoutMs: 50 })));
    expectNoSecrets(error);
    expect(error).toMatchObject({ code: "timeout", status: 0, method: "POST", path: "/voice/v1/calls" });
  });

  test("a cancelled request prints neither token nor body", async () => {
    const stop = new AbortController();
    const hangingFetch: FetchRequest = ({ signal }) =>
      new Promise((_, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason));
        queueMicrotask(() => stop.abort());
      });
    const error = await failureOf(place(stub(hangingFetch), stop.signal));
    expectNoSecrets(error);
    expect(error.name).toBe("AbortError");
  });

  test("a rejected promise prints neither token nor body", async () => {
    const promise = place(stub(async () => new Response("no", { status: 500 })));
    await promise.catch(() => {});
    expectNoSecrets(promise);
    expectNoSecrets({ promise });
  });
});

describe("a client's objects", () => {
  test("client, parts and iterators print no token", async () => {
    const client = scene.client();
    const list = client.calls.list();
    const page = await client.calls.page();
    await client.instances.create({ name: "Printed" });
    const instances = client.instances.list();
    const { value } = await instances.next();
    for (const item of [client, client.calls, client.instances, list, page, client.events(), instances, value])
      expectNoSecrets(item, [scene.token]);
  });

  test.each(["rp_live_a\nb", "rp_live_a b", "rp_live_\u{1F511}"])("the refusal of token %j hides it", (token) => {
    const make = () => createClient({ url: "http://ringport.test", token });
    expect(make).toThrow(TypeError);
    try {
      make();
    } catch (error) {
      expectNoSecrets(error, [token, "rp_live"]);
    }
  });

  test("the refusal of a URL with a password does not print the password", () => {
    const make = () => createClient({ url: "http://ana:hunter2@ringport.test", token: TOKEN });
    expect(make).toThrow(/user name or a password/);
    try {
      make();
    } catch (error) {
      expectNoSecrets(error, ["hunter2"]);
    }
  });

  test("a line break after a token is not part of it", async () => {
    const client = scene.client({ token: `${scene.token}\n` });
    expect(await client.calls.page()).toMatchObject({ items: [] });
  });
});

describe("a stream's objects", () => {
  const tickets: string[] = [];
  class RecordingWebSocket extends WebSocket {
    constructor(url: string) {
      super(url);
      tickets.push(new URL(url).searchParams.get("ticket") ?? "");
    }
  }
  const secrets = () => [scene.token, ...tickets];
  afterAll(() => expect(tickets.length).toBeGreaterThan(1));

  test("a live stream, its promises and iterators print neither token nor ticket", async () => {
    const { id } = await scene.answeredCall();
    const stream = await scene.client().stream(id, { audio: "callee", WebSocket: RecordingWebSocket });
    const mark = stream.mark("one");
    for (const item of [stream, stream.ended, stream.events(), stream.audio(), mark]) expectNoSecrets(item, secrets());
    await stream.hangUp();
    expectNoSecrets(stream, secrets());
  });

  test("a refused stream prints neither token nor ticket", async () => {
    const refusal = await failureOf(scene.client().stream("call_missing", { WebSocket: RecordingWebSocket }));
    expectNoSecrets(refusal, secrets());
    const unauthorized = await failureOf(scene.client({ token: TOKEN }).stream("call_1"));
    expectNoSecrets(unauthorized);
  });

  test("a refused upgrade prints neither token nor ticket", async () => {
    const { id } = await scene.answeredCall();
    const proxy = createServer(async (request, response) => {
      const { method = "GET", headers } = request;
      const upstream = await fetch(`${scene.url}${request.url}`, {
        method,
        headers: { authorization: headers.authorization ?? "" },
      });
      response.writeHead(upstream.status, { "content-type": upstream.headers.get("content-type") ?? "" });
      response.end(await upstream.text());
    });
    proxy.on("upgrade", (_, socket) => socket.end("HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n"));
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const options = { reconnectMs: 1_500, WebSocket: RecordingWebSocket };
    expectNoSecrets(await failureOf(scene.client({ url }).stream(id, options)), secrets());
    proxy.close().closeAllConnections();
    await scene.client().calls.hangUp(id);
  });

  test("a lost stream prints neither token nor ticket", async () => {
    const { id } = await scene.answeredCall();
    const relay = await relayTo(scene.url);
    const url = relay.url.replace(/\/$/, "");
    const client = scene.client({ url, retries: 0 });
    const stream = await client.stream(id, { audio: "callee", reconnectMs: 1_000, WebSocket: RecordingWebSocket });
    const mark = stream.mark("never");
    mark.catch(() => {});
    const audio = stream.audio();
    const reading = (async () => {
      for await (const _ of audio);
    })();
    reading.catch(() => {});
    await relay.cut();
    const error = await failureOf(stream.ended);
    expect(error).toMatchObject({ code: "stream_lost" });
    await waitUntil(
      () =>
        reading.then(
          () => false,
          () => true,
        ),
      "the reader continues",
    );
    for (const item of [error, stream, stream.ended, mark, audio, reading]) expectNoSecrets(item, secrets());
    await scene.client().calls.hangUp(id);
  });
});
