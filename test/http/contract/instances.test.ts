import { describe, expect, test } from "vitest";
import { useLocalServer } from "../../support/local-server.ts";
import {
  expectProblem,
  ID,
  KEYS,
  keysOf,
  MISSING_IDS,
  pointersOf,
  sorted,
  TIMESTAMP,
} from "../../support/response-shapes.ts";
import { type Client, type EventView, expected, type InstanceView, until } from "../../support/server-client.ts";
import { send } from "../../support/server-http.ts";
import { decodePng, readQr } from "../../support/server-qr.ts";

/** Waits until this many more codes have appeared; each is valid for 0.8 s here. */
async function waitForCodes(count: number, client: Client, id: string): Promise<void> {
  const sequence = async () =>
    Number(expected(200, await client.get(`/v1/instances/${id}/configure`)).headers["qr-sequence"]);
  const target = (await sequence()) + count;
  await until(sequence, (value) => value >= target, 20_000, `code ${target}`);
}

const server = useLocalServer({ RINGPORT_SIMULATOR_TIME_SCALE: "0.04" });

describe("POST /v1/instances", () => {
  test("a creation gets 201 with exactly the instance and its location", async () => {
    const client = await server.as("ada");
    const metadata = { team: "sales", deep: [{ a: null, constructor: 1 }], "": "empty", ключ: "🦜" };
    const response = await client.post("/v1/instances", { name: "  Front desk ", metadata });
    expect(response.status).toBe(201);
    const instance = response.json<InstanceView>();
    expect(keysOf(instance)).toEqual(sorted(KEYS.instance));
    expect(instance).toMatchObject({ name: "Front desk", status: "CREATED", metadata });
    expect(instance.id).toMatch(ID.instance);
    expect(instance.created_at).toMatch(TIMESTAMP);
    expect(instance.updated_at).toBe(instance.created_at);
    expect(response.headers["content-type"]).toBe("application/json");
    expect(response.headers.location).toBe(`/v1/instances/${instance.id}`);
  });

  test("metadata is {} by default", async () => {
    const instance = await (await server.as("ada")).createInstance("No metadata");
    expect(instance.metadata).toEqual({});
  });

  test("unknown fields are ignored, and refused under Prefer: handling=strict", async () => {
    const client = await server.as("ada");
    const body = { name: "Extra", colour: "red" };
    expect((await client.post("/v1/instances", body)).status).toBe(201);
    const strictResponse = await client.post("/v1/instances", body, { prefer: "handling=strict" });
    expect(pointersOf(expectProblem(strictResponse, 400, "invalid_request"))).toEqual(["/colour"]);
  });

  test("a provider can be named; an unknown one is refused", async () => {
    const client = await server.as("ada");
    const namedResponse = expected(201, await client.post("/v1/instances", { name: "x", provider: "simulator" }));
    expect(keysOf(namedResponse.json())).toEqual(sorted(KEYS.instance));
    const unknownResponse = await client.post("/v1/instances", { name: "x", provider: "carrier pigeon" });
    expect(pointersOf(expectProblem(unknownResponse, 400, "provider_unknown"))).toEqual(["/provider"]);
  });

  const nestedObject = (levels: number): unknown => (levels === 0 ? 1 : { a: nestedObject(levels - 1) });
  test.for<[what: string, body: unknown, pointers: string[]]>([
    ["a missing name", {}, ["/name"]],
    ["a name of the wrong type", { name: 7 }, ["/name"]],
    ["an empty name", { name: "" }, ["/name"]],
    ["a name of only white space", { name: " \t\n" }, ["/name"]],
    ["a name of 121 characters", { name: "é".repeat(121) }, ["/name"]],
    ["metadata that is an array", { name: "x", metadata: [] }, ["/metadata"]],
    ["metadata that is text", { name: "x", metadata: "y" }, ["/metadata"]],
    ["metadata over 16 KiB", { name: "x", metadata: { a: "y".repeat(16 * 1024) } }, ["/metadata"]],
    ["metadata 9 levels deep", { name: "x", metadata: nestedObject(9) }, ["/metadata"]],
    ["all faults at once", { name: null, metadata: 1 }, ["/metadata", "/name"]],
    ["an array for a body", [], [""]],
    ["null for a body", null, [""]],
  ])("%s is refused with 400 and a pointer to it", async ([, body, pointers]) => {
    const client = await server.as("ada");
    const before = await server.rows();
    const response = await client.post("/v1/instances", body);
    expect(response.status).toBe(400);
    expect(pointersOf(expectProblem(response, 400, response.json().code as string, "/v1/instances"))).toEqual(pointers);
    expect(await server.rows()).toEqual(before);
  });

  test("the largest allowed values are accepted", async () => {
    const client = await server.as("ada");
    const metadata = { a: "y".repeat(16 * 1024 - '{"a":""}'.length) };
    expect((await client.post("/v1/instances", { name: "🦜".repeat(120), metadata })).status).toBe(201);
    expect((await client.post("/v1/instances", { name: "deep", metadata: nestedObject(8) })).status).toBe(201);
  });
});

describe("GET /v1/instances", () => {
  test("the list has the caller's instances, newest first, without deleted ones", async () => {
    const client = await server.as("lister");
    expect(expected(200, await client.get("/v1/instances")).json()).toEqual([]);
    const instances: InstanceView[] = [];
    for (let i = 0; i < 5; i++) instances.unshift(await client.createInstance(`Desk ${i}`));
    const [deletedInstance] = instances.splice(2, 1);
    expect((await client.delete(`/v1/instances/${deletedInstance!.id}`)).status).toBe(204);
    const list = expected(200, await client.get("/v1/instances")).json<InstanceView[]>();
    expect(list).toEqual(instances);
    for (const instance of list) expect(keysOf(instance)).toEqual(sorted(KEYS.instance));
  });
});

describe("GET /v1/instances/:instanceId", () => {
  test("the instance has exactly its fields and its queue", async () => {
    const client = await server.as("ada");
    const { id } = await client.createInstance("Single", { a: 1 });
    const emptyInstance = await client.instance(id);
    expect(keysOf(emptyInstance)).toEqual(sorted(KEYS.instanceDetails));
    expect(emptyInstance).toMatchObject({ status: "CREATED", metadata: { a: 1 }, callQueue: [] });
    const call = await client.call(id);
    const { callQueue } = await client.instance(id);
    expect(callQueue).toEqual([
      {
        id: call.id,
        type: "FIXED_TTS",
        status: "QUEUED",
        target_phone: call.target_phone,
        created_at: call.created_at,
      },
    ]);
    expect((await client.delete(`/v1/calls/${call.id}`)).status).toBe(204);
    expect((await client.instance(id)).callQueue).toEqual([]);
  });

  test("expand=connection adds the live state of the line", async () => {
    const client = await server.as("ada");
    const { id } = await client.createInstance();
    const read = async () =>
      expected(200, await client.get(`/v1/instances/${id}?expand=connection`)).json<{
        connection: Record<string, unknown>;
      }>();
    expect(keysOf(await read())).toEqual(sorted([...KEYS.instanceDetails, "connection"]));
    const { connection } = await read();
    expect(keysOf(connection)).toEqual(sorted(KEYS.connection));
    expect(connection).toMatchObject({ phone: null, last_seen_at: null, provider: "simulator" });
    await client.link(id);
    expect((await read()).connection).toMatchObject({
      state: "online",
      phone: expect.stringMatching(/^\+[1-9]\d{6,14}$/),
      last_seen_at: expect.stringMatching(TIMESTAMP),
      reason: null,
    });
    const wrongResponse = await client.get(`/v1/instances/${id}?expand=secrets`);
    expectProblem(wrongResponse, 400, "invalid_request");
  });
});

describe("GET /v1/instances/:instanceId/configure", () => {
  test("the code is a PNG that a camera reads as the linking page's URL", async () => {
    const client = await server.as("ada");
    const { id } = await client.createInstance();
    const response = expected(200, await client.get(`/v1/instances/${id}/configure`));
    const code = response.json<{ instanceId: string; qrCodeBase64: string; message: string }>();
    expect(keysOf(code)).toEqual(sorted(KEYS.linkingCode));
    expect(code.instanceId).toBe(id);
    expect(code.message).not.toBe("");
    expect(code.qrCodeBase64).toMatch(/^[A-Za-z0-9+/]+={0,2}$/);
    const png = Buffer.from(code.qrCodeBase64, "base64");
    const { width, height } = decodePng(png);
    expect(width).toBe(height);
    expect(readQr(png)).toMatch(new RegExp(`^${server.base}/simulator/link/[^/]+$`));
    expect(response.headers["cache-control"]).toBe("no-store");
    expect(response.headers["qr-sequence"]).toMatch(/^\d+$/);
    expect(response.headers["qr-expires-at"]).toMatch(TIMESTAMP);
    expect(Date.parse(response.headers["qr-expires-at"]!)).toBeGreaterThan(Date.now() - 1_000);
  });

  test("a client that accepts image/png gets the picture", async () => {
    const client = await server.as("ada");
    const { id } = await client.createInstance();
    const response = expected(200, await client.get(`/v1/instances/${id}/configure`, { accept: "image/png" }));
    expect(response.headers["content-type"]).toBe("image/png");
    expect(readQr(response.body)).toContain("/simulator/link/");
  });

  test("codes rotate and are numbered; an old code links during its grace period", async () => {
    const client = await server.as("ada");
    const { id } = await client.createInstance();
    const read = async () => {
      const response = expected(200, await client.get(`/v1/instances/${id}/configure`));
      const { qrCodeBase64 } = response.json<{ qrCodeBase64: string }>();
      return { code: Buffer.from(qrCodeBase64, "base64"), sequence: Number(response.headers["qr-sequence"]) };
    };
    // The grace period is short here; on a busy machine it may have ended before the older code arrives.
    const linkWithOlderCode = async () => {
      const first = await read();
      const url = readQr(first.code);
      const next = await until(read, ({ code }) => !code.equals(first.code), 10_000, "the next code");
      expect(next.sequence).toBeGreaterThan(first.sequence);
      return (await send("POST", url)).status;
    };
    await until(linkWithOlderCode, (status) => status === 200, 30_000, "an older code to link");
    await client.waitForInstance(id, "ACTIVE");
  });

  test("a scan activates the instance and ends its codes", async () => {
    const client = await server.as("ada");
    const { id, updated_at } = await client.createInstance();
    const url = await client.linkUrl(id);
    expect((await send("POST", url)).status).toBe(200);
    const linkedInstance = await client.waitForInstance(id, "ACTIVE");
    expect(linkedInstance.updated_at >= updated_at).toBe(true);
    const events = expected(200, await client.get(`/v1/events?instance_id=${id}`)).json<EventView[]>();
    expect(events.map(({ type }) => type)).toEqual(["instance.created", "instance.linked", "instance.active"]);
    const path = `/v1/instances/${id}/configure`;
    expectProblem(await client.get(path), 409, "instance_already_linked", path);
  });
});

describe("POST /v1/instances/:instanceId/unlink", () => {
  test("the number is unlinked, the instance stays, and the next code links another number", async () => {
    const client = await server.as("ada");
    const { id } = await client.createInstance();
    expect((await send("POST", await client.linkUrl(id))).status).toBe(200);
    await client.waitForInstance(id, "ACTIVE");
    const credentials = async () => (await server.rows()).credentials?.filter((row) => row.instance_id === id);
    expect(await credentials()).toHaveLength(1);
    for (const _ of [1, 2]) {
      const unlinkedInstance = expected(
        200,
        await client.send("POST", `/v1/instances/${id}/unlink`),
      ).json<InstanceView>();
      expect(keysOf(unlinkedInstance)).toEqual(sorted(KEYS.instance));
      expect(unlinkedInstance).toMatchObject({ id, status: "CREATED" });
    }
    expect(await credentials()).toEqual([]);
    const call = await client.call(id);
    expect((await send("POST", await client.linkUrl(id))).status).toBe(200);
    expect(await client.waitForCall(call.id)).toMatchObject({ status: "COMPLETED" });
    const events = expected(200, await client.get(`/v1/events?instance_id=${id}`)).json<EventView[]>();
    const eventTypes = events.filter(({ type }) => type.startsWith("instance.")).map(({ type }) => type.slice(9));
    expect(eventTypes).toEqual(["created", "linked", "active", "unlinked", "linked", "active"]);
  });

  test("a live call ends as instance_lost", async () => {
    const client = await server.as("ada");
    const { id } = await client.activeInstance();
    const call = await client.call(id, { target: { phoneNumber: "+12025550102" } });
    await until(
      () => client.readCall(call.id),
      ({ status }) => status === "RINGING",
      10_000,
      "a ringing phone",
    );
    expected(200, await client.send("POST", `/v1/instances/${id}/unlink`));
    expect(await client.readCall(call.id)).toMatchObject({ status: "FAILED", outcome: { reason: "instance_lost" } });
  });
});

describe("DELETE /v1/instances/:instanceId", () => {
  test("a deletion gets 204 without a body; every endpoint loses the instance", async () => {
    const client = await server.as("ada");
    const { id } = await client.createInstance();
    const response = await client.delete(`/v1/instances/${id}`);
    expect({ status: response.status, body: response.text }).toEqual({ status: 204, body: "" });
    for (const [method, path] of [
      ["GET", `/v1/instances/${id}`],
      ["GET", `/v1/instances/${id}/configure`],
      ["DELETE", `/v1/instances/${id}`],
    ] as const)
      expectProblem(await client.send(method, path), 404, "instance_not_found", path);
    expectProblem(await client.postCall(id), 404, "instance_not_found", "/v1/calls");
    const list = expected(200, await client.get("/v1/instances")).json<InstanceView[]>();
    expect(list.map((instance) => instance.id)).not.toContain(id);
  });

  test("the waiting call ends, and stays readable", async () => {
    const client = await server.as("ada");
    const { id } = await client.createInstance();
    const call = await client.call(id);
    expect((await client.delete(`/v1/instances/${id}`)).status).toBe(204);
    const endedCall = await client.readCall(call.id);
    expect(endedCall).toMatchObject({ status: "FAILED", outcome: { reason: "instance_deleted" } });
    expect(endedCall.ended_at).toMatch(TIMESTAMP);
  });

  test("credentials and linking URL of a linked instance are erased", async () => {
    const client = await server.as("ada");
    const { id } = await client.createInstance();
    const url = await client.linkUrl(id);
    expect((await send("POST", url)).status).toBe(200);
    await client.waitForInstance(id, "ACTIVE");
    const credentials = async () => (await server.rows()).credentials?.filter((row) => row.instance_id === id);
    expect(await credentials()).toHaveLength(1);
    expect((await client.delete(`/v1/instances/${id}`)).status).toBe(204);
    expect(await credentials()).toEqual([]);
    expect([404, 410]).toContain((await send("POST", url)).status);
  });
});

test.for([
  ["GET", `/v1/instances/${MISSING_IDS.instance}`],
  ["GET", `/v1/instances/${MISSING_IDS.instance}/configure`],
  ["DELETE", `/v1/instances/${MISSING_IDS.instance}`],
  ["POST", `/v1/instances/${MISSING_IDS.instance}/unlink`],
  ["GET", "/v1/instances/nonsense"],
  ["GET", `/v1/instances/${MISSING_IDS.call}`],
  ["DELETE", "/v1/instances/..%3f..etc"],
] as const)("%s %s responds 404", async ([method, path]) => {
  expectProblem(await (await server.as("ada")).send(method, path), 404, "instance_not_found", path);
});

describe("the linking pages", () => {
  test("a linking page has one button, and reserves the code for its reader", async () => {
    const client = await server.as("ada");
    const { id } = await client.createInstance("<script>alert(1)</script>");
    const url = await client.linkUrl(id);
    const page = await send("GET", url);
    expect(page.status).toBe(200);
    expect(page.headers["content-type"]).toMatch(/^text\/html/);
    expect(page.text.match(/<button/g)).toHaveLength(1);
    expect(page.text).toContain("Link this phone");
    expect(page.text).not.toContain("<script");
    await client.waitForInstance(id, "CREATED");
    await waitForCodes(3, client, id); // the code itself is stale by now
    expect((await send("POST", url)).status).toBe(200);
    await client.waitForInstance(id, "ACTIVE");
  });

  test("a used code shows a 410 page, an unknown one a 404 page", async () => {
    const client = await server.as("ada");
    const { id } = await client.createInstance();
    const url = await client.linkUrl(id);
    expect((await send("POST", url)).status).toBe(200);
    for (const method of ["GET", "POST"]) {
      const usedPage = await send(method, url);
      expect({ status: usedPage.status, type: usedPage.headers["content-type"] }).toEqual({
        status: 410,
        type: expect.stringMatching(/^text\/html/),
      });
      const unknownPage = await send(method, `${server.base}/simulator/link/0123456789abcdef`);
      expect({ status: unknownPage.status, type: unknownPage.headers["content-type"] }).toEqual({
        status: 404,
        type: expect.stringMatching(/^text\/html/),
      });
    }
  });

  test("a stale code shows a 410 page and does not link", async () => {
    const client = await server.as("ada");
    const { id } = await client.createInstance();
    const url = await client.linkUrl(id);
    await waitForCodes(3, client, id);
    expect((await send("POST", url)).status).toBe(410);
    expect((await client.instance(id)).status).toBe("CREATED");
  });
});
