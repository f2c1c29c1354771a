import { describe, expect, test } from "vitest";
import type { Instance } from "../../../src/domain/instances/instance.ts";
import type { LineHost } from "../../../src/ports/telephony.ts";
import { ALICE, BOB, World } from "../../support/application.ts";

const neverSettles = new Promise<never>(() => {});
const UNLINKED_VIEW = { status: "CREATED", state: "unlinked", reason: "unlinked by its owner", phone: null };

const unlink = (world: World, { id }: Instance) => world.app.instances.unlink(ALICE, id);

const connectionOf = async (world: World, instance: Instance) => {
  const { status, connection, phone } = await world.app.instances.get(ALICE, instance.id);
  return { status, state: connection.state, reason: connection.reason, phone };
};

const unlinkedEvents = async (world: World) =>
  (await world.storage.events.ofUser(ALICE.userId, {}, {})).filter(({ type }) => type === "instance.unlinked");

/** The outcome of a request, once settled. */
function watchOutcome(request: Promise<unknown>): { outcome: string } {
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

/** An instance with a live call and a waiting one. */
async function busyInstance() {
  const world = await World.start({ policy: { kind: "fifo", depth: 3 } });
  const instance = await world.activeInstance();
  const liveCall = await world.answeredCall(instance, "x".repeat(1_000));
  const queuedCall = await world.call(instance);
  return { world, instance, live: liveCall, waiting: queuedCall };
}

/** A world that keeps the report callbacks for the network's lines. */
async function worldWithHosts() {
  const world = await World.start();
  const hosts: LineHost[] = [];
  const open = world.network.open.bind(world.network);
  world.network.open = (ref, host) => {
    hosts.push(host);
    return open(ref, host);
  };
  return { world, hosts };
}

describe("unlinking an instance", () => {
  test("forgets the device and the credentials, and returns the instance without its number", async () => {
    const world = await World.start();
    const instance = await world.activeInstance();
    expect(await unlink(world, instance)).toMatchObject({ id: instance.id, status: "CREATED", phone: null });
    expect(await connectionOf(world, instance)).toEqual(UNLINKED_VIEW);
    expect(world.line(instance)).toMatchObject({ linked: false, closed: true });
    expect(await world.storage.instances.loadCredentials(instance.id)).toBeUndefined();
    expect(await unlinkedEvents(world)).toMatchObject([{ data: { reason: "unlinked by its owner" } }]);
    const { probes } = world.line(instance);
    await world.system.advance(60_000);
    expect(world.line(instance).probes).toBe(probes);
    await world.stop();
    expect(world.system.waiting).toBe(0);
  });

  test("allows another number to be linked", async () => {
    const world = await World.start();
    const instance = await world.activeInstance();
    await unlink(world, instance);
    expect(await world.app.instances.configure(ALICE, instance.id)).toMatchObject({ instanceId: instance.id });
    await world.line(instance).scan("+12025550111");
    await world.system.settle();
    expect(await connectionOf(world, instance)).toEqual({
      status: "ACTIVE",
      state: "online",
      reason: null,
      phone: "+12025550111",
    });
    const { probes } = world.line(instance);
    await world.system.advance(5_000);
    expect(world.line(instance).probes).toBe(probes + 1);
    await world.stop();
  });

  test("ends the live call as instance_lost, and keeps waiting calls until they expire", async () => {
    const { world, instance, live, waiting: queuedCall } = await busyInstance();
    await unlink(world, instance);
    expect(await world.storedCall(live.call)).toMatchObject({ status: "FAILED", outcome: { reason: "instance_lost" } });
    expect(live.leg.live).toBe(false);
    await world.system.advance(10_000);
    expect((await world.storedCall(queuedCall)).status).toBe("QUEUED");
    expect(world.network.legs).toHaveLength(1);
    await world.system.advance(world.context.timings.queueTimeoutMs);
    expect((await world.storedCall(queuedCall)).outcome).toMatchObject({ reason: "instance_not_linked" });
    await world.stop();
  });

  test("leaves a call in its queue while it is being claimed", async () => {
    const world = await World.start();
    const instance = await world.activeInstance();
    const release = world.holdClaim();
    const call = await world.call(instance);
    const request = unlink(world, instance);
    await world.system.settle();
    release();
    await request;
    await world.system.settle();
    expect(await world.storedCall(call)).toMatchObject({ status: "QUEUED", owner: null });
    expect(world.network.legs).toEqual([]);
    await world.stop();
  });

  test("has no effect without a linked number, however often it is requested", async () => {
    const world = await World.start();
    const instance = await world.newInstance();
    const { version } = instance;
    for (const _ of [1, 2]) expect(await unlink(world, instance)).toMatchObject({ status: "CREATED", version });
    expect(world.network.lines).toEqual([]);
    await world.app.instances.configure(ALICE, instance.id);
    await unlink(world, instance);
    expect((await connectionOf(world, instance)).state).toBe("linking");
    await world.line(instance).scan();
    await world.system.settle();
    expect((await connectionOf(world, instance)).status).toBe("ACTIVE");
    for (const _ of [1, 2]) await unlink(world, instance);
    expect(await unlinkedEvents(world)).toHaveLength(1);
    await world.stop();
  });

  test("deletes the records of a half-finished link, and asks the network", async () => {
    const { world, hosts } = await worldWithHosts();
    const instance = await world.newInstance();
    await world.app.instances.configure(ALICE, instance.id);
    await hosts[0]?.records.set(new Map([["key", Uint8Array.of(1)]]));
    world.network.devices.set(instance.id, "+12025550177"); // scanned, and crashed before that was stored
    const restartedWorld = await world.crashAndRestart();
    await unlink(restartedWorld, instance);
    expect(await restartedWorld.storage.lineRecords.keys(instance.id, "")).toEqual([]);
    expect(restartedWorld.network.devices.has(instance.id)).toBe(false);
    expect((await connectionOf(restartedWorld, instance)).status).toBe("CREATED");
    await restartedWorld.stop();
  });

  test("leaves the line unable to store data", async () => {
    const { world, hosts } = await worldWithHosts();
    const instance = await world.activeInstance();
    const store = (byte: number) => hosts[0]?.records.set(new Map([["key", Uint8Array.of(byte)]]));
    await store(1);
    await unlink(world, instance);
    await expect(store(2)).rejects.toThrow("abandoned");
    await world.app.instances.configure(ALICE, instance.id);
    expect(await hosts.at(-1)?.records.keys("")).toEqual([]);
    await world.stop();
  });

  test("runs once for concurrent requests", async () => {
    const { world, instance } = await busyInstance();
    let release = () => {};
    world.line(instance).barrier = new Promise<void>((resolve) => {
      release = resolve;
    });
    const requests = [1, 2, 3].map(() => watchOutcome(unlink(world, instance)));
    await world.system.advance(4_000);
    expect(requests.map(({ outcome }) => outcome)).toEqual(["none", "none", "none"]);
    release();
    await world.system.settle();
    expect(requests.map(({ outcome }) => outcome)).toEqual(["done", "done", "done"]);
    expect(await unlinkedEvents(world)).toHaveLength(1);
    await world.stop();
  });

  test("is refused to other users, to demo tokens, and for instances that are unknown or deleted", async () => {
    const world = await World.start();
    const instance = await world.activeInstance();
    const { instances } = world.app;
    const demo = { ...ALICE, demoInstanceId: instance.id };
    await expect(instances.unlink(demo, instance.id)).rejects.toMatchObject({ code: "demo_token_restricted" });
    for (const [user, id] of [
      [BOB, instance.id],
      [ALICE, "inst_01k7zq0f8vf1c9m2x4s6t8w0ya"],
      [ALICE, "__proto__"],
    ] as const)
      await expect(instances.unlink(user, id)).rejects.toMatchObject({ code: "instance_not_found" });
    expect((await connectionOf(world, instance)).status).toBe("ACTIVE");
    await instances.delete(ALICE, instance.id);
    await expect(unlink(world, instance)).rejects.toMatchObject({ code: "instance_not_found" });
    await world.stop();
  });

  test("is refused if the operator links the numbers", async () => {
    const world = await World.start({ capabilities: { linking: "operator" } });
    const instance = await world.newInstance();
    await world.system.settle();
    await expect(unlink(world, instance)).rejects.toMatchObject({
      code: "linked_by_operator",
      message: expect.stringContaining('"scripted" links its numbers automatically'),
    });
    expect((await connectionOf(world, instance)).status).toBe("ACTIVE");
    await world.stop();
  });

  test("unlinks an offline or unopened line", async () => {
    const { world, instance } = await busyInstance();
    world.line(instance).goOffline();
    const restartedWorld = new World({ before: world });
    let open = () => {};
    restartedWorld.network.openBarrier = new Promise<void>((resolve) => {
      open = resolve;
    });
    await restartedWorld.app.start();
    const request = unlink(restartedWorld, instance);
    await restartedWorld.system.advance(1_000);
    open();
    await request;
    expect(restartedWorld.network.devices.has(instance.id)).toBe(false);
    expect(await connectionOf(restartedWorld, instance)).toEqual(UNLINKED_VIEW);
    await restartedWorld.stop();
  });
});

describe("a phone that reports while its number is being unlinked", () => {
  test("does not link the number again", async () => {
    const world = await World.start();
    const instance = await world.activeInstance();
    const line = world.line(instance);
    let release = () => {};
    line.barrier = new Promise<void>((resolve) => {
      release = resolve;
    });
    const request = unlink(world, instance);
    await world.system.settle();
    line.goOnline();
    await expect(line.scan("+12025550111")).rejects.toMatchObject({ code: "instance_not_found" });
    line.unlinkByOwner("removed on the phone");
    await world.system.settle();
    expect(await world.storage.instances.loadCredentials(instance.id)).toBeDefined();
    release();
    await request;
    expect(await connectionOf(world, instance)).toEqual(UNLINKED_VIEW);
    expect(await unlinkedEvents(world)).toMatchObject([{ data: { reason: "unlinked by its owner" } }]);
    await world.stop();
  });
});

describe("a network", () => {
  const unlinkFailures = (world: World) =>
    world.warnings
      .filter(({ message }) => String(message).includes("could not be unlinked"))
      .map(({ err }) => String(err))
      .join();

  test("delays the request by ten seconds if it unlinks too late, and gets a new line", async () => {
    const { world, instance, live } = await busyInstance();
    const hangingLine = world.line(instance);
    hangingLine.barrier = neverSettles;
    const request = watchOutcome(unlink(world, instance));
    await world.system.advance(9_999);
    expect(request.outcome).toBe("none");
    expect((await world.storedCall(live.call)).outcome).toMatchObject({ reason: "instance_lost" });
    expect(await world.storage.instances.loadCredentials(instance.id)).toBeDefined();
    await world.system.advance(1);
    expect(request.outcome).toBe("done");
    expect(unlinkFailures(world)).toContain("did not unlink the device within 10000 ms");
    expect(await connectionOf(world, instance)).toEqual(UNLINKED_VIEW);
    expect(await world.storage.instances.loadCredentials(instance.id)).toBeUndefined();
    expect(hangingLine.closed).toBe(true);

    await expect(hangingLine.scan("+12025550122")).rejects.toThrow("abandoned");
    hangingLine.goOnline();
    await world.system.settle();
    expect(await connectionOf(world, instance)).toEqual(UNLINKED_VIEW);
    await world.app.instances.configure(ALICE, instance.id);
    expect(world.line(instance)).not.toBe(hangingLine);
    await world.line(instance).scan("+12025550111");
    await world.system.settle();
    expect(await connectionOf(world, instance)).toMatchObject({ status: "ACTIVE", phone: "+12025550111" });
    await world.stop();
    expect(world.system.waiting).toBe(0);
  });

  test("can no longer read or store records if it unlinks too late", async () => {
    const { world, hosts } = await worldWithHosts();
    const instance = await world.activeInstance();
    const [host] = hosts;
    world.line(instance).barrier = neverSettles;
    const request = unlink(world, instance);
    await world.system.advance(10_000);
    await request;
    const lateCredentials = new Uint8Array([1]);
    for (const write of [
      () => host?.credentials.save(lateCredentials),
      () => host?.credentials.erase(),
      () => host?.records.set(new Map([["key", lateCredentials]])),
      () => host?.records.clear(),
      () => host?.linked("+12025550122", lateCredentials),
    ])
      await expect(write()).rejects.toThrow("abandoned");
    expect(await world.storage.instances.loadCredentials(instance.id)).toBeUndefined();
    await world.stop();
  });

  test("does not delay the request if it fails to unlink the device", async () => {
    const world = await World.start();
    const instance = await world.activeInstance();
    world.line(instance).unlink = async () => {
      throw new Error("the network is gone");
    };
    await unlink(world, instance);
    expect(unlinkFailures(world)).toContain("the network is gone");
    expect(await connectionOf(world, instance)).toEqual(UNLINKED_VIEW);
    await world.stop();
  });

  test("keeps the device if it is no longer mounted, but Ringport deletes the credentials", async () => {
    const { world, instance } = await busyInstance();
    const restartedWorld = new World({ before: world });
    (restartedWorld.context.telephony as Map<string, unknown>).clear();
    await restartedWorld.app.start();
    expect(await unlink(restartedWorld, instance)).toMatchObject({ status: "CREATED", phone: null });
    expect(await restartedWorld.storage.instances.loadCredentials(instance.id)).toBeUndefined();
    expect(restartedWorld.warnings.map(({ message }) => message).join()).toContain("the network is not mounted");
    await restartedWorld.stop();
  });
});

describe("an unlinking that a crash interrupts", () => {
  test.each(["before", "after"] as const)("%s any step keeps state and credentials consistent", async (moment) => {
    for (let n = 1; ; n++) {
      const { world, instance } = await busyInstance();
      let steps = 0;
      world.storage[moment] = () => {
        if (++steps >= n) return neverSettles;
      };
      const first = watchOutcome(unlink(world, instance));
      await world.system.advance(1_000);
      world.storage.before = world.storage.after = () => {};
      if (first.outcome === "done") {
        expect(n, "every step of the unlinking").toBeGreaterThan(4);
        break;
      }
      expect(first.outcome).toBe("none");
      const restartedWorld = await world.crashAndRestart();
      await restartedWorld.system.advance(1_000);
      const credentials = await restartedWorld.storage.instances.loadCredentials(instance.id);
      const { status } = await restartedWorld.app.instances.get(ALICE, instance.id);
      expect(credentials !== undefined, `crash at step ${n}`).toBe(status !== "CREATED");
      await unlink(restartedWorld, instance);
      expect(await connectionOf(restartedWorld, instance)).toMatchObject({
        status: "CREATED",
        state: "unlinked",
        phone: null,
      });
      expect(await restartedWorld.storage.instances.loadCredentials(instance.id)).toBeUndefined();
      expect(restartedWorld.network.devices.has(instance.id)).toBe(false);
      expect(await unlinkedEvents(restartedWorld)).toHaveLength(1);
      expect(restartedWorld.errors).toEqual([]);
      await restartedWorld.stop();
      expect(restartedWorld.system.waiting).toBe(0);
    }
  });

  test("during the request to the network leaves the number linked", async () => {
    const { world, instance } = await busyInstance();
    world.line(instance).barrier = neverSettles;
    void unlink(world, instance).catch(() => {});
    await world.system.advance(1_000);
    const restartedWorld = await world.crashAndRestart();
    expect(await connectionOf(restartedWorld, instance)).toMatchObject({ status: "ACTIVE", state: "online" });
    await restartedWorld.stop();
  });
});

describe("an unlinking whose storage fails", () => {
  test("at any step gets 503 in time, or continues without the request", async () => {
    for (let n = 1; ; n++) {
      const { world, instance } = await busyInstance();
      let steps = 0;
      world.storage.before = () => {
        if (++steps === n) world.storage.isDown = true;
      };
      const first = watchOutcome(unlink(world, instance));
      await world.system.advance(5_000);
      world.storage.before = () => {};
      if (!world.storage.isDown) {
        expect([first.outcome, n > 4]).toEqual(["done", true]);
        break;
      }
      // The last steps belong to the ended call.
      expect(first.outcome, `fault at step ${n}`).toBe(n < 5 ? "storage_unavailable" : "done");
      await world.system.advance(60_000);
      world.storage.isDown = false;
      await world.system.advance(10_000);
      await unlink(world, instance);
      expect(await connectionOf(world, instance)).toMatchObject({ status: "CREATED", state: "unlinked", phone: null });
      expect(await world.storage.instances.loadCredentials(instance.id)).toBeUndefined();
      expect(await unlinkedEvents(world)).toHaveLength(1);
      expect(world.errors).toEqual([]);
      await world.stop();
      expect(world.system.waiting).toBe(0);
    }
  });
});

describe("an unlinking during another change", () => {
  test("is refused if the instance is deleted in the meantime", async () => {
    const { world, instance } = await busyInstance();
    world.line(instance).barrier = neverSettles;
    const request = watchOutcome(unlink(world, instance));
    await world.system.settle();
    const deletion = watchOutcome(world.app.instances.delete(ALICE, instance.id));
    await world.system.advance(20_000);
    expect([request.outcome, deletion.outcome]).toEqual(["instance_not_found", "done"]);
    expect(await unlinkedEvents(world)).toEqual([]);
    await world.stop();
    expect(world.system.waiting).toBe(0);
  });

  test("is refused if the server stops in the meantime, and no data is lost", async () => {
    const { world, instance } = await busyInstance();
    world.line(instance).barrier = neverSettles;
    const request = watchOutcome(unlink(world, instance));
    await world.system.settle();
    const stop = world.app.stop(0);
    await world.system.advance(6_000);
    await stop;
    expect(request.outcome).toBe("stopping");
    expect(world.system.waiting).toBe(0);
    const restartedWorld = await world.crashAndRestart();
    expect(await connectionOf(restartedWorld, instance)).toMatchObject({ status: "ACTIVE", state: "online" });
    await restartedWorld.stop();
  });
});
