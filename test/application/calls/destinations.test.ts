import { expect, test } from "vitest";
import type { Principal } from "../../../src/domain/access/principal.ts";
import { BOB, NUMBER, World, type WorldOptions } from "../../support/application.ts";

const RESTRICTED: Principal = { userId: "usr_alice", tokenId: "tok_1", allowedPrefixes: ["+49", "+1415"] };

/** An instance whose line is online, and a function that calls a number from it. */
async function scene(options: WorldOptions = {}) {
  const world = await World.start({ streamPreview: true, ...options });
  const instance = await world.activeInstance();
  const callNumber = (phoneNumber: string, principal: Principal = RESTRICTED, instanceId = instance.id) =>
    world.app.calls.create(principal, { instanceId, type: "DYNAMIC_STREAM", target: { phoneNumber } });
  return { world, instance, callNumber };
}

const NOT_ALLOWED = { code: "destination_not_allowed" };

test("a token only calls numbers that start with one of its prefixes", async () => {
  const { world, callNumber } = await scene({ policy: { kind: "fifo", depth: 9 } });
  for (const phone of ["+4930123456", "+14155550100"]) expect((await callNumber(phone)).targetPhone).toBe(phone);
  for (const phone of [NUMBER, "+14165550100", "+4412345678"])
    await expect(callNumber(phone)).rejects.toMatchObject(NOT_ALLOWED);
  await expect(callNumber(NUMBER)).rejects.toThrow(
    "this token may not call +12025550100, only numbers that begin with +49, +1415",
  );
  expect(await world.app.calls.list(RESTRICTED)).toHaveLength(2);
  await world.stop();
});

test("a refused destination precedes a missing instance", async () => {
  const { world, callNumber } = await scene();
  const foreignInstance = await world.newInstance(BOB);
  await expect(callNumber(NUMBER, RESTRICTED, foreignInstance.id)).rejects.toMatchObject(NOT_ALLOWED);
  await expect(callNumber("+4930123456", RESTRICTED, foreignInstance.id)).rejects.toMatchObject({
    code: "instance_not_found",
  });
  await world.stop();
});

test("a server with prefixes calls no other numbers, whatever the token allows", async () => {
  const { world, callNumber } = await scene({ callLimits: { allowedPrefixes: ["+4930"] } });
  await expect(callNumber("+4940123456")).rejects.toThrow(
    "this server does not call +4940123456, only numbers that begin with +4930",
  );
  await expect(callNumber(NUMBER, { userId: "usr_alice" })).rejects.toMatchObject(NOT_ALLOWED);
  expect((await callNumber("+4930123456")).created).toBe(true);
  await world.stop();
});

test("a number that the network refuses is refused before anything is stored", async () => {
  const { world, callNumber } = await scene();
  world.network.refused.set("+491900123456", "trunk acme does not call it");
  await expect(callNumber("+491900123456")).rejects.toMatchObject({
    ...NOT_ALLOWED,
    message: "trunk acme does not call it",
  });
  expect(await world.app.calls.list(RESTRICTED)).toEqual([]);
  expect(world.network.legs).toEqual([]);
  await world.stop();
});

test("a waiting call is not dialled once the network refuses its number", async () => {
  const { world, instance, callNumber } = await scene();
  world.line(instance).goOffline();
  await world.system.settle();
  const call = await callNumber("+4930123456");
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
  const { world, instance, callNumber } = await scene();
  world.line(instance).goOffline();
  await world.system.settle();
  const call = await callNumber("+4930123456");
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
])("a custom authenticate that returns %j prevents calls, and the error names the reason", async (result, message) => {
  const { world, callNumber } = await scene();
  await expect(callNumber("+4930123456", { ...RESTRICTED, ...result })).rejects.toThrow(message);
  expect(world.network.legs).toEqual([]);
  await world.stop();
});

test("a principal with a daily limit and no token id is refused", async () => {
  const { world, callNumber } = await scene();
  await expect(callNumber("+4930123456", { userId: "usr_alice", maxCallsPerDay: 5 })).rejects.toThrow(
    "needs a tokenId",
  );
  await world.stop();
});
