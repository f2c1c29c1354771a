import { describe, expect, test } from "vitest";
import { useLocalServer } from "../../support/local-server.ts";
import { expectProblem, MISSING_IDS, withoutIds } from "../../support/response-shapes.ts";
import { type CallView, type EventView, expected, type InstanceView } from "../../support/server-client.ts";

/** 401 takes precedence, even for paths and methods that do not exist. */
const UNKNOWN = ["GET /v1", "GET /v1/nothing/here", "PATCH /v1/calls", "OPTIONS /v1/calls"];

const pathOf = (template: string): string =>
  template
    .replace("{callId}", MISSING_IDS.call)
    .replace("{instanceId}", MISSING_IDS.instance)
    .replace("{voiceId}", "en-US-1")
    .replace(/\{\w+\}/g, "x");
const WELL_FORMED_TOKEN = "rp_live_0000000000000000000000000000000000000000000000000";

const server = useLocalServer();

describe("a missing or invalid token", () => {
  /** Every operation of the document that requires a token, with ids of missing records. */
  const protectedOperations = (): string[] =>
    Object.entries(server.document?.paths ?? {}).flatMap(([template, operations]) =>
      Object.entries(operations)
        .filter(([, { security = [] }]) => security.length > 0)
        .map(([method]) => `${method.toUpperCase()} ${pathOf(template)}`),
    );

  test("every protected operation refuses it with 401", async () => {
    const liveToken = (await server.as("ada")).token!;
    const wrongHeaders = [
      undefined,
      "",
      "Bearer",
      "Bearer ",
      `Bearer ${WELL_FORMED_TOKEN}`,
      `Bearer ${liveToken.slice(0, -1)}`,
      `Bearer ${liveToken}x`,
      `Bearer ${liveToken.toLowerCase()}`,
      `Bearer ${liveToken} ${liveToken}`,
      `Basic ${liveToken}`,
      liveToken,
      `Bearer ${"x".repeat(5000)}`,
    ];
    const operations = [...protectedOperations(), ...UNKNOWN, `GET /simulator/calls/${MISSING_IDS.call}/heard.wav`];
    expect(operations.length).toBeGreaterThan(15);
    for (const operation of operations) {
      const [method = "", path = ""] = operation.split(" ");
      for (const authorization of wrongHeaders) {
        const headers = authorization === undefined ? {} : { authorization };
        const response = await server
          .client()
          .send(method, path, { headers, body: method === "POST" ? "{" : undefined });
        expect({ operation, authorization, status: response.status }).toEqual({
          operation,
          authorization,
          status: 401,
        });
        expectProblem(response, 401, "unauthorized", path);
      }
    }
  });

  test("an upgrade is refused with 401 before the handshake", async () => {
    const response = await server.client().get(`/v1/calls/${MISSING_IDS.call}/stream`, {
      connection: "Upgrade",
      upgrade: "websocket",
      "sec-websocket-version": "13",
      "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
    });
    expectProblem(response, 401, "unauthorized");
  });

  test("a refused request has no effect", async () => {
    const { id } = await (await server.as("ada")).createInstance();
    const before = await server.rows();
    const clientWithoutToken = server.client();
    expectProblem(await clientWithoutToken.post("/v1/instances", { name: "x" }), 401, "unauthorized");
    expectProblem(await clientWithoutToken.postCall(id), 401, "unauthorized");
    expectProblem(await clientWithoutToken.delete(`/v1/instances/${id}`), 401, "unauthorized");
    expect(await server.rows()).toEqual(before);
  });

  test("the scheme's name ignores case", async () => {
    const { token } = await server.as("ada");
    const response = await server.client().get("/v1/instances", { authorization: `bEARER ${token}` });
    expect(response.status).toBe(200);
  });

  test("a revoked token stops working at once; the user's other tokens work", async () => {
    const [token, otherToken] = [await server.token("grace"), await server.token("grace")];
    const client = server.client(token);
    expect((await client.get("/v1/instances")).status).toBe(200);
    await server.revoke(token);
    expectProblem(await client.get("/v1/instances"), 401, "unauthorized");
    expect((await server.client(otherToken).get("/v1/instances")).status).toBe(200);
  });
});

describe("another user's record", () => {
  test("every endpoint hides that the record exists", async () => {
    const [ada, eve] = [await server.as("ada"), await server.as("eve")];
    const { id: instance } = await ada.createInstance("Secret");
    const { id: call } = await ada.call(instance);
    const before = await server.rows();
    const pairs = [
      ["GET", `/v1/instances/${instance}`, `/v1/instances/${MISSING_IDS.instance}`],
      ["GET", `/v1/instances/${instance}/configure`, `/v1/instances/${MISSING_IDS.instance}/configure`],
      ["DELETE", `/v1/instances/${instance}`, `/v1/instances/${MISSING_IDS.instance}`],
      ["GET", `/v1/calls/${call}`, `/v1/calls/${MISSING_IDS.call}`],
      ["DELETE", `/v1/calls/${call}`, `/v1/calls/${MISSING_IDS.call}`],
      ["GET", `/v1/calls/${call}/events`, `/v1/calls/${MISSING_IDS.call}/events`],
      ["GET", `/v1/calls/${call}/stream`, `/v1/calls/${MISSING_IDS.call}/stream`],
      ["GET", `/simulator/calls/${call}/heard.wav`, `/simulator/calls/${MISSING_IDS.call}/heard.wav`],
    ] as const;
    for (const [method, existingPath, missingPath] of pairs) {
      const [id, missingId] = existingPath.includes("inst_")
        ? [instance, MISSING_IDS.instance]
        : [call, MISSING_IDS.call];
      const foreignResponse = withoutIds(await eve.send(method, existingPath), id);
      expect(foreignResponse).toEqual(withoutIds(await eve.send(method, missingPath), missingId));
      if (!existingPath.endsWith("/stream")) expect(foreignResponse).toMatchObject({ status: 404 });
    }
    const postResponse = withoutIds(await eve.postCall(instance), instance);
    expect(postResponse).toMatchObject({ status: 404 });
    expect(postResponse).toEqual(withoutIds(await eve.postCall(MISSING_IDS.instance), MISSING_IDS.instance));
    for (const list of ["/v1/instances", "/v1/calls", "/v1/events", `/v1/calls?instance_id=${instance}`])
      expect(expected(200, await eve.get(list)).json()).toEqual([]);
    expect(await server.rows()).toEqual(before);
    expect((await ada.readCall(call)).status).toBe("QUEUED");
  });

  test("a cursor of another user's list returns no records", async () => {
    const [ada, eve] = [await server.as("ada"), await server.as("eve")];
    await ada.createInstance();
    await ada.createInstance();
    const { link } = expected(200, await ada.get("/v1/instances?limit=1")).headers;
    const next = /<([^>]+)>/.exec(link ?? "")?.[1] ?? "";
    expect(expected(200, await ada.get(next)).json()).not.toEqual([]);
    expect(expected(200, await eve.get(next)).json()).toEqual([]);
  });
});

describe("a demo token", () => {
  const prepareDemo = async () => {
    const ada = await server.as("demo-owner");
    const [ownInstance, otherInstance] = [await ada.createInstance("Demo"), await ada.createInstance("Other")];
    const token = await server.token("demo-owner", { demoInstanceId: ownInstance.id });
    expect(token).toMatch(/^rp_demo_[0-9A-Za-z]{40,}$/);
    return { ada, demo: server.client(token), ownInstance, otherInstance };
  };

  test("calls from its own instance", async () => {
    const { demo, ownInstance } = await prepareDemo();
    const call = await demo.call(ownInstance.id);
    expect((await demo.readCall(call.id)).instance_id).toBe(ownInstance.id);
    expect((await demo.postCall(ownInstance.id)).status).toBe(200);
    expect((await demo.delete(`/v1/calls/${call.id}`)).status).toBe(204);
  });

  test("gets 403 for every other instance, existing or not", async () => {
    const { ada, demo, otherInstance } = await prepareDemo();
    const foreignId = (await (await server.as("eve")).createInstance()).id;
    await ada.call(otherInstance.id);
    const before = await server.rows();
    for (const id of [otherInstance.id, foreignId, MISSING_IDS.instance, "x"])
      expectProblem(await demo.postCall(id), 403, "demo_token_restricted", "/v1/calls");
    expect(await server.rows()).toEqual(before);
  });

  test("gets 401, 415 and 400 before the 403", async () => {
    const { demo, otherInstance } = await prepareDemo();
    expectProblem(await server.client().postCall(otherInstance.id), 401, "unauthorized");
    const plainText = await demo.send("POST", "/v1/calls", { headers: { "content-type": "text/plain" }, body: "x" });
    expectProblem(plainText, 415, "unsupported_media_type");
    expectProblem(await demo.postCall(otherInstance.id, { target: {} }), 400, "invalid_request");
    const noise = { type: "FIXED_AUDIO", audio: { audioBase64: btoa("noise") } };
    expectProblem(await demo.postCall(otherInstance.id, noise), 403, "demo_token_restricted");
  });

  test("has its own idempotency keys, and no replay of another instance", async () => {
    const { ada, demo, ownInstance, otherInstance } = await prepareDemo();
    const headers = { "idempotency-key": `replay-${otherInstance.id}` };
    const first = expected(201, await demo.postCall(ownInstance.id, {}, headers));
    expected(201, await ada.postCall(otherInstance.id, {}, headers));
    const replay = expected(201, await demo.postCall(ownInstance.id, {}, headers));
    expect(replay.headers["idempotent-replayed"]).toBe("true");
    expect(replay.json()).toEqual(first.json());
    expectProblem(await demo.postCall(otherInstance.id, {}, headers), 422, "idempotency_key_reused");
    const adaHeaders = { "idempotency-key": `ada-${otherInstance.id}` };
    await ada.postCall(otherInstance.id, {}, adaHeaders);
    expectProblem(await demo.postCall(otherInstance.id, {}, adaHeaders), 403, "demo_token_restricted");
  });

  test("sees only its instance and calls", async () => {
    const { ada, demo, ownInstance, otherInstance } = await prepareDemo();
    const [visibleCall, hiddenCall] = [await ada.call(ownInstance.id), await ada.call(otherInstance.id)];
    const idsOf = async (path: string) =>
      expected(200, await demo.get(path))
        .json<(InstanceView | CallView)[]>()
        .map(({ id }) => id);
    expect(await idsOf("/v1/instances")).toEqual([ownInstance.id]);
    expect(await idsOf("/v1/calls")).toEqual([visibleCall.id]);
    expect(await idsOf(`/v1/calls?instance_id=${otherInstance.id}`)).toEqual([]);
    const events = expected(200, await demo.get("/v1/events")).json<EventView[]>();
    expect(new Set(events.map((event) => event.instance_id))).toEqual(new Set([ownInstance.id]));
    expect((await demo.get(`/v1/instances/${ownInstance.id}`)).status).toBe(200);
    const missingReply = withoutIds(await demo.get(`/v1/instances/${MISSING_IDS.instance}`), MISSING_IDS.instance);
    expect(withoutIds(await demo.get(`/v1/instances/${otherInstance.id}`), otherInstance.id)).toEqual(missingReply);
    for (const path of [`/v1/calls/${hiddenCall.id}`, `/v1/calls/${hiddenCall.id}/events`])
      expectProblem(await demo.get(path), 404, "call_not_found", path);
    expectProblem(await demo.delete(`/v1/calls/${hiddenCall.id}`), 404, "call_not_found");
    expectProblem(await demo.get(`/v1/instances/${otherInstance.id}/configure`), 404, "instance_not_found");
    expectProblem(await demo.get(`/simulator/calls/${hiddenCall.id}/heard.wav`), 404, "call_not_found");
  });

  test("creates and deletes no instance", async () => {
    const { demo, ownInstance, otherInstance } = await prepareDemo();
    const before = await server.rows();
    expectProblem(await demo.post("/v1/instances", { name: "x" }), 403, "demo_token_restricted");
    expectProblem(await demo.delete(`/v1/instances/${ownInstance.id}`), 403, "demo_token_restricted");
    const missingReply = withoutIds(await demo.delete(`/v1/instances/${MISSING_IDS.instance}`), MISSING_IDS.instance);
    expect(missingReply).toMatchObject({ status: 403, text: expect.stringContaining("demo_token_restricted") });
    expect(withoutIds(await demo.delete(`/v1/instances/${otherInstance.id}`), otherInstance.id)).toEqual(missingReply);
    expect(await server.rows()).toEqual(before);
  });
});
