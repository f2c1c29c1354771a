import { describe, expect, test } from "vitest";
import { ALICE, World } from "../../support/application.ts";
import { expectDeleted } from "../../support/deleted-instance.ts";

const neverSettles = new Promise<never>(() => {});

/** An instance whose code is shown. */
async function sceneWithCode() {
  const world = await World.start();
  const instance = await world.newInstance();
  await world.app.instances.configure(ALICE, instance.id);
  return { world, instance, line: world.line(instance) };
}

describe("a number being linked", () => {
  test.each(["before", "after"] as const)(
    "stays linked after a crash %s each step if it was confirmed",
    async (moment) => {
      for (let n = 1; ; n++) {
        const { world, instance, line } = await sceneWithCode();
        let steps = 0;
        let kill = () => {};
        const death = new Promise<void>((resolve) => {
          kill = resolve;
        });
        world.storage[moment] = () => {
          if (++steps < n) return;
          kill();
          return neverSettles;
        };
        let isConfirmed = false;
        const scan = line.scan("+12025550177").then(() => {
          isConfirmed = true;
        });
        await Promise.race([scan, death]);
        await world.system.settle();
        const hasDied = steps >= n;
        world.storage.before = world.storage.after = () => {};
        const restartedWorld = await world.crashAndRestart();
        const { status, phone } = await restartedWorld.app.instances.get(ALICE, instance.id);
        const credentials = await restartedWorld.storage.instances.loadCredentials(instance.id);
        if (isConfirmed) expect({ status, phone }, `step ${n}`).toEqual({ status: "ACTIVE", phone: "+12025550177" });
        expect(credentials !== undefined, `credentials come with the state, step ${n}`).toBe(status !== "CREATED");
        await restartedWorld.stop();
        if (!hasDied) break;
      }
    },
  );

  test("is confirmed once it is stored, even after the storage was down", async () => {
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

  test("is refused if its instance was deleted in the meantime, and no record is stored", async () => {
    const { world, instance, line } = await sceneWithCode();
    line.barrier = neverSettles; // the network does not respond to the deletion
    void world.app.instances.delete(ALICE, instance.id);
    await world.system.settle();
    await expect(line.scan()).rejects.toMatchObject({ code: "instance_not_found" });
    await world.system.advance(10_000);
    await expectDeleted(world, instance);
    await world.stop();
  });

  test("resumes linking at the next start if a crash came before the write", async () => {
    const world = await World.start();
    const instance = await world.newInstance();
    // State left by versions that stored credentials before the state.
    await world.context.vault
      .credentialsOf(instance.id, world.storage.instances)
      .save(new TextEncoder().encode("keys"));
    world.network.devices.set(instance.id, "+12025550177");
    const restartedWorld = await world.crashAndRestart();
    expect((await restartedWorld.app.instances.get(ALICE, instance.id)).status).toBe("ACTIVE");
    expect(await restartedWorld.storage.instances.halfLinked({})).toEqual([]);
    await restartedWorld.stop();
  });

  test("is linked by a second scan if it was lost in a crash before its write", async () => {
    const world = await World.start();
    const instance = await world.newInstance();
    world.network.devices.set(instance.id, "+12025550177"); // only the phone was notified
    const restartedWorld = await world.crashAndRestart();
    await restartedWorld.app.instances.configure(ALICE, instance.id);
    const line = restartedWorld.line(instance);
    expect(line.health.state).toBe("offline");
    expect(line.waitsForScan).toBe(true);
    await line.scan();
    await restartedWorld.system.settle();
    expect((await restartedWorld.app.instances.get(ALICE, instance.id)).status).toBe("ACTIVE");
    await restartedWorld.stop();
  });
});

test("a half-finished link is retried until its network is available", async () => {
  const world = await World.start();
  const instance = await world.newInstance();
  await world.app.instances.configure(ALICE, instance.id);
  await world.line(instance).scan();
  await world.storage.instances.update(
    instance.id,
    (await world.storage.instances.get(instance.id))!.version,
    { status: "CREATED", phone: null },
    [],
    new Uint8Array(40),
  );
  const restartedWorld = new World({ before: world });
  await restartedWorld.storage.open({ exclusive: true });
  const { open } = restartedWorld.network;
  restartedWorld.network.open = () => Promise.reject(new Error("the network is unavailable"));
  await restartedWorld.app.start();
  await restartedWorld.system.advance(2_000);
  restartedWorld.network.open = open;
  await restartedWorld.system.advance(30_000);
  expect((await restartedWorld.app.instances.get(ALICE, instance.id)).status).toBe("ACTIVE");
  await restartedWorld.stop();
});

test("an instance whose owner unlinks the device loses its state and credentials together", async () => {
  for (const moment of ["before", "after"] as const)
    for (let n = 1; n <= 2; n++) {
      const world = await World.start();
      const instance = await world.activeInstance();
      let writes = 0;
      world.storage[moment] = (operation: string) => {
        if (!/get$/.test(operation) && ++writes >= n) return neverSettles;
      };
      world.line(instance).unlinkByOwner();
      await world.system.settle();
      world.storage.before = world.storage.after = () => {};
      const storedInstance = await world.storage.instances.get(instance.id);
      const credentials = await world.storage.instances.loadCredentials(instance.id);
      expect(credentials !== undefined).toBe(storedInstance?.status !== "CREATED");
    }
});
