import { describe, expect, test } from "vitest";
import type { Principal } from "../../src/domain/access/principal.ts";
import { Refusal } from "../../src/domain/refusal.ts";
import { ALICE, BOB, NUMBER, World } from "../support/application.ts";

/** A refusal as the client sees it, without the id that it sent. */
async function refusalOf(request: Promise<unknown>, id: string): Promise<string> {
  try {
    await request;
  } catch (error) {
    if (error instanceof Refusal) return `${error.code}: ${error.message.replaceAll(id, "ID")}`;
    throw error;
  }
  throw new Error("the request was not refused");
}

describe("another user's records", () => {
  test("are refused with the same words as missing ones", async () => {
    const world = await World.start();
    const instance = await world.activeInstance(ALICE);
    const call = await world.call(instance);
    const { instances, calls } = world.app;
    const missingCallId = world.context.ids("call");
    const missingInstanceId = world.context.ids("inst");
    const createCall = (instanceId: string) =>
      calls.create(BOB, { instanceId, type: "DYNAMIC_STREAM", target: { phoneNumber: NUMBER } });
    for (const request of [
      (id: string) => calls.get(BOB, id),
      (id: string) => calls.hangUp(BOB, id),
      (id: string) => calls.timeline(BOB, id),
      (id: string) => calls.wait(BOB, id),
      (id: string) => calls.events(BOB, id)[Symbol.asyncIterator]().next(),
      (id: string) => calls.transcripts(BOB, [{ ...call, id }]),
    ])
      expect(await refusalOf(request(call.id), call.id)).toBe(await refusalOf(request(missingCallId), missingCallId));
    for (const request of [
      (id: string) => instances.get(BOB, id),
      (id: string) => instances.configure(BOB, id),
      (id: string) => instances.delete(BOB, id),
      createCall,
    ])
      expect(await refusalOf(request(instance.id), instance.id)).toBe(
        await refusalOf(request(missingInstanceId), missingInstanceId),
      );
    expect(await calls.list(BOB)).toEqual([]);
    expect(await instances.list(BOB)).toEqual([]);
    expect((await world.app.queries.events(BOB)).events).toEqual([]);
    expect((await world.storedCall(call)).status).toBe("QUEUED");
    await world.stop();
  });

  test.each([
    "",
    "nonsense",
    "call_",
    "call_'; drop table calls; --",
    "inst_01h455vb4pex5vsknk084sn02q",
    "call_".repeat(99),
  ])("%j is not a call id", async (id) => {
    const world = await World.start();
    await expect(world.app.calls.get(ALICE, id)).rejects.toMatchObject({ code: "call_not_found" });
    await world.stop();
  });
});

describe("a demo token", () => {
  async function scene() {
    const world = await World.start();
    const instance = await world.activeInstance();
    const otherInstance = await world.activeInstance();
    const demo: Principal = { ...ALICE, demoInstanceId: instance.id };
    return { world, ownInstance: instance, otherInstance, demo };
  }

  test("calls only from its own instance", async () => {
    const { world, ownInstance, otherInstance, demo } = await scene();
    expect((await world.call(ownInstance, undefined, demo)).created).toBe(true);
    for (const instanceId of [otherInstance.id, world.context.ids("inst"), "nonsense"])
      await expect(
        world.app.calls.create(demo, { instanceId, type: "DYNAMIC_STREAM", target: { phoneNumber: NUMBER } }),
      ).rejects.toMatchObject({ code: "demo_token_restricted" });
    await world.stop();
  });

  test("sees its instance and that instance's calls, and no other data of its user", async () => {
    const { world, ownInstance, otherInstance, demo } = await scene();
    const ownCall = await world.call(ownInstance);
    const otherCall = await world.call(otherInstance);
    const { calls, instances, queries } = world.app;
    expect((await calls.list(demo)).map((call) => call.id)).toEqual([ownCall.id]);
    expect(await calls.list(demo, { instanceId: otherInstance.id })).toEqual([]);
    expect((await instances.list(demo)).map((instance) => instance.id)).toEqual([ownInstance.id]);
    expect(await calls.get(demo, ownCall.id)).toMatchObject({ id: ownCall.id });
    await expect(calls.get(demo, otherCall.id)).rejects.toMatchObject({ code: "call_not_found" });
    await expect(calls.hangUp(demo, otherCall.id)).rejects.toMatchObject({ code: "call_not_found" });
    await expect(instances.get(demo, otherInstance.id)).rejects.toMatchObject({ code: "instance_not_found" });
    await expect(calls.wait(demo, otherCall.id)).rejects.toMatchObject({ code: "call_not_found" });
    await expect(calls.transcripts(demo, [otherCall])).rejects.toMatchObject({ code: "call_not_found" });
    const page = await queries.events(demo);
    expect(new Set(page.events.map((event) => event.instanceId))).toEqual(new Set([ownInstance.id]));
    expect((await queries.events(demo, { instanceId: otherInstance.id })).events).toEqual([]);
    await world.stop();
  });

  test("neither creates nor deletes instances", async () => {
    const { world, ownInstance, otherInstance, demo } = await scene();
    await expect(world.app.instances.create(demo, { name: "Mine" })).rejects.toMatchObject({
      code: "demo_token_restricted",
    });
    for (const id of [ownInstance.id, otherInstance.id, world.context.ids("inst"), "nonsense"])
      await expect(world.app.instances.delete(demo, id)).rejects.toMatchObject({ code: "demo_token_restricted" });
    for (const { id } of [ownInstance, otherInstance])
      expect(await world.app.instances.get(ALICE, id)).toMatchObject({ status: "ACTIVE" });
    await world.stop();
  });

  test("gets no data if its instance is deleted", async () => {
    const { world, ownInstance, demo } = await scene();
    await world.app.instances.delete(ALICE, ownInstance.id);
    expect(await world.app.instances.list(demo)).toEqual([]);
    await expect(world.call(ownInstance, undefined, demo)).rejects.toMatchObject({ code: "instance_not_found" });
    await world.stop();
  });
});

test("an instance on a provider that is not mounted is refused at creation", async () => {
  const world = await World.start();
  await expect(world.app.instances.create(ALICE, { name: "Mine", provider: "sip/none" })).rejects.toMatchObject({
    code: "provider_unknown",
    errors: [expect.objectContaining({ pointer: "/provider" })],
  });
  await expect(world.app.instances.create(ALICE, { name: "", provider: "sip/none" })).rejects.toMatchObject({
    errors: [{ pointer: "/name" }, { pointer: "/provider", code: "provider_unknown" }],
  });
  expect(await world.app.instances.create(ALICE, { name: "Mine", provider: "scripted" })).toMatchObject({
    provider: "scripted",
    status: "CREATED",
    metadata: {},
  });
  await world.stop();
});
