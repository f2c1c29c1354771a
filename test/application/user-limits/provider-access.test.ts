import { expect, test } from "vitest";
import type { Principal } from "../../../src/domain/access/principal.ts";
import type { Fault, Refusal } from "../../../src/domain/refusal.ts";
import { StorageUnavailable } from "../../../src/ports/storage.ts";
import { ManualSystem } from "../../../src/testing/manual-system.ts";
import { ScriptedTelephony } from "../../../src/testing/scripted-telephony.ts";
import { ALICE, BOB, World, type WorldOptions } from "../../support/application.ts";

/** A world with accounts, in which Alice is the first user. */
async function worldOf(options: WorldOptions): Promise<World> {
  const world = await World.start(options);
  await world.storage.accounts.ensureUser({ id: ALICE.userId, name: "alice", createdAt: 1 });
  await world.storage.accounts.ensureUser({ id: BOB.userId, name: "bob", createdAt: 2 });
  return world;
}

async function faultsOf(world: World, principal: Principal, provider?: string): Promise<readonly Fault[]> {
  const input = { name: "Reception", ...(provider === undefined ? {} : { provider }) };
  return world.app.instances.create(principal, input).then(
    () => [],
    (refusal: Refusal) => refusal.errors,
  );
}

const openNetwork = (): ScriptedTelephony => new ScriptedTelephony(new ManualSystem(), { name: "open" });

test("the first user's network is refused to others like an unknown one", async () => {
  const world = await worldOf({ users: "first", otherNetworks: [openNetwork()] });
  expect(await faultsOf(world, ALICE, "scripted")).toEqual([]);
  const [closedFault] = await faultsOf(world, BOB, "scripted");
  const [fault] = await faultsOf(world, BOB, "nonsense");
  expect(closedFault).toMatchObject({ pointer: "/provider", code: "provider_unknown" });
  expect(closedFault?.detail).toBe(fault?.detail.replace("nonsense", "scripted"));
  expect(closedFault?.detail).toContain("it has: open;");
  await world.stop();
});

test("the default is the first network that the user may use", async () => {
  const world = await worldOf({ users: "first", otherNetworks: [openNetwork()] });
  expect((await world.newInstance(ALICE)).provider).toBe("scripted");
  expect((await world.newInstance(BOB)).provider).toBe("open");
  await world.stop();
});

test("a user without a network gets an error that names the operator's fix", async () => {
  const world = await worldOf({ users: [BOB.userId] });
  for (const provider of [undefined, "scripted"]) {
    const [fault] = await faultsOf(world, ALICE, provider);
    expect(fault).toMatchObject({ pointer: "/provider", code: "provider_unknown" });
    expect(fault?.detail).toContain("you may use none");
    expect(fault?.detail).toContain('"users"');
  }
  expect(await faultsOf(world, BOB)).toEqual([]);
  await world.stop();
});

test("without accounts there is no first user, so no user may use its network", async () => {
  const world = await World.start({ users: "first" });
  expect(await faultsOf(world, ALICE)).toHaveLength(1);
  await world.storage.accounts.ensureUser({ id: ALICE.userId, name: "alice", createdAt: 1 });
  expect(await faultsOf(world, ALICE)).toEqual([]);
  await world.stop();
});

test("a call from a user without access to the network is not dialled", async () => {
  const world = await worldOf({ users: "*" });
  const instance = await world.activeInstance(BOB);
  world.network.users = [ALICE.userId];
  const call = await world.call(instance, "Hello", BOB);
  expect(world.network.legs).toEqual([]);
  expect(await world.storedCall(call)).toMatchObject({
    status: "FAILED",
    outcome: {
      reason: "rejected_by_network",
      detail: expect.stringMatching(/"usr_bob" may not use "scripted".*"users"/),
    },
  });
  await world.stop();
});

test("a call waits while the accounts are unreadable", async () => {
  const world = await worldOf({ users: "first" });
  const instance = await world.activeInstance(ALICE);
  const restartedWorld = await world.crashAndRestart(); // it has to check again who the first user is
  let isUnreadable = true;
  restartedWorld.storage.before = (operation) => {
    if (isUnreadable && operation === "accounts.users") throw new StorageUnavailable("the database is locked");
  };
  const call = await restartedWorld.call(instance);
  expect(await restartedWorld.storedCall(call)).toMatchObject({ status: "QUEUED", owner: null });
  isUnreadable = false;
  await restartedWorld.system.advance(1_000);
  expect(restartedWorld.leg(call).live).toBe(true);
  await restartedWorld.stop();
});

test("a user's networks are listed with their linking method, without closed ones", async () => {
  const world = await worldOf({ users: [BOB.userId], otherNetworks: [openNetwork()] });
  const [bobsNetwork] = await world.app.queries.networks(BOB);
  expect(bobsNetwork).toEqual({ name: world.network.name, linking: "code", receivesAudio: true, callerIds: null });
  expect((await world.app.queries.networks(BOB)).map(({ name }) => name)).toEqual([
    world.network.name,
    openNetwork().name,
  ]);
  expect((await world.app.queries.networks(ALICE)).map(({ name }) => name)).toEqual([openNetwork().name]);
  await world.stop();
});
