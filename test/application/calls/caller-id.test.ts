import { expect, test } from "vitest";
import type { Principal } from "../../../src/domain/access/principal.ts";
import type { CreateCallInput } from "../../../src/domain/calls/call-input.ts";
import type { Instance } from "../../../src/domain/instances/instance.ts";
import type { CallerId } from "../../../src/domain/numbers/caller-id.ts";
import { ALICE, BOB, NUMBER, World, type WorldOptions } from "../../support/application.ts";

const OFFICE_NUMBER = "+12025550123";
const WITH_CALLER_IDS: WorldOptions = {
  streamPreview: true,
  policy: { kind: "fifo", depth: 9 },
  capabilities: { callerIds: [OFFICE_NUMBER, "+1415555*"] },
};

/** Creates an instance that is online, and a function that places calls from it. */
async function scene(options: WorldOptions = WITH_CALLER_IDS) {
  const world = await World.start({ ...WITH_CALLER_IDS, ...options });
  const instance = await world.activeInstance();
  const call = async (from?: CreateCallInput["from"], principal: Principal = ALICE) => {
    const newCall = await world.app.calls.create(principal, callFrom(instance, from));
    await world.system.settle();
    return newCall;
  };
  return { world, instance, call };
}

function callFrom({ id }: Instance, from: CreateCallInput["from"]): CreateCallInput {
  return { instanceId: id, type: "DYNAMIC_STREAM", target: { phoneNumber: NUMBER }, from };
}

const NOT_ALLOWED = { code: "caller_id_not_allowed" };

test.each<[string, CallerId | undefined, CreateCallInput["from"], CallerId | undefined]>([
  ["none, so the network's default", undefined, undefined, undefined],
  ["the instance's", { phoneNumber: OFFICE_NUMBER }, undefined, { phoneNumber: OFFICE_NUMBER }],
  ["the call's own", { phoneNumber: OFFICE_NUMBER }, "+14155550100", { phoneNumber: "+14155550100" }],
  [
    "the instance's in fields that the call omits",
    { phoneNumber: OFFICE_NUMBER, displayName: "Desk" },
    { withheld: true },
    { phoneNumber: OFFICE_NUMBER, displayName: "Desk", withheld: true },
  ],
  ["a name without a number", undefined, { displayName: " Desk " }, { displayName: "Desk" }],
])("the network gets a call's caller ID: %s", async (_, callerId, from, expectedFrom) => {
  const { world, instance, call } = await scene();
  if (callerId) await world.app.instances.update(ALICE, instance.id, { callerId });
  const newCall = await call(from);
  expect(world.leg(newCall).from).toEqual(expectedFrom);
  expect((await world.storedCall(newCall)).from).toEqual(expectedFrom);
  await world.stop();
});

test("two instances place concurrent calls over one network, each from its own number", async () => {
  const { world } = await scene();
  const numbers = [OFFICE_NUMBER, "+14155550100"];
  const instances = [];
  for (const phoneNumber of numbers) {
    const instance = await world.activeInstance();
    await world.app.instances.update(ALICE, instance.id, { callerId: phoneNumber });
    instances.push(instance);
  }
  const calls = await Promise.all(
    instances.map((instance) => world.app.calls.create(ALICE, callFrom(instance, undefined))),
  );
  await world.system.settle();
  expect(calls.map((call) => world.leg(call).from?.phoneNumber)).toEqual(numbers);
  await world.stop();
});

test("an unlisted number is refused with the list of allowed numbers", async () => {
  const { world, instance, call } = await scene();
  const detail = `calls over "${world.network.name}" may not come from +12025550199; allowed: ${OFFICE_NUMBER}, +1415555*`;
  const refusal = { ...NOT_ALLOWED, message: detail };
  await expect(call("+12025550199")).rejects.toMatchObject(refusal);
  const { app } = world;
  await expect(app.instances.create(ALICE, { name: "x", callerId: "+12025550199" })).rejects.toMatchObject(refusal);
  await expect(app.instances.update(ALICE, instance.id, { callerId: "+12025550199" })).rejects.toMatchObject(refusal);
  expect(await app.calls.list(ALICE)).toEqual([]);
  expect(await app.instances.list(ALICE)).toEqual([expect.not.objectContaining({ callerId: expect.anything() })]);
  expect(world.network.legs).toEqual([]);
  await world.stop();
});

test("a demo token can neither see the numbers nor change its instance", async () => {
  const { world, instance, call } = await scene();
  const demo: Principal = { ...ALICE, demoInstanceId: instance.id };
  await expect(call("+12025550199", demo)).rejects.toMatchObject({
    ...NOT_ALLOWED,
    message: `calls over "${world.network.name}" may not come from +12025550199`,
  });
  await expect(world.app.instances.update(demo, instance.id, { callerId: OFFICE_NUMBER })).rejects.toMatchObject({
    code: "demo_token_restricted",
  });
  await world.stop();
});

test("a network with fixed caller IDs refuses every choice", async () => {
  const { world, call } = await scene({ capabilities: {} });
  for (const from of [OFFICE_NUMBER, { displayName: "Desk" }, { withheld: true }])
    await expect(call(from)).rejects.toMatchObject({
      ...NOT_ALLOWED,
      message: `calls over "${world.network.name}" cannot choose their caller`,
    });
  expect((await call({})).from).toBeUndefined();
  await world.stop();
});

test("a waiting call is not dialled once its number is no longer listed", async () => {
  const { world, instance, call } = await scene();
  world.line(instance).goOffline();
  await world.system.settle();
  const queuedCall = await call(OFFICE_NUMBER);
  const restartedWorld = await world.crashAndRestart({ capabilities: { callerIds: ["+1415555*"] } });
  restartedWorld.line(instance).goOnline();
  await restartedWorld.system.settle();
  expect(await restartedWorld.storedCall(queuedCall)).toMatchObject({
    status: "FAILED",
    outcome: {
      reason: "rejected_by_network",
      detail: `not dialled: calls over "${world.network.name}" may not come from ${OFFICE_NUMBER}`,
    },
  });
  expect(restartedWorld.network.legs).toEqual([]);
  await restartedWorld.stop();
});

test("an update applies to later calls; null removes the caller ID", async () => {
  const { world, instance, call } = await scene();
  const { instances } = world.app;
  world.line(instance).goOffline();
  await world.system.settle();
  const queuedCall = await call();
  const updatedInstance = await instances.update(ALICE, instance.id, { callerId: OFFICE_NUMBER, metadata: { a: 1 } });
  expect(updatedInstance).toMatchObject({
    name: instance.name,
    metadata: { a: 1 },
    callerId: { phoneNumber: OFFICE_NUMBER },
  });
  const laterCall = await call();
  expect(await instances.update(ALICE, instance.id, { name: "Desk" })).toMatchObject({
    name: "Desk",
    callerId: { phoneNumber: OFFICE_NUMBER },
  });
  await instances.update(ALICE, instance.id, { callerId: null });
  const last = await call();
  expect([queuedCall, laterCall, last].map(({ from }) => from?.phoneNumber)).toEqual([
    undefined,
    OFFICE_NUMBER,
    undefined,
  ]);
  expect((await instances.get(ALICE, instance.id)).callerId ?? null).toBeNull();
  await expect(instances.update(BOB, instance.id, { name: "x" })).rejects.toMatchObject({ code: "instance_not_found" });
  await world.stop();
});

test("reusing an idempotency key with another caller ID is refused", async () => {
  const { world, instance } = await scene();
  const { calls, instances } = world.app;
  const key = { idempotencyKey: "order-7" };
  const first = await calls.create(ALICE, callFrom(instance, OFFICE_NUMBER), key);
  expect(await calls.create(ALICE, callFrom(instance, { phoneNumber: OFFICE_NUMBER }), key)).toMatchObject({
    id: first.id,
    replayed: true,
  });
  const refusal = { code: "idempotency_key_reused" };
  await expect(calls.create(ALICE, callFrom(instance, "+14155550100"), key)).rejects.toMatchObject(refusal);
  const deskKey = { idempotencyKey: "desk-1" };
  await instances.create(ALICE, { name: "Desk", callerId: OFFICE_NUMBER }, deskKey);
  await expect(instances.create(ALICE, { name: "Desk" }, deskKey)).rejects.toMatchObject(refusal);
  await world.stop();
});

test("a strict request is refused for an unknown field in the caller ID", async () => {
  const { world, instance } = await scene();
  const from = { phoneNumber: OFFICE_NUMBER, name: "Desk" };
  await expect(world.app.calls.create(ALICE, callFrom(instance, from), { strict: true })).rejects.toMatchObject({
    errors: [{ pointer: "/from/name", code: "unknown_field" }],
  });
  await world.stop();
});

test.each<[unknown, string, string]>([
  ["0301234567", "/from", "phone_number_invalid"],
  [7, "/from", "type_invalid"],
  [null, "/from", "type_invalid"],
  [{ phoneNumber: "+1 202" }, "/from/phoneNumber", "phone_number_invalid"],
  [{ displayName: "a\r\nX-Evil: b" }, "/from/displayName", "value_invalid"],
  [{ displayName: " " }, "/from/displayName", "value_invalid"],
  [{ withheld: "yes" }, "/from/withheld", "type_invalid"],
])("the caller ID %j is refused at %s", async (from, pointer, code) => {
  const { world, call } = await scene();
  await expect(call(from as CallerId)).rejects.toMatchObject({ errors: [{ pointer, code }] });
  await world.stop();
});
