import { type CallEvent, createClient } from "ringport/client";
import { expect, test } from "vitest";
import { server, URL_OF_TESTS } from "./support/server.ts";

const running = server();
const target = { phoneNumber: "+12025550100" };

test("followEvents yields each event once, from its cursor on, without polling", { timeout: 20_000 }, async () => {
  let requests = 0;
  const client = running.client({
    fetch: (request) => {
      if (new URL(request.url).pathname.endsWith("/v1/events")) requests++;
      return running.ringport.fetch(request);
    },
  });
  const instance = await client.instances.create({ name: "Followed" });
  const abort = new AbortController();
  const seen: string[] = [];
  const cursors: string[] = [];
  let first = () => {};
  const begun = new Promise<void>((resolve) => {
    first = resolve;
  });
  const following = (async () => {
    for await (const { items, cursor } of client.followEvents({ instance_id: instance.id }, { signal: abort.signal })) {
      seen.push(...items.map(({ id }) => id));
      cursors.push(cursor);
      first();
      if (items.some(({ type }) => type === "failed")) return;
    }
  })();
  await begun;
  const call = await client.calls.create({ instanceId: instance.id, type: "DYNAMIC_STREAM", target, reference: "r 1" });
  await client.calls.hangUp(call.id);
  await following;
  const all: string[] = [];
  for await (const { id } of client.events({ instance_id: instance.id })) all.push(id);
  expect(seen).toEqual(all);
  expect(requests).toBeLessThanOrEqual(all.length + 1 + 1); // one for each page, and one for the list
  const rest = client
    .followEvents({ instance_id: instance.id, cursor: cursors.at(-1) }, { signal: abort.signal })
    .next();
  abort.abort(new Error("enough"));
  await expect(rest).rejects.toThrow("enough");
});

test("followEvents from the latest event on yields only later events", { timeout: 20_000 }, async () => {
  const client = running.client();
  const { id: instance_id } = await client.instances.create({ name: "Latest" });
  const before = await client.eventPage({ instance_id, cursor: "latest" });
  expect(before.items).toEqual([]);
  const waiting = client.followEvents({ instance_id, cursor: "latest" }).next();
  const call = await client.calls.create({ instanceId: instance_id, type: "DYNAMIC_STREAM", target });
  const { value } = await waiting;
  expect(value?.items.map(({ type, call_id }) => [type, call_id])).toEqual([["queued", call.id]]);
  expect((await client.eventPage({ instance_id, cursor: before.cursor })).items).toEqual(value?.items);
  await client.calls.hangUp(call.id);
});

test("a timeline is read from its latest event, by a request that waits", { timeout: 20_000 }, async () => {
  let authorization = "";
  const client = running.client({
    fetch: (request) => {
      authorization = request.headers.get("authorization") ?? "";
      return running.ringport.fetch(request);
    },
  });
  const { id: instanceId } = await client.instances.create({ name: "Timeline" });
  const { id } = await client.calls.create({ instanceId, type: "DYNAMIC_STREAM", target });
  const address = `${URL_OF_TESTS}/v1/calls/${id}/events?cursor=latest`;
  const read = (headers: Record<string, string>) =>
    running.ringport.fetch(new Request(address, { headers: { authorization, ...headers } }));
  expect(await (await read({})).json()).toEqual([]);
  const waiting = read({ prefer: "wait=10" });
  await client.calls.hangUp(id);
  const events = (await (await waiting).json()) as CallEvent[];
  expect(events.map(({ type }) => type)).toEqual(["failed"]);
});

test("a client without a token sends no credentials", async () => {
  const seen: Headers[] = [];
  const fetch = async (request: Request): Promise<Response> => {
    seen.push(request.headers);
    return Response.json([]);
  };
  await createClient({ url: "http://ringport.test", fetch }).voices();
  expect(seen.map((headers) => headers.has("authorization"))).toEqual([false]);
});

test("waitForCall needs no request between two events", { timeout: 20_000 }, async () => {
  const paths: string[] = [];
  const client = running.client({
    fetch: (request) => {
      paths.push(new URL(request.url).pathname);
      return running.ringport.fetch(request);
    },
  });
  const instance = await client.instances.create({ name: "Waited" });
  const call = await client.calls.create({ instanceId: instance.id, type: "DYNAMIC_STREAM", target });
  paths.length = 0;
  const types: string[] = [];
  const finished = await client.waitForCall(call.id, {
    onProgress: async ({ type }) => {
      types.push(type);
      if (type === "queued") await running.client().calls.hangUp(call.id);
    },
  });
  expect(finished.outcome.reason).toBe("terminated");
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
