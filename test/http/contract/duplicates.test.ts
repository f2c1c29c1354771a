import { describe, expect, test } from "vitest";
import { useLocalServer } from "../../support/local-server.ts";
import { expectProblem } from "../../support/response-shapes.ts";
import { type CallView, expected, type InstanceView } from "../../support/server-client.ts";
import type { HttpResponse } from "../../support/server-http.ts";

const REQUEST_COUNT = 50;
const concurrently = <T>(start: (i: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: REQUEST_COUNT }, (_, i) => start(i)));
const isReplay = (response: HttpResponse): boolean => response.headers["idempotent-replayed"] === "true";

const server = useLocalServer();

describe("the active-call rule", () => {
  test("50 concurrent creations return 201 once, and 200 with that call 49 times", async () => {
    const client = await server.as("ada");
    const { id } = await client.createInstance();
    const responses = await concurrently((i) =>
      client.postCall(id, { tts: { text: `Message ${i}`, voiceId: "en-US-1" } }),
    );
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(REQUEST_COUNT - 1);
    expect(new Set(responses.map((response) => response.text)).size).toBe(1);
    const [call] = responses.map((response) => response.json<CallView>());
    const rows = (await server.rows()).calls!.filter((row) => row.instance_id === id);
    expect(rows.map((row) => row.id)).toEqual([call!.id]);
    const createdResponse = responses.find(({ status }) => status === 201)!;
    expect(createdResponse.headers.location).toBe(`/v1/calls/${call!.id}`);
    expect((await client.timeline(call!.id)).map(({ type }) => type)).toEqual(["queued"]);
  });

  test("each instance has its own active call", async () => {
    const client = await server.as("ada");
    const instances = await concurrently((i) => client.createInstance(`Desk ${i}`));
    const calls = await Promise.all(instances.map(({ id }) => client.call(id)));
    expect(new Set(calls.map(({ id }) => id)).size).toBe(REQUEST_COUNT);
  });

  test("concurrent hang-ups of one call return 204 once, else 404", async () => {
    const client = await server.as("ada");
    const { id } = await client.call((await client.createInstance()).id);
    const responses = await concurrently(() => client.delete(`/v1/calls/${id}`));
    expect(responses.filter(({ status }) => status === 204)).toHaveLength(1);
    expect(responses.filter(({ status }) => status === 404)).toHaveLength(REQUEST_COUNT - 1);
    expect((await client.timeline(id)).map(({ type }) => type)).toEqual(["queued", "failed"]);
  });
});

describe("Idempotency-Key", () => {
  test("50 concurrent creations of an instance under one key create one", async () => {
    const client = await server.as("ada");
    const responses = await concurrently(() =>
      client.post("/v1/instances", { name: "Only one" }, { "idempotency-key": "instance-1" }),
    );
    const createdResponses = responses.filter((response) => response.status === 201);
    expect(createdResponses.filter((response) => !isReplay(response))).toHaveLength(1);
    expect(new Set(createdResponses.map((response) => response.text)).size).toBe(1);
    for (const response of responses)
      if (response.status !== 201) expectProblem(response, 409, "idempotency_key_in_progress");
    const list = expected(200, await client.get("/v1/instances")).json<InstanceView[]>();
    expect(list.filter(({ name }) => name === "Only one")).toHaveLength(1);
  });

  test("50 concurrent creations of a call under one key create one", async () => {
    const client = await server.as("ada");
    const { id } = await client.createInstance();
    const responses = await concurrently(() => client.postCall(id, {}, { "idempotency-key": `call-${id}` }));
    const createdResponses = responses.filter((response) => response.status === 201);
    expect(createdResponses.filter((response) => !isReplay(response))).toHaveLength(1);
    expect(new Set(createdResponses.map((response) => response.text)).size).toBe(1);
    for (const response of responses)
      if (response.status !== 201) expectProblem(response, 409, "idempotency_key_in_progress");
    expect((await server.rows()).calls!.filter((row) => row.instance_id === id)).toHaveLength(1);
  });

  test("the first response is replayed, even after the call has ended", async () => {
    const client = await server.as("ada");
    const { id } = await client.createInstance();
    const headers = { "idempotency-key": '"quoted key"' };
    const plainHeaders = { "idempotency-key": `plain-${id}` };
    expectProblem(await client.postCall(id, {}, headers), 400, "idempotency_key_invalid");
    const first = expected(201, await client.postCall(id, {}, plainHeaders));
    expect(first.headers["idempotent-replayed"]).toBeUndefined();
    expect((await client.delete(`/v1/calls/${first.json<CallView>().id}`)).status).toBe(204);
    const second = await client.call(id);
    const replay = await client.postCall(id, {}, plainHeaders);
    expect({ status: replay.status, text: replay.text }).toEqual({ status: 201, text: first.text });
    expect(replay.headers["idempotent-replayed"]).toBe("true");
    expect(replay.headers.location).toBe(first.headers.location);
    expect(second.id).not.toBe(first.json<CallView>().id);
  });

  test("a key that returned an existing call stays free", async () => {
    const client = await server.as("ada");
    const { id } = await client.createInstance();
    const call = await client.call(id);
    const headers = { "idempotency-key": `active-${id}` };
    const before = (await server.rows()).receipts;
    const existingResponse = expected(200, await client.postCall(id, {}, headers));
    expect(existingResponse.json<CallView>().id).toBe(call.id);
    expect((await server.rows()).receipts).toEqual(before);
    expect((await client.delete(`/v1/calls/${call.id}`)).status).toBe(204);
    const createdResponse = expected(201, await client.postCall(id, {}, headers));
    expect(createdResponse.headers["idempotent-replayed"]).toBeUndefined();
  });

  test("a receipt is small, whatever the request and its record", async () => {
    const client = await server.as("ada");
    const { id } = await client.createInstance();
    const headers = { "idempotency-key": `small-${id}` };
    const texts = { tts: { text: "Hello. ".repeat(500), voiceId: "en-US-1" }, metadata: { note: "x".repeat(10_000) } };
    const first = expected(201, await client.postCall(id, texts, headers));
    const rows = (await server.rows()).receipts!.filter(({ key }) => key === headers["idempotency-key"]);
    expect(rows).toHaveLength(1);
    expect(JSON.stringify(rows).length).toBeLessThan(500);
    expect(expected(201, await client.postCall(id, texts, headers)).text).toBe(first.text);
  });

  test("a key with another body is refused with 422", async () => {
    const client = await server.as("ada");
    const { id } = await client.createInstance();
    const headers = { "idempotency-key": `reused-${id}` };
    expected(201, await client.postCall(id, {}, headers));
    const before = await server.rows();
    const otherResponse = await client.postCall(id, { target: { phoneNumber: "+12025550101" } }, headers);
    expectProblem(otherResponse, 422, "idempotency_key_reused", "/v1/calls");
    expectProblem(await client.post("/v1/instances", { name: "x" }, headers), 422, "idempotency_key_reused");
    expect(await server.rows()).toEqual(before);
  });

  test("a refused request keeps its key free", async () => {
    const client = await server.as("ada");
    const { id } = await client.createInstance();
    const headers = { "idempotency-key": `free-${id}` };
    const noise = { type: "FIXED_AUDIO", audio: { audioBase64: btoa("noise") } };
    expectProblem(await client.postCall(id, noise, headers), 400, "audio_unsupported");
    expected(201, await client.postCall(id, {}, headers));
  });

  test("a key belongs to its user", async () => {
    const [ada, grace] = [await server.as("ada"), await server.as("grace")];
    const headers = { "idempotency-key": "shared" };
    const first = expected(201, await ada.post("/v1/instances", { name: "x" }, headers)).json<InstanceView>();
    const second = expected(201, await grace.post("/v1/instances", { name: "x" }, headers)).json<InstanceView>();
    expect(second.id).not.toBe(first.id);
  });

  test.for(["", " ", "a".repeat(256), "käse", "two words"])("the key %j is refused with 400", async (key) => {
    const client = await server.as("ada");
    const headers = { "idempotency-key": Buffer.from(key, "utf8").toString("latin1") };
    expectProblem(await client.post("/v1/instances", { name: "x" }, headers), 400, "idempotency_key_invalid");
  });
});
