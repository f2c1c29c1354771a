import { describe, expect, test } from "vitest";
import type { Instance } from "../../../src/domain/instances/instance.ts";
import { StorageUnavailable } from "../../../src/ports/storage.ts";
import { ALICE, World } from "../../support/application.ts";
import { expectDeleted } from "../../support/deleted-instance.ts";

const NOT_FOUND = { code: "instance_not_found" };
const neverSettles = new Promise<never>(() => {});

/** An instance with a live call and a waiting one. */
async function busyInstance(): Promise<{ world: World; instance: Instance }> {
  const world = await World.start({ policy: { kind: "fifo", depth: 3 } });
  const instance = await world.activeInstance();
  await world.answeredCall(instance, "x".repeat(1_000));
  await world.call(instance);
  return { world, instance };
}

const remove = (world: World, { id }: Instance) => world.app.instances.delete(ALICE, id);

/** The outcome of a request, once settled. */
function watchOutcome(request: Promise<void>): { outcome: string } {
  const watch = { outcome: "none" };
  request.then(
    () => {
      watch.outcome = "done";
    },
    (error: { code?: string }) => {
      watch.outcome = error.code ?? String(error);
    },
  );
  return watch;
}

const deletedEvents = async (world: World) =>
  (await world.storage.events.ofUser(ALICE.userId, {}, {})).filter(({ type }) => type === "instance.deleted");

describe("a deletion that a crash interrupts", () => {
  test.each(["before", "after"] as const)("%s any step resumes in the next process", async (moment) => {
    for (let n = 1; ; n++) {
      const { world, instance } = await busyInstance();
      let steps = 0;
      world.storage[moment] = () => {
        if (++steps >= n) return neverSettles;
      };
      const first = watchOutcome(remove(world, instance));
      await world.system.advance(1_000);
      world.storage.before = world.storage.after = () => {};
      if (first.outcome === "done") {
        expect(n, "every step of the deletion").toBeGreaterThan(7);
        break;
      }
      expect(first.outcome).toBe("none");
      const hasBegun = (await world.storage.instances.get(instance.id))?.status === "DELETED";
      const restartedWorld = await world.crashAndRestart();
      await restartedWorld.system.advance(1_000);
      if (hasBegun) expect(restartedWorld.network.legs, `crash at step ${n}`).toEqual([]);
      else await remove(restartedWorld, instance);
      await expectDeleted(restartedWorld, instance);
      expect(await deletedEvents(restartedWorld)).toHaveLength(1);
      expect(restartedWorld.errors).toEqual([]);
      await restartedWorld.stop();
      expect(restartedWorld.system.waiting).toBe(0);
    }
  });

  test("resumes in the next process if the network was unlinking the device", async () => {
    const { world, instance } = await busyInstance();
    world.line(instance).barrier = neverSettles;
    void remove(world, instance);
    await world.system.advance(1_000);
    const restartedWorld = await world.crashAndRestart();
    await expectDeleted(restartedWorld, instance);
    await remove(restartedWorld, instance); // no request has a response yet
    await expect(remove(restartedWorld, instance)).rejects.toMatchObject(NOT_FOUND);
    await restartedWorld.stop();
  });

  test("reads as not found at once, and does not delay the next start", async () => {
    const { world, instance } = await busyInstance();
    world.line(instance).barrier = neverSettles;
    void remove(world, instance);
    await world.system.settle();
    await expect(world.app.instances.get(ALICE, instance.id)).rejects.toMatchObject(NOT_FOUND);
    await expect(world.create(instance)).rejects.toMatchObject(NOT_FOUND);
    const restartedWorld = new World({ before: world });
    restartedWorld.network.openBarrier = neverSettles;
    await restartedWorld.app.start(); // the clock is stopped
    await expect(restartedWorld.app.instances.get(ALICE, instance.id)).rejects.toMatchObject(NOT_FOUND);
    const stop = restartedWorld.app.stop(0);
    await restartedWorld.system.advance(5_000);
    await stop;
    expect(restartedWorld.system.waiting).toBe(0);
    const last = await restartedWorld.crashAndRestart();
    await expectDeleted(last, instance);
    await last.stop();
  });
});

describe("a deletion whose storage fails", () => {
  test("at any step responds 503 in time, and continues without the request", async () => {
    for (let n = 1; ; n++) {
      const { world, instance } = await busyInstance();
      let steps = 0;
      world.storage.before = () => {
        if (++steps === n) world.storage.isDown = true;
      };
      const first = watchOutcome(remove(world, instance));
      await world.system.advance(5_000);
      world.storage.before = () => {};
      if (first.outcome === "done") {
        expect(n, "every step of the deletion").toBeGreaterThan(7);
        break;
      }
      expect(first.outcome, `fault at step ${n}`).toBe("storage_unavailable");
      await world.system.advance(60_000);
      world.storage.isDown = false;
      await world.system.advance(10_000);
      if (n > 1) await expectDeleted(world, instance);
      await remove(world, instance);
      await expectDeleted(world, instance);
      await expect(remove(world, instance)).rejects.toMatchObject(NOT_FOUND);
      expect(await deletedEvents(world)).toHaveLength(1);
      expect(world.errors).toEqual([]);
      await world.stop();
      expect(world.system.waiting).toBe(0);
    }
  });

  test("finishes although the response to any step is lost", async () => {
    for (let n = 1; ; n++) {
      const { world, instance } = await busyInstance();
      let steps = 0;
      world.storage.after = () => {
        if (++steps === n) throw new StorageUnavailable("the connection broke before the response arrived");
      };
      const first = watchOutcome(remove(world, instance));
      await world.system.advance(4_000);
      world.storage.after = () => {};
      if (n > 1) expect(first.outcome, `lost response ${n}`).toBe("done");
      else await remove(world, instance);
      await expectDeleted(world, instance);
      expect(await deletedEvents(world)).toHaveLength(1);
      await expect(remove(world, instance)).rejects.toMatchObject(NOT_FOUND);
      expect(world.errors).toEqual([]);
      await world.stop();
      if (steps < n) break;
    }
  });

  test("waits until the line can read its credentials, then unlinks the device", async () => {
    const { world, instance } = await busyInstance();
    world.line(instance).barrier = neverSettles;
    void remove(world, instance);
    await world.system.settle();
    const restartedWorld = new World({ before: world });
    const open = restartedWorld.network.open.bind(restartedWorld.network);
    restartedWorld.network.open = async () => {
      throw new StorageUnavailable("the database is locked");
    };
    await restartedWorld.app.start();
    await restartedWorld.system.advance(20_000);
    expect(await restartedWorld.storage.instances.loadCredentials(instance.id)).toBeDefined();
    restartedWorld.network.open = open;
    await restartedWorld.system.advance(5_000);
    await expectDeleted(restartedWorld, instance);
    await restartedWorld.stop();
  });
});

describe("several requests to delete an instance", () => {
  test("succeed once, after everything is deleted", async () => {
    const { world, instance } = await busyInstance();
    let release = () => {};
    world.line(instance).barrier = new Promise<void>((resolve) => {
      release = resolve;
    });
    const requests = [1, 2, 3].map(() => watchOutcome(remove(world, instance)));
    await world.system.advance(4_000);
    expect(requests.map(({ outcome }) => outcome)).toEqual(["none", "none", "none"]);
    release();
    await world.system.settle();
    expect(requests.map(({ outcome }) => outcome)).toEqual(["done", NOT_FOUND.code, NOT_FOUND.code]);
    await expectDeleted(world, instance);
    await world.stop();
  });

  test("let the next one succeed when the first gets 503", async () => {
    const { world, instance } = await busyInstance();
    let isDown = true;
    world.storage.before = (operation) => {
      if (isDown && operation === "instances.update") throw new StorageUnavailable("the disk is full");
    };
    const requests = [1, 2, 3].map(() => watchOutcome(remove(world, instance)));
    await world.system.advance(6_000);
    isDown = false;
    await world.system.advance(6_000);
    expect(requests.map(({ outcome }) => outcome)).toEqual(["storage_unavailable", "done", NOT_FOUND.code]);
    await expectDeleted(world, instance);
    await world.stop();
  });
});

describe("a network", () => {
  const unlinkFailures = (world: World) =>
    world.warnings
      .filter(({ message }) => String(message).includes("could not be unlinked"))
      .map(({ err }) => String(err));

  test("delays a deletion by ten seconds if it unlinks too late", async () => {
    const { world, instance } = await busyInstance();
    const line = world.line(instance);
    line.barrier = neverSettles;
    const request = watchOutcome(remove(world, instance));
    await world.system.advance(9_999);
    expect(await world.storage.instances.loadCredentials(instance.id)).toBeDefined();
    await world.system.advance(1);
    expect(request.outcome).toBe("done");
    await expectDeleted(world, instance, { unlinked: false });
    expect(unlinkFailures(world).join()).toContain("did not unlink the device within 10000 ms");
    await world.stop();
    expect(world.system.waiting).toBe(0);
  });

  test("delays a deletion by five more seconds if it also closes the line too late", async () => {
    const { world, instance } = await busyInstance();
    const line = world.line(instance);
    line.barrier = line.closeBarrier = neverSettles;
    const request = watchOutcome(remove(world, instance));
    await world.system.advance(14_999);
    expect(request.outcome).toBe("none");
    await world.system.advance(1);
    expect(request.outcome).toBe("done");
    await world.stop();
    expect(world.system.waiting).toBe(0);
  });

  test("prevents no erasure of credentials if it opens the line too late; the late line is closed", async () => {
    const { world, instance } = await busyInstance();
    world.line(instance).barrier = neverSettles;
    void remove(world, instance);
    await world.system.settle();
    const restartedWorld = new World({ before: world });
    let open = () => {};
    restartedWorld.network.openBarrier = new Promise<void>((resolve) => {
      open = resolve;
    });
    await restartedWorld.app.start();
    await restartedWorld.system.advance(10_000);
    await expectDeleted(restartedWorld, instance, { unlinked: false });
    expect(unlinkFailures(restartedWorld).join()).toContain("did not open the line within 10000 ms");
    open();
    await restartedWorld.system.settle();
    expect(restartedWorld.network.lines.map(({ closed }) => closed)).toEqual([true]);
    await restartedWorld.stop();
  });

  test("is named in the log if it is no longer mounted", async () => {
    const { world, instance } = await busyInstance();
    world.line(instance).barrier = neverSettles;
    void remove(world, instance);
    await world.system.settle();
    const restartedWorld = new World({ before: world });
    (restartedWorld.context.telephony as Map<string, unknown>).clear();
    await restartedWorld.app.start();
    await restartedWorld.system.settle();
    await expectDeleted(restartedWorld, instance, { unlinked: false });
    expect(unlinkFailures(restartedWorld).join()).toContain('no telephony "scripted" is mounted');
    await restartedWorld.stop();
  });
});

describe("a deleted instance's calls", () => {
  test("are ended and never dialled if they were created at the last moment", async () => {
    const world = await World.start();
    const instance = await world.activeInstance();
    const release = world.holdClaim();
    const call = await world.call(instance);
    const request = watchOutcome(remove(world, instance));
    await world.system.settle();
    release();
    await world.system.advance(1_000);
    expect(request.outcome).toBe("done");
    expect(world.network.legs).toEqual([]);
    expect(await world.storedCall(call)).toMatchObject({ status: "FAILED", outcome: { reason: "instance_deleted" } });
    await expectDeleted(world, instance);
    await world.stop();
  });
});

test("an instance that was never linked is deleted without a line", async () => {
  const world = await World.start();
  const instance = await world.newInstance();
  await remove(world, instance);
  await expectDeleted(world, instance);
  expect(world.network.lines).toEqual([]);
  await world.stop();
});
