import { describe, expect, test } from "vitest";
import { useLocalServer } from "../../support/local-server.ts";
import { expectProblem, KEYS, keysOf, pointersOf, sorted } from "../../support/response-shapes.ts";
import { type CallView, type EventView, expected, type InstanceView, until } from "../../support/server-client.ts";

type WithCallerId = InstanceView & { readonly callerId?: Record<string, unknown> };
type WithFrom = CallView & { readonly from?: Record<string, unknown> };

const server = useLocalServer({ RINGPORT_SIMULATOR_TIME_SCALE: "0.04" });
const DESK = { phoneNumber: "+12025550123", displayName: "Desk" };

describe("the caller of an instance", () => {
  test("is shown, patched and removed by null", async () => {
    const client = await server.as("ada");
    const createResponse = await client.post("/v1/instances", { name: "Desk", callerId: "+12025550123" });
    const instance = expected(201, createResponse).json<WithCallerId>();
    expect(keysOf(instance)).toEqual(sorted([...KEYS.instance, "callerId"]));
    expect(instance.callerId).toEqual({ phoneNumber: "+12025550123" });

    const path = `/v1/instances/${instance.id}`;
    const changedInstance = expected(200, await client.patch(path, { callerId: DESK })).json<WithCallerId>();
    expect(changedInstance).toMatchObject({ id: instance.id, name: "Desk", callerId: DESK });
    expect(expected(200, await client.get(path)).json<WithCallerId>().callerId).toEqual(DESK);
    const clearedInstance = expected(200, await client.patch(path, { callerId: null, name: "Bare" })).json();
    expect(keysOf(clearedInstance)).toEqual(sorted(KEYS.instance));
    expect(clearedInstance).toMatchObject({ name: "Bare" });
  });

  test("cannot be changed by a faulty request, another user or a demo token", async () => {
    const client = await server.as("ada");
    const { id } = await client.createInstance();
    const path = `/v1/instances/${id}`;
    const faultyResponse = await client.patch(path, { callerId: { phoneNumber: "0301", withheld: 1 }, name: "" });
    expect(pointersOf(expectProblem(faultyResponse, 400, "invalid_request", path))).toEqual([
      "/callerId/phoneNumber",
      "/callerId/withheld",
      "/name",
    ]);
    const otherClient = await server.as("ben");
    expectProblem(await otherClient.patch(path, { callerId: "+12025550123" }), 404, "instance_not_found", path);
    const demo = server.client(await server.token("ada", { demoInstanceId: id }));
    expectProblem(await demo.patch(path, { callerId: "+12025550123" }), 403, "demo_token_restricted", path);
    expect(keysOf(expected(200, await client.get(path)).json())).toEqual(sorted(KEYS.instanceDetails));
  });
});

describe("the caller of a call", () => {
  test("the network receives the call's own caller, or its instance's", async () => {
    const client = await server.as("cleo");
    const { id } = await client.activeInstance();
    expected(200, await client.patch(`/v1/instances/${id}`, { callerId: DESK }));
    const messages = async (from?: unknown): Promise<[WithFrom["from"], unknown]> => {
      const call = await client.call(id, { from });
      expect(keysOf(call)).toEqual(sorted(KEYS.createdCall));
      await until(
        () => client.readCall(call.id),
        ({ status }) => status === "COMPLETED" || status === "FAILED",
        20_000,
        "the end of the call",
      );
      const events = expected(200, await client.get(`/v1/calls/${call.id}/events`)).json<EventView[]>();
      const signallingEvent = events.find(({ type }) => type === "signalling");
      return [
        expected(200, await client.get(`/v1/calls/${call.id}`)).json<WithFrom>().from,
        signallingEvent?.data.message,
      ];
    };
    expect(await messages()).toEqual([DESK, 'From: "Desk" <+12025550123>']);
    expect(await messages("+12025550124")).toEqual([
      { ...DESK, phoneNumber: "+12025550124" },
      'From: "Desk" <+12025550124>',
    ]);
    expect(await messages({ withheld: true })).toEqual([{ ...DESK, withheld: true }, "From: Anonymous"]);
  });
});
