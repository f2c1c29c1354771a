import { describe, expect, test } from "vitest";
import { ALICE, World } from "../../support/application.ts";
import { expectDeleted } from "../../support/deleted-instance.ts";

const never = new Promise<never>(() => {});

/** An instance whose code is shown. */
async function sceneWithCode() {
  const world = await World.start();
  const instance = await world.newInstance();
  await world.app.instances.configure(ALICE, instance.id);
  return { world, instance, line: world.line(instance) };
}

describe("a number that is linked", () => {
  test.each(["before", "after"] as const)(
    "is linked after a crash %s any step only if it was confirmed",
    async (moment) => {
      for (let n = 1; ; n++) {
        const { world: before, instance, line } = await sceneWithCode();
        let steps = 0;
        let kill = () => {};
        const death = new Promise<void>((resolve) => {
          kill = resolve;
        });
        before.storage[moment] = () => {
          if (++steps < n) return;
          kill();
          return never;
        };
        let isConfirmed = false;
        const scan = line.scan("+12025550177").then(() => {
          isConfirmed = true;
        });
        await Promise.race([scan, death]);
        await before.system.settle();
        const hasDied = steps >= n;
        before.storage.before = before.storage.after = () => {};
        const after = await before.crashAndRestart();
        const { status, phone } = await after.app.instances.get(ALICE, instance.id);
        const credentials = await after.storage.instances.loadCredentials(instance.id);
        if (isConfirmed) expect({ status, phone }, `step ${n}`).toEqual({ status: "ACTIVE", phone: "+12025550177" });
        expect(credentials !== undefined, `credentials come with the state, step ${n}`).toBe(status !== "CREATED");
        await after.stop();
        if (!hasDied) break;
      }
    },
  );

  test("is confirmed when it is stored, even after the storage was down", async () => {
    const { world, instance, line } = await sceneWithCode();
    world.storage.isDown = true;
    let isConfirmed = false;
    const scan = line.scan().then(() => {
      isConfirmed = true;
    });
    await world.system.advance(20_000);
    expect(isConfirmed).toBe(false);
    world.storage.isDown = false;
    await world.system.advance(5_000);
    await scan;
    await world.system.settle();
    expect((await world.app.instances.get(ALICE, instance.id)).status).toBe("ACTIVE");
    expect(await world.storage.instances.loadCredentials(instance.id)).toBeDefined();
    await world.stop();
  });

  test("whose instance was deleted in the meantime is refused, and no record is stored", async () => {
    const { world, instance, line } = await sceneWithCode();
    line.barrier = never; // the network does not respond to the deletion
    void world.app.instances.delete(ALICE, instance.id);
    await world.system.settle();
    await expect(line.scan()).rejects.toMatchObject({ code: "instance_not_found" });
    await world.system.advance(10_000);
    await expectDeleted(world, instance);
    await world.stop();
  });

  test("continues at the next start after a crash before the write", async () => {
    const before = await World.start();
    const instance = await before.newInstance();
    // State left by versions that stored credentials before the state.
    await before.context.vault
      .credentialsOf(instance.id, before.storage.instances)
      .save(new TextEncoder().encode("keys"));
    before.network.devices.set(instance.id, "+12025550177");
    const after = await before.crashAndRestart();
    expect((await after.app.instances.get(ALICE, instance.id)).status).toBe("ACTIVE");
    expect(await after.storage.instances.halfLinked({})).toEqual([]);
    await after.stop();
  });

  test("that is lost in a crash before its write is linked by a second scan", async () => {
    const before = await World.start();
    const instance = await before.newInstance();
    before.network.devices.set(instance.id, "+12025550177"); // only the phone was notified
    const after = await before.crashAndRestart();
    await after.app.instances.configure(ALICE, instance.id);
    const line = after.line(instance);
    expect(line.health.state).toBe("offline");
    expect(line.waitsForScan).toBe(true);
    await line.scan();
    await after.system.settle();
    expect((await after.app.instances.get(ALICE, instance.id)).status).toBe("ACTIVE");
    await after.stop();
  });
});

test("a half-finished link is retried until its network is available", async () => {
  const before = await World.start();
  const instance = await before.newInstance();
  await before.app.instances.configure(ALICE, instance.id);
  await before.line(instance).scan();
  await before.storage.instances.update(
    instance.id,
    (await before.storage.instances.get(instance.id))!.version,
    { status: "CREATED", phone: null },
    [],
    new Uint8Array(40),
  );
  const after = new World({ before });
  await after.storage.open({ exclusive: true });
  const { open } = after.network;
  after.network.open = () => Promise.reject(new Error("the network is unavailable"));
  await after.app.start();
  await after.system.advance(2_000);
  after.network.open = open;
  await after.system.advance(30_000);
  expect((await after.app.instances.get(ALICE, instance.id)).status).toBe("ACTIVE");
  await after.stop();
});

test("an instance whose owner unlinks the device loses state and credentials together", async () => {
  for (const moment of ["before", "after"] as const)
    for (let n = 1; n <= 2; n++) {
      const before = await World.start();
      const instance = await before.activeInstance();
      let writes = 0;
      before.storage[moment] = (operation: string) => {
        if (!/get$/.test(operation) && ++writes >= n) return never;
      };
      before.line(instance).unlinkByOwner();
      await before.system.settle();
      before.storage.before = before.storage.after = () => {};
      const storedInstance = await before.storage.instances.get(instance.id);
      const credentials = await before.storage.instances.loadCredentials(instance.id);
      expect(credentials !== undefined).toBe(storedInstance?.status !== "CREATED");
    }
});
