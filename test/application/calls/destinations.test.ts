import { expect, test } from "vitest";
import type { Principal } from "../../../src/domain/access/principal.ts";
import { BOB, NUMBER, World, type WorldOptions } from "../../support/application.ts";

const GERMAN: Principal = { userId: "usr_alice", tokenId: "tok_1", allowedPrefixes: ["+49", "+1415"] };

/** A call of the principal to a number, from an instance whose line is online. */
async function scene(options: WorldOptions = {}) {
  const world = await World.start({ streamPreview: true, ...options });
  const instance = await world.activeInstance();
  const to = (phoneNumber: string, principal: Principal = GERMAN, instanceId = instance.id) =>
    world.app.calls.create(principal, { instanceId, type: "DYNAMIC_STREAM", target: { phoneNumber } });
  return { world, instance, to };
}

const NOT_ALLOWED = { code: "destination_not_allowed" };

test("a token only calls numbers that start with one of its prefixes", async () => {
  const { world, to } = await scene({ policy: { kind: "fifo", depth: 9 } });
  for (const phone of ["+4930123456", "+14155550100"]) expect((await to(phone)).targetPhone).toBe(phone);
  for (const phone of [NUMBER, "+14165550100", "+4412345678"])
    await expect(to(phone)).rejects.toMatchObject(NOT_ALLOWED);
  await expect(to(NUMBER)).rejects.toThrow(
    "this token may not call +12025550100, only numbers that begin with +49, +1415",
  );
  expect(await world.app.calls.list(GERMAN)).toHaveLength(2);
  await world.stop();
});

test("a refused destination precedes a missing instance", async () => {
  const { world, to } = await scene();
  const foreignInstance = await world.newInstance(BOB);
  await expect(to(NUMBER, GERMAN, foreignInstance.id)).rejects.toMatchObject(NOT_ALLOWED);
  await expect(to("+4930123456", GERMAN, foreignInstance.id)).rejects.toMatchObject({ code: "instance_not_found" });
  await world.stop();
});

test("a server with prefixes calls no other numbers, whatever the token allows", async () => {
  const { world, to } = await scene({ callLimits: { allowedPrefixes: ["+4930"] } });
  await expect(to("+4940123456")).rejects.toThrow(
    "this server does not call +4940123456, only numbers that begin with +4930",
  );
  await expect(to(NUMBER, { userId: "usr_alice" })).rejects.toMatchObject(NOT_ALLOWED);
  expect((await to("+4930123456")).created).toBe(true);
  await world.stop();
});

test("a number that the network refuses is refused before anything is stored", async () => {
  const { world, to } = await scene();
  world.network.refused.set("+491900123456", "trunk acme does not call it");
  await expect(to("+491900123456")).rejects.toMatchObject({ ...NOT_ALLOWED, message: "trunk acme does not call it" });
  expect(await world.app.calls.list(GERMAN)).toEqual([]);
  expect(world.network.legs).toEqual([]);
  await world.stop();
});

test("a call that waits is not dialled once the network refuses its number", async () => {
  const { world, instance, to } = await scene();
  world.line(instance).goOffline();
  await world.system.settle();
  const call = await to("+4930123456");
  world.network.refused.set("+4930123456", "trunk acme does not call it");
  world.line(instance).goOnline();
  await world.system.settle();
  expect(await world.storedCall(call)).toMatchObject({
    status: "FAILED",
    outcome: { reason: "rejected_by_network", detail: "not dialled: trunk acme does not call it" },
  });
  expect(world.network.legs).toEqual([]);
  await world.stop();
});

test("a restart with other prefixes keeps waiting calls from being dialled", async () => {
  const { world, instance, to } = await scene();
  world.line(instance).goOffline();
  await world.system.settle();
  const call = await to("+4930123456");
  const restartedWorld = await world.crashAndRestart({ callLimits: { allowedPrefixes: ["+43"] } });
  restartedWorld.line(instance).goOnline();
  await restartedWorld.system.settle();
  expect(await restartedWorld.storedCall(call)).toMatchObject({
    status: "FAILED",
    outcome: { reason: "rejected_by_network", detail: expect.stringContaining("only numbers that begin with +43") },
  });
  expect(restartedWorld.network.legs).toEqual([]);
  await restartedWorld.stop();
});

test.each([
  [{ allowedPrefixes: ["0049"] }, 'allowedPrefixes contains "0049"'],
  [{ allowedPrefixes: "+49" as never }, 'allowedPrefixes is "+49"'],
  [{ maxCallsPerDay: 0 }, "maxCallsPerDay is 0"],
])("a custom authenticate that returns %j lets no user call, and names the reason", async (result, message) => {
  const { world, to } = await scene();
  await expect(to("+4930123456", { ...GERMAN, ...result })).rejects.toThrow(message);
  expect(world.network.legs).toEqual([]);
  await world.stop();
});

test("a principal with a daily limit and no token id is refused", async () => {
  const { world, to } = await scene();
  await expect(to("+4930123456", { userId: "usr_alice", maxCallsPerDay: 5 })).rejects.toThrow("needs a tokenId");
  await world.stop();
});
