import { expect, test } from "vitest";
import type { Instance } from "../../../src/domain/instances/instance.ts";
import type { LineHealth } from "../../../src/ports/telephony.ts";
import { ALICE, World, type WorldOptions } from "../../support/application.ts";

const DOWN: LineHealth = { state: "offline", reason: "the trunk does not respond" };
const OPTIONS: WorldOptions = { capabilities: { linking: "operator" } };

/** A world whose network is unreachable. */
async function unreachableWorld(): Promise<World> {
  const world = await World.start(OPTIONS);
  world.network.reachability = DOWN;
  return world;
}

const connectionOf = async (world: World, instance: Instance) => {
  const { status, connection } = await world.app.instances.get(ALICE, instance.id);
  return { status, state: connection.state, reason: connection.reason };
};

const configure = (world: World, instance: Instance) => world.app.instances.configure(ALICE, instance.id);

test("an instance linked by the operator starts as CREATED and becomes ACTIVE", async () => {
  const world = await World.start(OPTIONS);
  const instance = await world.newInstance();
  expect(instance.status).toBe("CREATED");
  await world.system.settle();
  expect(await connectionOf(world, instance)).toEqual({ status: "ACTIVE", state: "online", reason: null });
  const events = await world.storage.events.ofUser(ALICE.userId, {}, {});
  expect(events.map(({ type }) => type)).toEqual(["instance.created", "instance.linked", "instance.active"]);
  const { call } = await world.answeredCall(instance, "x");
  await world.system.advance(2_000);
  expect((await world.storedCall(call)).outcome?.reason).toBe("message_played");
  await world.stop();
});

test("an instance linked by the operator needs no QR code", async () => {
  const world = await World.start(OPTIONS);
  const instance = await world.newInstance();
  await expect(configure(world, instance)).rejects.toMatchObject({ code: "instance_already_linked" });
  await world.stop();
});

test("an operator-linked instance stays CREATED without the network, and configure names the reason", async () => {
  const world = await unreachableWorld();
  const instance = await world.newInstance();
  await world.system.settle();
  expect(await connectionOf(world, instance)).toEqual({ status: "CREATED", state: "connecting", reason: DOWN.reason });
  await expect(configure(world, instance)).rejects.toMatchObject({
    code: "qr_unavailable",
    message: expect.stringContaining("the trunk does not respond"),
  });
  await world.system.advance(60_000);
  expect(await connectionOf(world, instance)).toEqual({ status: "CREATED", state: "offline", reason: DOWN.reason });
  world.line(instance).health = { state: "online" }; // found by the next probe
  await world.system.advance(5_000);
  expect((await connectionOf(world, instance)).status).toBe("ACTIVE");
  await world.stop();
});

test("a call that waits for an operator-linked instance times out with the reason", async () => {
  const world = await unreachableWorld();
  const call = await world.call(await world.newInstance());
  await world.system.advance(11 * 60_000);
  expect((await world.storedCall(call)).outcome).toMatchObject({ reason: "instance_not_linked", detail: DOWN.reason });
  await world.stop();
});

test("an operator-linked instance is linked after a restart, and dials the waiting call", async () => {
  const world = await unreachableWorld();
  const instance = await world.newInstance();
  const call = await world.call(instance);
  const restartedWorld = await world.crashAndRestart();
  expect((await connectionOf(restartedWorld, instance)).status).toBe("ACTIVE");
  expect(restartedWorld.leg(call).to).toBe(call.targetPhone);
  await restartedWorld.stop();
});

test("an operator-linked instance shows the network's number, even offline", async () => {
  const world = await unreachableWorld();
  const open = world.network.open.bind(world.network);
  world.network.open = async (instance, host) => {
    host.linked("+12025550142");
    return open(instance, host);
  };
  const instance = await world.newInstance();
  await world.system.settle();
  const { status, phone } = await world.app.instances.get(ALICE, instance.id);
  expect({ status, phone }).toEqual({ status: "CONFIGURED", phone: "+12025550142" });
  await world.stop();
});

test("an unlinking report takes the line offline, without a code to scan", async () => {
  const world = await World.start(OPTIONS);
  const instance = await world.newInstance();
  await world.system.settle();
  world.line(instance).unlinkByOwner("the account was closed");
  await world.system.settle();
  expect(await connectionOf(world, instance)).toEqual({
    status: "ACTIVE",
    state: "reconnecting",
    reason: "the account was closed",
  });
  await world.system.advance(31_000);
  expect((await connectionOf(world, instance)).status).toBe("CONFIGURED");
  await world.stop();
});

test("deleting an operator-linked instance closes its line", async () => {
  const world = await World.start(OPTIONS);
  const instance = await world.newInstance();
  await world.system.settle();
  const line = world.line(instance);
  await world.app.instances.delete(ALICE, instance.id);
  expect(line.closed).toBe(true);
  await world.stop();
});
