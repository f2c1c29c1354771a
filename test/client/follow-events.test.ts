import { type CallEvent, createClient } from "ringport/client";
import { expect, test } from "vitest";
import { server, TEST_URL } from "./support/server.ts";

const testServer = server();
const target = { phoneNumber: "+12025550100" };

test("followEvents yields each event once, from its cursor, without polling", { timeout: 20_000 }, async () => {
  let requests = 0;
  const client = testServer.client({
    fetch: (request) => {
      if (new URL(request.url).pathname.endsWith("/v1/events")) requests++;
      return testServer.ringport.fetch(request);
    },
  });
  const instance = await client.instances.create({ name: "Followed" });
  const abort = new AbortController();
  const seenIds: string[] = [];
  const cursors: string[] = [];
  let onFirstPage = () => {};
  const firstPage = new Promise<void>((resolve) => {
    onFirstPage = resolve;
  });
  const eventReading = (async () => {
    for await (const { items, cursor } of client.followEvents({ instance_id: instance.id }, { signal: abort.signal })) {
      seenIds.push(...items.map(({ id }) => id));
      cursors.push(cursor);
      onFirstPage();
      if (items.some(({ type }) => type === "failed")) return;
    }
  })();
  await firstPage;
  const call = await client.calls.create({ instanceId: instance.id, type: "DYNAMIC_STREAM", target, reference: "r 1" });
  await client.calls.hangUp(call.id);
  await eventReading;
  const allIds: string[] = [];
  for await (const { id } of client.events({ instance_id: instance.id })) allIds.push(id);
  expect(seenIds).toEqual(allIds);
  expect(requests).toBeLessThanOrEqual(allIds.length + 1 + 1); // one for each page, and one for the list
  const nextPage = client
    .followEvents({ instance_id: instance.id, cursor: cursors.at(-1) }, { signal: abort.signal })
    .next();
  abort.abort(new Error("enough"));
  await expect(nextPage).rejects.toThrow("enough");
});

test("followEvents from the latest event yields only later events", { timeout: 20_000 }, async () => {
  const client = testServer.client();
  const { id: instance_id } = await client.instances.create({ name: "Latest" });
  const latestPage = await client.eventPage({ instance_id, cursor: "latest" });
  expect(latestPage.items).toEqual([]);
  const nextPage = client.followEvents({ instance_id, cursor: "latest" }).next();
  const call = await client.calls.create({ instanceId: instance_id, type: "DYNAMIC_STREAM", target });
  const { value } = await nextPage;
  expect(value?.items.map(({ type, call_id }) => [type, call_id])).toEqual([["queued", call.id]]);
  expect((await client.eventPage({ instance_id, cursor: latestPage.cursor })).items).toEqual(value?.items);
  await client.calls.hangUp(call.id);
});

test("a timeline is read from its latest event, by a request that waits", { timeout: 20_000 }, async () => {
  let authorization = "";
  const client = testServer.client({
    fetch: (request) => {
      authorization = request.headers.get("authorization") ?? "";
      return testServer.ringport.fetch(request);
    },
  });
  const { id: instanceId } = await client.instances.create({ name: "Timeline" });
  const { id } = await client.calls.create({ instanceId, type: "DYNAMIC_STREAM", target });
  const address = `${TEST_URL}/v1/calls/${id}/events?cursor=latest`;
  const read = (headers: Record<string, string>) =>
    testServer.ringport.fetch(new Request(address, { headers: { authorization, ...headers } }));
  expect(await (await read({})).json()).toEqual([]);
  const pendingResponse = read({ prefer: "wait=10" });
  await client.calls.hangUp(id);
  const events = (await (await pendingResponse).json()) as CallEvent[];
  expect(events.map(({ type }) => type)).toEqual(["failed"]);
});

test("a client without a token sends no credentials", async () => {
  const requestHeaders: Headers[] = [];
  const fetch = async (request: Request): Promise<Response> => {
    requestHeaders.push(request.headers);
    return Response.json([]);
  };
  await createClient({ url: "http://ringport.test", fetch }).voices();
  expect(requestHeaders.map((headers) => headers.has("authorization"))).toEqual([false]);
});

test("waitForCall needs no request between two events", { timeout: 20_000 }, async () => {
  const paths: string[] = [];
  const client = testServer.client({
    fetch: (request) => {
      paths.push(new URL(request.url).pathname);
      return testServer.ringport.fetch(request);
    },
  });
  const instance = await client.instances.create({ name: "Waited" });
  const call = await client.calls.create({ instanceId: instance.id, type: "DYNAMIC_STREAM", target });
  paths.length = 0;
  const types: string[] = [];
  const endedCall = await client.waitForCall(call.id, {
    onProgress: async ({ type }) => {
      types.push(type);
      if (type === "queued") await testServer.client().calls.hangUp(call.id);
    },
  });
  expect(endedCall.outcome.reason).toBe("terminated");
  expect(types).toEqual(["queued", "failed"]);
  expect(paths).toHaveLength(3); // two pages of events, and the call
});

test("followEvents pauses before it repeats a request to a server that cannot wait", async () => {
  const times: number[] = [];
  const fetch = async () => {
    times.push(performance.now());
    return Response.json(times.length < 2 ? [] : [{ id: "evt_1" }], { headers: { "next-cursor": "c1" } });
  };
  const client = createClient({ url: "http://ringport.test", token: "t", fetch });
  for await (const page of client.followEvents()) {
    expect(page).toMatchObject({ items: [{ id: "evt_1" }], cursor: "c1" });
    break;
  }
  expect(times[1]! - times[0]!).toBeGreaterThan(900);
});
