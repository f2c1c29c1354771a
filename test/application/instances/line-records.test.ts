import { describe, expect, test } from "vitest";
import { StorageUnavailable } from "../../../src/ports/storage.ts";
import { ALICE, World } from "../../support/application.ts";

const KEY = Uint8Array.of(1, 2, 3);
const record = (key: string, value: Uint8Array | undefined = KEY) => new Map([[key, value]]);

async function linkingScene() {
  const world = await World.start();
  const instance = await world.newInstance();
  await world.app.instances.configure(ALICE, instance.id);
  return { world, instance, line: world.line(instance) };
}

describe("a line's records", () => {
  test("are kept encrypted across a restart, even if set before the link", async () => {
    const { world, instance, line } = await linkingScene();
    await line.records.set(record("device"));
    await line.scan();
    await world.system.settle();
    const [sealedRecord] = await world.storage.lineRecords.get(instance.id, ["device"]);
    expect(sealedRecord).not.toEqual(KEY);
    const restartedWorld = await world.crashAndRestart();
    expect(await restartedWorld.line(instance).records.get(["device", "none"])).toEqual([KEY, undefined]);
    expect(await restartedWorld.line(instance).records.keys("d")).toEqual(["device"]);
    await restartedWorld.stop();
  });

  test("are erased when the phone's owner unlinks", async () => {
    const { world, line } = await linkingScene();
    await line.scan();
    await line.records.set(record("device"));
    line.unlinkByOwner();
    expect(await line.records.get(["device"])).toEqual([undefined]);
    await world.stop();
  });

  test("survive the deletion of earlier ones if they are set after an unlinking", async () => {
    const { world, instance, line } = await linkingScene();
    await line.scan();
    await line.records.set(record("old"));
    let restoreStorage = () => {};
    const gate = new Promise<void>((resolve) => {
      restoreStorage = resolve;
    });
    world.storage.before = async (operation) => {
      if (operation === "instances.update") await gate;
    };
    line.unlinkByOwner();
    const write = line.records.set(record("new"));
    await world.system.settle();
    expect(world.storage.operations.filter((operation) => operation === "lineRecords.set")).toHaveLength(1);
    restoreStorage();
    await write;
    expect(await world.storage.lineRecords.keys(instance.id, "")).toEqual(["new"]);
    await world.stop();
  });

  test("are erased with their instance, after its unlinking", async () => {
    const { world, instance, line } = await linkingScene();
    await line.records.set(record("device"));
    world.network.devices.set(instance.id, null); // linked at the network, never reported
    await world.app.instances.delete(ALICE, instance.id);
    expect(world.network.devices.has(instance.id)).toBe(false);
    expect(await world.storage.lineRecords.keys(instance.id, "")).toEqual([]);
    await line.records.set(record("late"));
    expect(await world.storage.lineRecords.keys(instance.id, "")).toEqual([]);
    await world.stop();
  });

  test("are refused while the storage is down", async () => {
    const { world, line } = await linkingScene();
    world.storage.isDown = true;
    await expect(line.records.set(record("device"))).rejects.toBeInstanceOf(StorageUnavailable);
    await expect(line.records.get(["device"])).rejects.toBeInstanceOf(StorageUnavailable);
    world.storage.isDown = false;
    await world.stop();
  });
});

describe("a line's condition", () => {
  const connectionOf = async (world: World, id: string) => (await world.app.instances.get(ALICE, id)).connection;

  test("is shown while it lasts, and never stored", async () => {
    const { world, instance, line } = await linkingScene();
    expect(await connectionOf(world, instance.id)).toMatchObject({ state: "linking", condition: null });
    line.showCondition("qr_expired", "the codes have expired; ask for a new one");
    expect(await connectionOf(world, instance.id)).toMatchObject({
      state: "linking",
      condition: "qr_expired",
      reason: "the codes have expired; ask for a new one",
    });
    const restartedWorld = await world.crashAndRestart();
    expect(await connectionOf(restartedWorld, instance.id)).toMatchObject({ state: "unlinked", condition: null });
    await restartedWorld.stop();
  });

  test("ends when the line is found online", async () => {
    const { world, instance, line } = await linkingScene();
    await line.scan();
    await world.system.settle();
    line.goOffline("another client is connected");
    line.showCondition("replaced");
    expect(await connectionOf(world, instance.id)).toMatchObject({ condition: "replaced" });
    line.goOnline();
    await world.system.settle();
    expect(await connectionOf(world, instance.id)).toMatchObject({ state: "online", condition: null, reason: null });
    await world.stop();
  });

  test("is the reason for a missing code", async () => {
    const { world, instance, line } = await linkingScene();
    await world.system.advance(20_000); // the code has expired
    line.showCondition("passkey_required", "the account is protected by a passkey");
    const rejection = expect(world.app.instances.configure(ALICE, instance.id)).rejects.toMatchObject({
      code: "qr_unavailable",
      message: expect.stringContaining("the account is protected by a passkey"),
    });
    await world.system.advance(10_000);
    await rejection;
    await world.stop();
  });
});
