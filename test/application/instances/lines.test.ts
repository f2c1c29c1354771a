import { describe, expect, test } from "vitest";
import type { Instance } from "../../../src/domain/instances/instance.ts";
import { StorageUnavailable } from "../../../src/ports/storage.ts";
import { ALICE, World } from "../../support/application.ts";

const connectionOf = async (world: World, instance: Instance) => {
  const { status, connection, phone } = await world.app.instances.get(ALICE, instance.id);
  return { status, state: connection.state, phone };
};

const instanceEvents = async (world: World) =>
  (await world.storage.events.ofUser(ALICE.userId, {}, {})).filter((event) => event.callId === null).map((e) => e.type);

describe("linking", () => {
  test("takes an instance from CREATED through CONFIGURED to ACTIVE", async () => {
    const world = await World.start();
    const instance = await world.newInstance();
    expect(await connectionOf(world, instance)).toMatchObject({ status: "CREATED", state: "unlinked" });
    const code = await world.app.instances.configure(ALICE, instance.id);
    expect(code).toMatchObject({ instanceId: instance.id, sequence: 1 });
    expect(await connectionOf(world, instance)).toMatchObject({ status: "CREATED", state: "linking" });

    const line = world.line(instance);
    line.barrier = new Promise(() => {}); // the network does not respond to probes yet
    await line.scan("+12025550177");
    await world.system.settle();
    expect(await connectionOf(world, instance)).toEqual({
      status: "CONFIGURED",
      state: "connecting",
      phone: "+12025550177",
    });
    await world.stop();
  });

  test("makes the instance ACTIVE as soon as a probe finds the line online", async () => {
    const world = await World.start();
    const instance = await world.activeInstance();
    expect(await connectionOf(world, instance)).toMatchObject({ status: "ACTIVE", state: "online" });
    expect(await instanceEvents(world)).toEqual(["instance.created", "instance.linked", "instance.active"]);
    await world.stop();
  });

  test("loads the speech engines with the first line, and at the start of a server with numbers", async () => {
    const world = await World.start();
    const instance = await world.newInstance();
    await world.newInstance();
    expect(world.speech.warmUps).toBe(0);
    await world.app.instances.configure(ALICE, instance.id);
    await world.line(instance).scan("+12025550177");
    await world.activeInstance();
    expect(world.speech.warmUps).toBe(1);
    const restartedWorld = await world.crashAndRestart();
    expect(restartedWorld.speech.warmUps).toBe(1);
    await restartedWorld.stop();
  });

  test("returns the current code even after changes", async () => {
    const world = await World.start();
    const instance = await world.newInstance();
    const first = await world.app.instances.configure(ALICE, instance.id);
    expect(await world.app.instances.configure(ALICE, instance.id)).toEqual(first);
    await world.system.advance(20_000);
    world.line(instance).showCode();
    const second = await world.app.instances.configure(ALICE, instance.id);
    expect(second).toMatchObject({ sequence: 2, expiresAt: world.system.now() + 20_000 });
    await world.stop();
  });

  test("waits ten seconds for a code, then reports why there is none", async () => {
    const world = await World.start();
    const instance = await world.newInstance();
    await world.app.instances.configure(ALICE, instance.id);
    await world.system.advance(20_000); // the code has expired and no new one appears
    const request = world.app.instances.configure(ALICE, instance.id);
    const rejection = expect(request).rejects.toMatchObject({ code: "qr_unavailable" });
    await world.system.advance(10_000);
    await rejection;
    await world.stop();
  });

  test("reveals internal errors only in the log", async () => {
    const world = await World.start();
    const instance = await world.newInstance();
    const internalError = new Error("EACCES: permission denied, open '/srv/secret/creds'");
    const open = world.network.open.bind(world.network);
    const refusals: unknown[] = [];
    const requestCode = () => world.app.instances.configure(ALICE, instance.id).catch((error) => refusals.push(error));
    world.network.open = async () => {
      throw internalError;
    };
    await requestCode();
    refusals.push(await world.app.instances.get(ALICE, instance.id).then(({ connection }) => connection.reason));
    world.network.open = async (...args) => {
      const line = await open(...args);
      line.link = async () => {
        throw internalError;
      };
      return line;
    };
    await requestCode();
    expect(refusals).toMatchObject([{ code: "qr_unavailable" }, expect.any(String), { code: "qr_unavailable" }]);
    expect(refusals.join()).not.toMatch(/EACCES|secret/);
    expect(world.errors).toHaveLength(2);
    for (const entry of world.errors) expect(entry).toContain("EACCES");
    await world.stop();
  });

  test("reports the storage as unavailable if it is down", async () => {
    const world = await World.start();
    const instance = await world.newInstance();
    const open = world.network.open.bind(world.network);
    world.network.open = async () => {
      throw new StorageUnavailable("the database is locked"); // the credentials could not be read
    };
    await expect(world.app.instances.configure(ALICE, instance.id)).rejects.toMatchObject({
      name: "StorageUnavailable",
    });
    world.network.open = open;
    expect((await world.app.instances.configure(ALICE, instance.id)).sequence).toBe(1);
    await world.stop();
  });

  test("is refused for a linked instance, even if it links in the meantime", async () => {
    const world = await World.start();
    const instance = await world.newInstance();
    await world.app.instances.configure(ALICE, instance.id);
    await world.system.advance(20_000);
    const rejection = expect(world.app.instances.configure(ALICE, instance.id)).rejects.toMatchObject({
      code: "instance_already_linked",
    });
    await world.system.settle();
    await world.line(instance).scan();
    await world.system.settle();
    await rejection;
    await expect(world.app.instances.configure(ALICE, instance.id)).rejects.toMatchObject({
      code: "instance_already_linked",
    });
    await world.stop();
  });

  test("keeps credentials encrypted until the instance is deleted", async () => {
    const world = await World.start();
    const instance = await world.activeInstance();
    const sealedCredentials = await world.storage.instances.loadCredentials(instance.id);
    expect(sealedCredentials).toBeDefined();
    expect(new TextDecoder().decode(sealedCredentials)).not.toContain("+1202");
    await world.app.instances.delete(ALICE, instance.id);
    expect(await world.storage.instances.loadCredentials(instance.id)).toBeUndefined();
    await world.stop();
  });
});

describe("probing", () => {
  test("happens every 5 s, and every second during calls", async () => {
    const world = await World.start();
    const instance = await world.activeInstance();
    const line = world.line(instance);
    const probesIn = async (ms: number) => {
      const before = line.probes;
      await world.system.advance(ms);
      return line.probes - before;
    };
    expect(await probesIn(20_000)).toBe(4);
    const { leg } = await world.answeredCall(instance, "x".repeat(1_000));
    expect(await probesIn(10_000)).toBe(10);
    leg.end("callee_hung_up");
    await world.system.settle();
    expect(await probesIn(20_000)).toBe(4);
    await world.stop();
  });

  test("detects a line that goes offline without a report", async () => {
    const world = await World.start();
    const instance = await world.activeInstance();
    world.line(instance).goOffline("gone", { report: false });
    await world.system.advance(5_000);
    expect(await connectionOf(world, instance)).toMatchObject({ status: "ACTIVE", state: "reconnecting" });
    await world.stop();
  });

  test("treats a line whose network ignores probes as offline", async () => {
    const world = await World.start();
    const instance = await world.activeInstance();
    world.line(instance).barrier = new Promise(() => {});
    await world.system.advance(60_000);
    expect(await connectionOf(world, instance)).toMatchObject({ status: "CONFIGURED", state: "offline" });
    world.line(instance).barrier = undefined;
    await world.system.advance(10_000);
    expect(await connectionOf(world, instance)).toMatchObject({ status: "ACTIVE", state: "online" });
    await world.stop();
  });

  test("probes again if the line reports a change during a probe", async () => {
    const world = await World.start();
    const instance = await world.activeInstance();
    const line = world.line(instance);
    line.goOffline();
    let respond = () => {};
    line.barrier = new Promise<void>((resolve) => {
      respond = resolve;
    });
    await world.system.advance(5_000); // a probe is running, and will return "offline"
    line.barrier = undefined;
    line.goOnline();
    respond();
    await world.system.settle();
    expect(await connectionOf(world, instance)).toMatchObject({ state: "online" });
    await world.stop();
  });
});

describe("a line that goes offline", () => {
  test("leaves its instance ACTIVE for thirty seconds, without dialling", async () => {
    const world = await World.start();
    const instance = await world.activeInstance();
    world.line(instance).goOffline();
    await world.system.settle();
    const call = await world.call(instance);
    await world.system.advance(29_999);
    expect(await connectionOf(world, instance)).toMatchObject({ status: "ACTIVE", state: "reconnecting" });
    expect(world.network.legs).toEqual([]);
    await world.system.advance(1);
    expect(await connectionOf(world, instance)).toMatchObject({ status: "CONFIGURED", state: "offline" });
    expect((await world.storedCall(call)).status).toBe("QUEUED");
    await world.stop();
  });

  test("dials the waiting call when it is online again", async () => {
    const world = await World.start();
    for (const ms of [10_000, 60_000]) {
      const instance = await world.activeInstance();
      world.line(instance).goOffline();
      await world.system.settle();
      const call = await world.call(instance);
      await world.system.advance(ms);
      world.line(instance).goOnline();
      await world.system.settle();
      expect(world.leg(call).live).toBe(true);
      expect(await connectionOf(world, instance)).toMatchObject({ status: "ACTIVE", state: "online" });
    }
    await world.stop();
  });

  test.each([true, false])("keeps a call only if its leg watches its own line: %s", async (watchesLine) => {
    const world = await World.start();
    const instance = await world.activeInstance();
    const call = await world.call(instance);
    const leg = world.leg(call);
    leg.watchesLine = watchesLine;
    leg.placed();
    await world.system.settle();
    world.line(instance).goOffline();
    await world.system.advance(9_000);
    world.line(instance).goOnline();
    await world.system.settle();
    expect([leg.live, (await world.storedCall(call)).status]).toEqual(
      watchesLine ? [true, "RINGING"] : [false, "FAILED"],
    );
    leg.end("line_lost", "the connection is gone");
    await world.system.settle();
    expect((await world.storedCall(call)).outcome?.reason).toBe("instance_lost");
    await world.stop();
  });

  test("causes no write if it flaps within the grace period", async () => {
    const world = await World.start();
    const instance = await world.activeInstance();
    const writes = () => world.storage.writes.filter((operation) => operation.startsWith("instances.")).length;
    const before = writes();
    world.line(instance).goOffline();
    await world.system.advance(20_000);
    world.line(instance).goOnline();
    await world.system.advance(60_000);
    expect(writes()).toBe(before);
    await world.stop();
  });

  test("keeps a call in its queue if it is being claimed", async () => {
    const world = await World.start();
    const instance = await world.activeInstance();
    const release = world.holdClaim();
    const call = await world.call(instance);
    world.line(instance).goOffline();
    release();
    await world.system.settle();
    expect(await world.storedCall(call)).toMatchObject({ status: "QUEUED", owner: null });
    expect(world.network.legs).toEqual([]);
    world.line(instance).goOnline();
    await world.system.settle();
    expect(world.network.legs).toHaveLength(1);
    await world.stop();
  });

  test("ends its call after a second, or when it returns without audio", async () => {
    const world = await World.start();
    for (const isBack of [false, true]) {
      const instance = await world.activeInstance();
      const { call, leg } = await world.answeredCall(instance, "x".repeat(1_000));
      await world.system.advance(2_000);
      leg.talkative = false;
      world.line(instance).goOffline();
      await world.system.advance(500);
      expect((await world.storedCall(call)).status).toBe("IN_PROGRESS");
      if (isBack) world.line(instance).goOnline();
      await world.system.advance(isBack ? 0 : 501);
      expect(await world.storedCall(call)).toMatchObject({ status: "FAILED", outcome: { reason: "instance_lost" } });
    }
    await world.stop();
  });

  test("ends its call 1 s after late frames", async () => {
    const world = await World.start();
    const instance = await world.activeInstance();
    const { call, leg } = await world.answeredCall(instance, "x".repeat(1_000));
    await world.system.advance(2_000);
    leg.talkative = false;
    world.line(instance).goOffline();
    leg.say(new Int16Array(160)); // one frame
    await world.system.advance(500);
    world.line(instance).goOnline();
    await world.system.advance(999);
    expect((await world.storedCall(call)).status).toBe("IN_PROGRESS");
    await world.system.advance(2);
    expect(await world.storedCall(call)).toMatchObject({ status: "FAILED", outcome: { reason: "instance_lost" } });
    await world.stop();
  });

  test("never ends a call with continuous audio", async () => {
    const world = await World.start();
    const instance = await world.activeInstance();
    const { call } = await world.answeredCall(instance, "x".repeat(200)); // 10 s
    await world.system.advance(1_000);
    world.line(instance).goOffline("the registration expired");
    await world.system.advance(5_000);
    world.line(instance).goOnline();
    await world.system.advance(6_000);
    expect((await world.storedCall(call)).outcome).toMatchObject({ reason: "message_played", heardMs: 10_000 });
    await world.stop();
  });
});

describe("a phone whose owner unlinks the device", () => {
  test("takes the instance back to CREATED, and a new code links it again", async () => {
    const world = await World.start();
    const instance = await world.activeInstance();
    world.line(instance).unlinkByOwner();
    await world.system.settle();
    expect(await connectionOf(world, instance)).toEqual({ status: "CREATED", state: "unlinked", phone: null });
    expect(await world.storage.instances.loadCredentials(instance.id)).toBeUndefined();
    await world.system.advance(60_000);
    expect(await connectionOf(world, instance)).toMatchObject({ status: "CREATED", state: "unlinked" });

    await world.app.instances.configure(ALICE, instance.id);
    await world.line(instance).scan("+12025550111");
    await world.system.settle();
    expect(await connectionOf(world, instance)).toEqual({ status: "ACTIVE", state: "online", phone: "+12025550111" });
    await world.stop();
  });

  test("stays unlinked although its link is being stored", async () => {
    const world = await World.start();
    const instance = await world.newInstance();
    await world.app.instances.configure(ALICE, instance.id);
    const line = world.line(instance);
    const link = line.scan("+12025550177");
    line.unlinkByOwner();
    await link;
    await world.system.advance(60_000);
    expect(await connectionOf(world, instance)).toEqual({ status: "CREATED", state: "unlinked", phone: null });
    expect(await world.storage.instances.loadCredentials(instance.id)).toBeUndefined();
    await world.stop();
  });

  test("leaves waiting calls in their queue, and ends the live one", async () => {
    const world = await World.start({ policy: { kind: "fifo", depth: 2 } });
    const instance = await world.activeInstance();
    const { call, leg } = await world.answeredCall(instance, "x".repeat(1_000));
    const queuedCall = await world.call(instance);
    leg.talkative = false;
    world.line(instance).unlinkByOwner();
    await world.system.advance(2_000);
    expect((await world.storedCall(call)).outcome).toMatchObject({ reason: "instance_lost" });
    expect((await world.storedCall(queuedCall)).status).toBe("QUEUED");
    expect(world.network.legs).toHaveLength(1);
    await world.stop();
  });

  test("stays unlinked although the line has just been found online", async () => {
    const world = await World.start();
    const instance = await world.activeInstance();
    const line = world.line(instance);
    line.goOffline();
    await world.system.advance(31_000); // CONFIGURED
    let release = () => {};
    world.storage.before = (operation) => {
      if (operation !== "instances.update") return;
      return new Promise<void>((resolve) => {
        release = resolve;
      });
    };
    line.goOnline(); // a write starts: ACTIVE
    await world.system.settle();
    line.unlinkByOwner();
    world.storage.before = () => {};
    release();
    await world.system.settle();
    expect(await connectionOf(world, instance)).toEqual({ status: "CREATED", state: "unlinked", phone: null });
    expect((await world.call(instance)).status).toBe("QUEUED");
    await world.system.advance(60_000);
    expect(world.network.legs).toEqual([]);
    expect(await connectionOf(world, instance)).toMatchObject({ status: "CREATED", state: "unlinked" });
    await world.stop();
  });
});

describe("a storage that is down", () => {
  test("does not lose a line's reports during the outage", async () => {
    const world = await World.start();
    const instance = await world.newInstance();
    await world.app.instances.configure(ALICE, instance.id);
    await world.line(instance).scan();
    world.storage.isDown = true;
    await world.system.advance(30_000);
    world.storage.isDown = false;
    await world.system.advance(10_000);
    expect(await connectionOf(world, instance)).toMatchObject({ status: "ACTIVE", state: "online" });
    expect(await instanceEvents(world)).toEqual(["instance.created", "instance.linked", "instance.active"]);
    await world.stop();
  });
});

describe("deleting an instance", () => {
  test("ends its call, unlinks the number, erases its credentials and stops probing", async () => {
    const world = await World.start();
    const instance = await world.activeInstance();
    const { call, leg } = await world.answeredCall(instance);
    const line = world.line(instance);
    await world.app.instances.delete(ALICE, instance.id);
    expect(await world.storedCall(call)).toMatchObject({ status: "FAILED", outcome: { reason: "instance_deleted" } });
    expect(leg.live).toBe(false);
    expect(line).toMatchObject({ linked: false, closed: true });
    expect(await world.storage.instances.loadCredentials(instance.id)).toBeUndefined();
    const { probes } = line;
    await world.system.advance(60_000);
    expect(line.probes).toBe(probes);
    await expect(world.app.instances.get(ALICE, instance.id)).rejects.toMatchObject({ code: "instance_not_found" });
    await expect(world.app.instances.delete(ALICE, instance.id)).rejects.toMatchObject({ code: "instance_not_found" });
    await expect(world.call(instance)).rejects.toMatchObject({ code: "instance_not_found" });
    expect(await world.app.calls.get(ALICE, call.id)).toMatchObject({ status: "FAILED" });
    expect(await world.app.instances.list(ALICE)).toEqual([]);
    await world.stop();
    expect(world.system.waiting).toBe(0);
  });

  test("erases its credentials although unlinking fails", async () => {
    const world = await World.start();
    const instance = await world.activeInstance();
    world.line(instance).unlink = async () => {
      throw new Error("the network is gone");
    };
    await world.app.instances.delete(ALICE, instance.id);
    expect(await world.storage.instances.loadCredentials(instance.id)).toBeUndefined();
    expect(world.line(instance).closed).toBe(true);
    await world.stop();
  });

  test("concurrently with another request refuses one of them", async () => {
    const world = await World.start();
    const instance = await world.activeInstance();
    const results = await Promise.allSettled([
      world.app.instances.delete(ALICE, instance.id),
      world.app.instances.delete(ALICE, instance.id),
    ]);
    expect(results.filter((result) => result.status === "fulfilled")).toHaveLength(1);
    await world.stop();
  });

  test("leaves no line if the instance is being configured", async () => {
    const world = await World.start();
    const instance = await world.newInstance();
    let release = () => {};
    const { open } = world.network;
    world.network.open = async (...args) => {
      await new Promise<void>((resolve) => {
        release = resolve;
      });
      return open.apply(world.network, args);
    };
    const configuration = Promise.allSettled([world.app.instances.configure(ALICE, instance.id)]);
    await world.system.settle();
    const deletion = world.app.instances.delete(ALICE, instance.id);
    await world.system.settle();
    release();
    await deletion;
    await world.system.advance(20_000);
    const [result] = await configuration;
    expect(result?.status).toBe("rejected");
    expect(world.line(instance).closed).toBe(true);
    await world.stop();
    expect(world.system.waiting).toBe(0);
  });
});

test("another server's instance is shown as offline", async () => {
  const world = await World.start();
  const activeInstance = await world.activeInstance();
  const foreignInstance = {
    ...activeInstance,
    id: world.context.ids("inst"),
    status: "ACTIVE",
    phone: "+12025550188",
  } as const;
  await world.storage.instances.insert(foreignInstance, []);
  expect((await world.app.instances.get(ALICE, foreignInstance.id)).connection).toMatchObject({
    state: "offline",
    reason: "the line is not open",
  });
  await world.stop();
});

describe("a start", () => {
  test("opens the lines with waiting calls first, by the age of the oldest call", async () => {
    const world = await World.start();
    const instances: Instance[] = [];
    for (let index = 0; index < 5; index++) instances.push(await world.activeInstance());
    const [first, second, third, fourth, fifth] = instances.map(({ id }) => id);
    for (const index of [3, 1]) {
      world.line(instances[index]!).goOffline("no route");
      await world.call(instances[index]!);
    }
    const openedIds: string[] = [];
    const open = world.network.open.bind(world.network);
    world.network.open = (instance, ...rest) => {
      openedIds.push(instance.id);
      return open(instance, ...rest);
    };
    const restartedWorld = await world.crashAndRestart({ network: world.network });
    expect(openedIds).toEqual([fourth, second, first, third, fifth]);
    await restartedWorld.stop();
  });

  test("is not delayed by one number's long queue", async () => {
    const world = await World.start({ policy: { kind: "fifo", depth: 600 } });
    const instances: Instance[] = [];
    for (let index = 0; index < 3; index++) instances.push(await world.activeInstance());
    const [idleInstance, shortInstance, longInstance] = instances as [Instance, Instance, Instance];
    for (const instance of [longInstance, shortInstance]) world.line(instance).goOffline("no route");
    for (let count = 0; count < 501; count++) await world.create(longInstance);
    await world.create(shortInstance);
    const openedIds: string[] = [];
    const open = world.network.open.bind(world.network);
    world.network.open = (instance, ...rest) => {
      openedIds.push(instance.id);
      return open(instance, ...rest);
    };
    const restartedWorld = await world.crashAndRestart({ network: world.network });
    expect(openedIds).toEqual([longInstance.id, shortInstance.id, idleInstance.id]);
    await restartedWorld.stop();
  });
});
