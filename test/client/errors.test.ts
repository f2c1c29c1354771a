import { type Client, RingportError } from "ringport/client";
import { beforeAll, describe, expect, test } from "vitest";
import { server } from "./support/server.ts";

const { client: clientWith } = server();
const spoken = {
  type: "FIXED_TTS",
  target: { phoneNumber: "+12025550100" },
  tts: { text: "Hello there.", voiceId: "en-US-1" },
} as const;

let client: Client;
beforeAll(() => {
  client = clientWith();
});

async function errorOf(promise: Promise<unknown>): Promise<RingportError> {
  const error = await promise.catch((error: unknown) => error);
  expect(error).toBeInstanceOf(RingportError);
  return error as RingportError;
}

describe("the error of a problem document", () => {
  test("the error has every fault of the input", async () => {
    const target = { phoneNumber: "555" };
    const error = await errorOf(client.calls.create({ instanceId: "", ...spoken, target }));
    expect(error).toMatchObject({ code: "invalid_request", status: 400 });
    expect(error.errors.map(({ pointer, code }) => [pointer, code])).toEqual([
      ["/instanceId", "too_short"],
      ["/target/phoneNumber", "phone_number_invalid"],
    ]);
    expect(error.message).toBe(error.detail);
    expect(error.requestId).toMatch(/^\S+$/);
  });

  test("the error has the problem's code", async () => {
    const other = clientWith({ token: "rp_live_wrong" });
    expect(await errorOf(other.voices())).toMatchObject({ code: "unauthorized", status: 401, errors: [] });
    expect(await errorOf(client.calls.get("call_nobody"))).toMatchObject({ code: "call_not_found", status: 404 });
    const nowhere = client.calls.create({ instanceId: "inst_nowhere", ...spoken });
    expect(await errorOf(nowhere)).toMatchObject({ code: "instance_not_found" });
    expect(await errorOf(client.waitForCall("call_nobody"))).toMatchObject({ code: "call_not_found" });
    expect(await errorOf(client.instances.page({ limit: 0 }))).toMatchObject({ code: "invalid_request" });
  });

  test("a response without a problem is unexpected_answer", async () => {
    const page = (status: number) => async () => new Response("<h1>Hello</h1>", { status });
    const missing = await errorOf(clientWith({ fetch: page(404) }).voices());
    expect(missing).toMatchObject({ code: "unexpected_answer", status: 404, requestId: null });
    const strange = await errorOf(clientWith({ fetch: page(200) }).voices());
    expect(strange).toMatchObject({ code: "unexpected_answer", status: 200 });
  });
});

describe("a signal", () => {
  test("an aborted signal prevents the request", async () => {
    let sent = 0;
    const silent = clientWith({
      fetch: async () => {
        sent++;
        return Response.json([]);
      },
    });
    const reason = new Error("never mind");
    await expect(silent.voices({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(sent).toBe(0);
  });

  test("a signal cancels a request and its retries with its reason", async () => {
    const stop = new AbortController();
    const reason = new Error("the page was closed");
    let sent = 0;
    const waiting = clientWith({
      fetch: (request) => {
        sent++;
        return new Promise((_, reject) => {
          request.signal.addEventListener("abort", () => reject(request.signal.reason));
          queueMicrotask(() => stop.abort(reason));
        });
      },
    });
    await expect(waiting.instances.create({ name: "Never" }, { signal: stop.signal })).rejects.toBe(reason);
    expect(sent).toBe(1);
  });

  test("a signal ends waitForCall, and the call continues", async () => {
    const { id: instanceId } = await client.instances.create({ name: "Not linked" });
    const { id } = await client.calls.create({ instanceId, ...spoken });
    const stop = new AbortController();
    const reason = new Error("enough");
    const seen: string[] = [];
    const waiting = client.waitForCall(id, {
      signal: stop.signal,
      onProgress: ({ type }) => {
        seen.push(type);
        setTimeout(() => stop.abort(reason), 50);
      },
    });
    await expect(waiting).rejects.toBe(reason);
    expect(seen).toEqual(["queued"]);
    await expect(client.waitForCall(id, { timeoutMs: 60 })).rejects.toMatchObject({ name: "TimeoutError" });
    expect((await client.calls.get(id)).status).toBe("QUEUED");
    const onProgress = () => Promise.reject(reason);
    await expect(client.waitForCall(id, { onProgress })).rejects.toBe(reason);
  });
});
