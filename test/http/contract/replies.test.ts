import { describe, expect, test } from "vitest";
import { useLocalServer } from "../../support/local-server.ts";
import { KEYS, keysOf, sorted } from "../../support/response-shapes.ts";
import { type EventView, expected } from "../../support/server-client.ts";

const server = useLocalServer();

describe("the headers of a reply", () => {
  test("are sent once each, and keep records out of shared caches", async () => {
    const client = await server.as("ada");
    const { id } = await client.createInstance();
    for (const path of [
      "/v1/instances",
      `/v1/instances/${id}`,
      `/v1/instances/${id}/configure`,
      "/v1/nothing",
      "/docs",
    ]) {
      const response = await client.get(path);
      const names = response.rawHeaders.map(([name]) => name.toLowerCase());
      expect({ path, names: sorted(names) }).toEqual({ path, names: sorted([...new Set(names)]) });
      expect(response.headers["x-content-type-options"]).toBe("nosniff");
      if (path.startsWith("/v1/")) expect(response.headers["cache-control"]).toMatch(/no-cache|no-store/);
    }
  });
});

describe("GET /v1/events", () => {
  test("lists events of calls and instances, oldest first", async () => {
    const client = await server.as("witness");
    const { id } = await client.createInstance();
    const call = await client.call(id);
    await client.delete(`/v1/calls/${call.id}`);
    const events = expected(200, await client.get("/v1/events")).json<EventView[]>();
    expect(events.map(({ type }) => type)).toEqual(["instance.created", "queued", "failed"]);
    for (const event of events) expect(keysOf(event)).toEqual(sorted(KEYS.event));
    expect(events[0]!.call_id).toBeNull();
    expect(events.slice(1)).toEqual(await client.timeline(call.id));
  });
});
