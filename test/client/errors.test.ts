import { type Client, RingportError } from "ringport/client";
import { beforeAll, describe, expect, test } from "vitest";
import { server } from "./support/server.ts";

const { client: createTestClient } = server();
const spokenCall = {
  type: "FIXED_TTS",
  target: { phoneNumber: "+12025550100" },
  tts: { text: "Hello there.", voiceId: "en-US-1" },
} as const;

let client: Client;
beforeAll(() => {
  client = createTestClient();
});

async function errorOf(promise: Promise<unknown>): Promise<RingportError> {
  const error = await promise.catch((error: unknown) => error);
  expect(error).toBeInstanceOf(RingportError);
  return error as RingportError;
}

describe("the error of a problem document", () => {
  test("the error has every fault in the input", async () => {
    const target = { phoneNumber: "555" };
    const error = await errorOf(client.calls.create({ instanceId: "", ...spokenCall, target }));
    expect(error).toMatchObject({ code: "invalid_request", status: 400 });
    expect(error.errors.map(({ pointer, code }) => [pointer, code])).toEqual([
      ["/instanceId", "too_short"],
      ["/target/phoneNumber", "phone_number_invalid"],
    ]);
    expect(error.message).toBe(error.detail);
    expect(error.requestId).toMatch(/^\S+$/);
  });

  test("the error has the problem's code", async () => {
    const wrongToken = createTestClient({ token: "rp_live_wrong" });
    expect(await errorOf(wrongToken.voices())).toMatchObject({ code: "unauthorized", status: 401, errors: [] });
    expect(await errorOf(client.calls.get("call_missing"))).toMatchObject({ code: "call_not_found", status: 404 });
    const creation = client.calls.create({ instanceId: "inst_missing", ...spokenCall });
    expect(await errorOf(creation)).toMatchObject({ code: "instance_not_found" });
    expect(await errorOf(client.waitForCall("call_missing"))).toMatchObject({ code: "call_not_found" });
    expect(await errorOf(client.instances.page({ limit: 0 }))).toMatchObject({ code: "invalid_request" });
  });

  test("a response without a problem is unexpected_answer", async () => {
    const page = (status: number) => async () => new Response("<h1>Hello</h1>", { status });
    const notFound = await errorOf(createTestClient({ fetch: page(404) }).voices());
    expect(notFound).toMatchObject({ code: "unexpected_answer", status: 404, requestId: null });
    const malformedResponse = await errorOf(createTestClient({ fetch: page(200) }).voices());
    expect(malformedResponse).toMatchObject({ code: "unexpected_answer", status: 200 });
  });
});

describe("a signal", () => {
  test("an aborted signal prevents the request", async () => {
    let requestCount = 0;
    const silentClient = createTestClient({
      fetch: async () => {
        requestCount++;
        return Response.json([]);
      },
    });
    const reason = new Error("cancelled early");
    await expect(silentClient.voices({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(requestCount).toBe(0);
  });

  test("a signal cancels a request and its retries with its reason", async () => {
    const stop = new AbortController();
    const reason = new Error("the page was closed");
    let requestCount = 0;
    const hangingClient = createTestClient({
      fetch: (request) => {
        requestCount++;
        return new Promise((_, reject) => {
          request.signal.addEventListener("abort", () => reject(request.signal.reason));
          queueMicrotask(() => stop.abort(reason));
        });
      },
    });
    await expect(hangingClient.instances.create({ name: "Never" }, { signal: stop.signal })).rejects.toBe(reason);
    expect(requestCount).toBe(1);
  });

  test("a signal ends waitForCall, and the call continues", async () => {
    const { id: instanceId } = await client.instances.create({ name: "Not linked" });
    const { id } = await client.calls.create({ instanceId, ...spokenCall });
    const stop = new AbortController();
    const reason = new Error("cancelled by the caller");
    const types: string[] = [];
    const result = client.waitForCall(id, {
      signal: stop.signal,
      onProgress: ({ type }) => {
        types.push(type);
        setTimeout(() => stop.abort(reason), 50);
      },
    });
    await expect(result).rejects.toBe(reason);
    expect(types).toEqual(["queued"]);
    await expect(client.waitForCall(id, { timeoutMs: 60 })).rejects.toMatchObject({ name: "TimeoutError" });
    expect((await client.calls.get(id)).status).toBe("QUEUED");
    const onProgress = () => Promise.reject(reason);
    await expect(client.waitForCall(id, { onProgress })).rejects.toBe(reason);
  });
});
