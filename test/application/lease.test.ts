import { describe, expect, test } from "vitest";
import { LeaseLost } from "../../src/ports/storage.ts";
import { ManualSystem } from "../../src/testing/manual-system.ts";
import { ALICE, World } from "../support/application.ts";
import { LeasedDatabase, type LeasedStorage } from "../support/leased-storage.ts";
import { memoryStorage } from "../support/memory-storage.ts";

const LONG_TEXT = "x".repeat(2_000);

/** A process on a database with a lease. */
async function leasedScene(): Promise<{ world: World; database: LeasedDatabase; storage: LeasedStorage }> {
  const system = new ManualSystem();
  const database = new LeasedDatabase(system, memoryStorage());
  const storage = database.storage();
  return { world: await World.start({ system, storage }), database, storage };
}

describe("a lease", () => {
  test("is renewed every 2 s, so calls continue", async () => {
    const { world, database } = await leasedScene();
    const { call } = await world.answeredCall(await world.activeInstance(), LONG_TEXT);
    await world.system.advance(60_000);
    expect((await world.storedCall(call)).status).toBe("IN_PROGRESS");
    expect(database.remainingMs).toBeGreaterThan(7_000);
    await world.stop();
  });

  test("is no longer renewed after a stop", async () => {
    const { world, database } = await leasedScene();
    await world.stop();
    expect(database.remainingMs).toBe(0);
    expect(world.system.waiting, "no timer is left").toBe(0);
  });

  test("is measured from when its renewal is sent, however late the response", async () => {
    const { world, storage } = await leasedScene();
    const instance = await world.activeInstance();
    let respond = () => {};
    storage.holdRenewals = new Promise<void>((resolve) => {
      respond = resolve;
    });
    await world.system.advance(2_000);
    storage.holdRenewals = new Promise(() => {});
    await world.system.advance(3_500);
    respond();
    await world.system.advance(2_600); // 6.1 s after it was sent, 2.6 s after the response
    await world.call(instance);
    expect(world.network.legs).toEqual([]);
    await world.stop();
  });

  test("expires despite a renewal sent before SIGSTOP", async () => {
    const { world, storage } = await leasedScene();
    const { leg } = await world.answeredCall(await world.activeInstance(), LONG_TEXT);
    let respond = () => {};
    storage.holdRenewals = new Promise<void>((resolve) => {
      respond = resolve;
    });
    await world.system.advance(2_000);
    world.system.stall(20_000);
    respond();
    await world.system.settle();
    expect(leg.hangUps).toBeGreaterThan(0);
    await world.stop();
  });
});

describe("a process that cannot renew its lease", () => {
  test("dials no callee after 6 s, and claims no call", async () => {
    const { world, storage } = await leasedScene();
    const instance = await world.activeInstance();
    await world.system.advance(2_000 - (world.system.monotonic() % 2_000));
    storage.holdRenewals = new Promise(() => {});
    await world.system.advance(5_900);
    const dialledCall = await world.call(instance);
    expect(world.network.legs).toHaveLength(1);
    world.leg(dialledCall).end("busy");
    await world.system.advance(200);
    const claims = () => world.storage.operations.filter((operation) => operation === "calls.claimNext").length;
    const before = claims();
    const queuedCall = await world.call(instance);
    await world.system.advance(1_000);
    expect([world.network.legs.length, claims() - before]).toEqual([1, 0]);
    expect(await world.storedCall(queuedCall)).toMatchObject({ status: "QUEUED", owner: null, dialingAt: null });
    await world.stop();
  });

  test("dials no callee after a stop between the claim and the dial", async () => {
    const { world, storage } = await leasedScene();
    await world.storage.accounts.ensureUser({ id: ALICE.userId, name: "alice", createdAt: 0 });
    const instance = await world.activeInstance();
    world.network.users = "first"; // looked up before the dial
    let release = () => {};
    world.storage.before = (operation) =>
      operation === "accounts.users" ? new Promise<void>((resolve) => (release = resolve)) : undefined;
    await world.call(instance);
    storage.holdRenewals = new Promise(() => {});
    world.system.stall(7_000);
    release();
    await world.system.settle();
    expect(world.network.legs).toEqual([]);
    await world.stop();
  });

  test("dials the waiting calls once the lease is renewed", async () => {
    const { world, storage } = await leasedScene();
    const instance = await world.activeInstance();
    storage.isUnreachable = true;
    await world.system.advance(7_500);
    storage.isUnreachable = false;
    const call = await world.create(instance);
    expect(world.network.legs).toHaveLength(0);
    await world.system.advance(2_000);
    expect(world.leg(call).callId).toBe(call.id);
    await world.stop();
  });

  test("hangs up all calls and closes all lines before another server may take over", async () => {
    const { world, storage, database } = await leasedScene();
    const { leg } = await world.answeredCall(await world.activeInstance(), LONG_TEXT);
    storage.isUnreachable = true;
    await world.system.advance(7_000);
    expect(leg.hangUps, "a shorter outage ends nothing").toBe(0);
    while (leg.hangUps === 0) await world.system.advance(20);
    expect(database.remainingMs).toBeGreaterThan(500);
    await world.system.advance(20);
    expect(world.network.lines.map((line) => line.closed)).toEqual([true]);
    expect(database.remainingMs).toBeGreaterThan(500);
    await world.stop();
  });

  test("stores the ends of its calls if the database returns before a takeover", async () => {
    const { world, storage } = await leasedScene();
    const { call } = await world.answeredCall(await world.activeInstance(), LONG_TEXT);
    storage.isUnreachable = true;
    await world.system.advance(11_000);
    storage.isUnreachable = false;
    await world.stop();
    expect(await world.storedCall(call)).toMatchObject({ status: "FAILED", outcome: { reason: "interrupted" } });
  });
});

describe("a process whose database another one has taken", () => {
  /** The lease has expired unnoticed, and another server has it. */
  async function lostLeaseScene() {
    const scene = await leasedScene();
    const { world, database, storage } = scene;
    const instance = await world.activeInstance();
    const { call, leg } = await world.answeredCall(instance, LONG_TEXT);
    database.release(database.epoch);
    const otherStorage = database.storage();
    await otherStorage.open({ exclusive: true });
    return { ...scene, instance, call, leg, otherStorage, storage };
  }

  test("hangs up at the first refused write, which is not repeated", async () => {
    const { world, leg } = await lostLeaseScene();
    const operationCount = world.storage.operations.length;
    leg.press("5");
    await world.system.settle();
    expect(leg.hangUps).toBeGreaterThan(0);
    const refusedMethods: string[] = [];
    world.storage.before = (operation) => void refusedMethods.push(operation);
    await world.system.advance(30_000);
    expect(refusedMethods.filter((operation) => /update|append/.test(operation))).toEqual([]);
    expect(world.storage.operations.slice(operationCount).filter((operation) => /update/.test(operation))).toEqual([]);
    await world.stop();
  });

  test("hangs up at its renewal if it has no writes", async () => {
    const { world, leg, call } = await lostLeaseScene();
    await world.system.advance(2_000);
    expect(leg.hangUps).toBeGreaterThan(0);
    await world.stop();
    expect((await world.storedCall(call)).status, "the new owner settles the call").toBe("IN_PROGRESS");
  });

  test("stops at once, although no record can be stored", async () => {
    const { world } = await lostLeaseScene();
    await world.system.advance(2_000);
    const startedAt = world.system.monotonic();
    let stoppedAt = 0;
    void world.app.stop(10_000).then(() => {
      stoppedAt = world.system.monotonic();
    });
    await world.system.settle();
    expect(stoppedAt).toBe(startedAt);
  });

  test("repeats no refused write, even if its own lease had already expired", async () => {
    const { world, storage, database } = await leasedScene();
    await world.answeredCall(await world.activeInstance(), LONG_TEXT);
    storage.isUnreachable = true;
    await world.system.advance(10_100);
    await database.storage().open({ exclusive: true });
    const attempts: string[] = [];
    world.storage.before = (operation) => void attempts.push(operation);
    storage.isUnreachable = false;
    await world.system.advance(20_000);
    const writes = attempts.filter((operation) => operation === "calls.update" || operation === "events.append");
    expect(writes).toHaveLength(1);
    await world.stop();
  });

  test("stops using the database after its stop", async () => {
    const { world, instance } = await lostLeaseScene();
    await world.system.advance(2_000);
    await world.stop();
    const operationCount = world.storage.operations.length;
    await expect(world.app.instances.get(ALICE, instance.id)).rejects.toThrow("this application has stopped");
    await world.system.advance(60_000);
    expect(world.storage.operations.length).toBe(operationCount);
  });
});

describe("a database without a lease", () => {
  test("is checked every second; a server that lost it ends its calls", async () => {
    const storage = memoryStorage();
    let isLost = false;
    Object.defineProperty(storage, "verifyOwner", {
      value: async () => {
        if (isLost) throw new LeaseLost("another server has taken over the database");
      },
    });
    const world = await World.start({ storage });
    const { call, leg } = await world.answeredCall(await world.activeInstance(), LONG_TEXT);
    await world.system.advance(10_000);
    expect((await world.storedCall(call)).status).toBe("IN_PROGRESS");
    isLost = true;
    await world.system.advance(1_000);
    expect(leg.hangUps).toBeGreaterThan(0);
    await world.stop();
    expect(world.system.waiting).toBe(0);
  });
});
