import { describe, expect, test } from "vitest";
import { recover } from "../../../src/application/calls/recovery.ts";
import type { Call } from "../../../src/domain/calls/call.ts";
import { DialError } from "../../../src/ports/telephony.ts";
import { ALICE, World } from "../../support/application.ts";

const INTERRUPTED_CALL = { status: "FAILED", outcome: { reason: "interrupted", heardMs: null, heardRatio: null } };

describe("after a crash", () => {
  test("a linked instance is CONFIGURED until a probe, then ACTIVE without a QR code", async () => {
    const world = await World.start();
    const instance = await world.activeInstance();
    const restartedWorld = new World({ before: world });
    await restartedWorld.storage.open({ exclusive: true });
    let release = () => {};
    const { open } = restartedWorld.network;
    restartedWorld.network.open = async (...args) => {
      const line = await open.apply(restartedWorld.network, args);
      line.barrier = new Promise<void>((resolve) => {
        release = resolve;
      });
      return line;
    };
    const writeCount = restartedWorld.storage.writes.length;
    await restartedWorld.app.start();
    await restartedWorld.system.settle();
    const instanceView = async () => {
      const { status, connection } = await restartedWorld.app.instances.get(ALICE, instance.id);
      const [listedInstance] = await restartedWorld.app.instances.list(ALICE);
      expect(listedInstance?.status).toBe(status);
      return [status, connection.state];
    };
    expect(await instanceView()).toEqual(["CONFIGURED", "connecting"]);
    release();
    await restartedWorld.system.settle();
    expect(await instanceView()).toEqual(["ACTIVE", "online"]);
    const storedInstance = await restartedWorld.storage.instances.get(instance.id);
    expect(storedInstance).toEqual(await world.storage.instances.get(instance.id));
    const otherWrites = restartedWorld.storage.writes
      .slice(writeCount)
      .filter((operation) => !/abandonUnfinished|claimNext|purge/.test(operation));
    expect(otherWrites).toEqual([]);
    await restartedWorld.stop();
  });

  test("a linked instance with a silent network is offline after the grace period", async () => {
    const world = await World.start();
    const instance = await world.activeInstance();
    const restartedWorld = new World({ before: world });
    await restartedWorld.storage.open({ exclusive: true });
    const { open } = restartedWorld.network;
    restartedWorld.network.open = async (...args) => {
      const line = await open.apply(restartedWorld.network, args);
      line.barrier = new Promise<void>(() => {});
      return line;
    };
    await restartedWorld.app.start();
    await restartedWorld.system.advance(60_000);
    const { status, connection } = await restartedWorld.app.instances.get(ALICE, instance.id);
    expect([status, connection.state]).toEqual(["CONFIGURED", "offline"]);
    expect((await restartedWorld.storage.instances.get(instance.id))?.status).toBe("CONFIGURED");
  });

  test("live calls are interrupted, and their end is reported once", async () => {
    const world = await World.start();
    const ringingCall = await world.call(await world.activeInstance());
    world.leg(ringingCall).placed();
    const { call: answeredCall } = await world.answeredCall(await world.activeInstance(), "x".repeat(1_000));
    await world.system.advance(3_000);
    const restartedWorld = await world.crashAndRestart();
    for (const call of [ringingCall, answeredCall]) {
      const endedCall = await restartedWorld.storedCall(call);
      expect(endedCall).toMatchObject({ ...INTERRUPTED_CALL, endedAt: restartedWorld.system.now() });
      const eventTypes = await restartedWorld.eventTypes(call);
      expect(eventTypes.at(-1)).toBe("failed");
      expect(eventTypes.filter((type) => type === "failed" || type === "completed")).toHaveLength(1);
    }
    expect((await restartedWorld.storedCall(answeredCall)).outcome).toMatchObject({
      answeredBy: "unknown",
      durationMs: 4_000,
    });
    expect((await restartedWorld.storedCall(ringingCall)).outcome).toMatchObject({ answeredBy: null, durationMs: 0 });
    await restartedWorld.stop();
  });

  test("a call whose phone may have rung is interrupted and not dialled again", async () => {
    const world = await World.start();
    const call = await world.call(await world.activeInstance());
    expect(await world.storedCall(call)).toMatchObject({ status: "QUEUED", dialingAt: world.system.now() });
    const restartedWorld = await world.crashAndRestart();
    await restartedWorld.system.advance(5_000);
    expect(await restartedWorld.storedCall(call)).toMatchObject(INTERRUPTED_CALL);
    expect((await restartedWorld.storedCall(call)).outcome?.detail).toMatch(/phone may have rung/);
    expect(restartedWorld.network.legs).toEqual([]);
    await restartedWorld.stop();
  });

  test("calls that returned to the queue before the network was asked are dialled", async () => {
    const world = await World.start();
    world.network.onDial = () => {
      throw new DialError("line_lost", "the trunk is full", { retryAfterMs: 60_000 });
    };
    const call = await world.call(await world.activeInstance());
    expect(await world.storedCall(call)).toMatchObject({ status: "QUEUED", owner: null, dialingAt: null });
    const restartedWorld = await world.crashAndRestart();
    restartedWorld.leg(call).placed();
    restartedWorld.leg(call).answer();
    await restartedWorld.system.advance(5_000);
    expect((await restartedWorld.storedCall(call)).status).toBe("COMPLETED");
    await restartedWorld.stop();
  });

  test("waiting calls continue in their order", async () => {
    const world = await World.start({ policy: { kind: "fifo", depth: 5 } });
    const instance = await world.activeInstance();
    const calls = [];
    for (let i = 0; i < 3; i++) {
      calls.push(await world.call(instance));
      await world.system.advance(5);
    }
    world.leg().placed();
    await world.system.settle();
    const restartedWorld = await world.crashAndRestart();
    expect(await restartedWorld.storedCall(calls[0]!)).toMatchObject(INTERRUPTED_CALL);
    expect(restartedWorld.leg().callId).toBe(calls[1]!.id);
    restartedWorld.leg().end("busy");
    await restartedWorld.system.settle();
    expect(restartedWorld.leg().callId).toBe(calls[2]!.id);
    await restartedWorld.stop();
  });

  test("a call that expired during the downtime fails", async () => {
    const world = await World.start();
    const call = await world.call(await world.newInstance());
    await world.system.advance(599_500);
    const restartedWorld = await world.crashAndRestart(); // a second later
    await restartedWorld.system.advance(1);
    expect((await restartedWorld.storedCall(call)).outcome).toMatchObject({ reason: "instance_not_linked" });
    await restartedWorld.stop();
  });

  test("recovering twice has no further effect", async () => {
    const world = await World.start();
    const instance = await world.newInstance();
    const { call } = await world.answeredCall(await world.activeInstance());
    const queuedCall = await world.call(instance);
    const restartedWorld = new World({ before: world });
    await recover(restartedWorld.context);
    const firstResult = [
      await restartedWorld.storedCall(call),
      await restartedWorld.storedCall(queuedCall),
      await restartedWorld.timeline(call),
    ];
    await recover(restartedWorld.context);
    expect([
      await restartedWorld.storedCall(call),
      await restartedWorld.storedCall(queuedCall),
      await restartedWorld.timeline(call),
    ]).toEqual(firstResult);
  });

  test("an interrupted deletion leaves no call waiting for its instance", async () => {
    const world = await World.start();
    const instance = await world.newInstance();
    let lateCall: Call | undefined;
    const neverSettles = new Promise<never>(() => {});
    world.storage.before = async (operation) => {
      if (operation === "calls.active" && lateCall) return neverSettles; // the process dies here
      if (operation === "instances.update" && !lateCall) lateCall = await world.create(instance);
    };
    void world.app.instances.delete(ALICE, instance.id);
    await world.system.settle();
    world.storage.before = () => {};
    expect(await world.storage.instances.get(instance.id)).toMatchObject({ status: "DELETED" });
    expect(await world.storedCall(lateCall!)).toMatchObject({ status: "QUEUED" });

    const restartedWorld = await world.crashAndRestart();
    expect(await restartedWorld.storedCall(lateCall!)).toMatchObject({
      status: "FAILED",
      outcome: { reason: "instance_deleted" },
    });
    expect(await restartedWorld.eventTypes(lateCall!)).toEqual(["queued", "failed"]);
    await restartedWorld.stop();
  });

  test("a finished call stays unchanged", async () => {
    const world = await World.start();
    const { call } = await world.answeredCall(await world.activeInstance());
    await world.system.advance(5_000);
    const endedCall = await world.storedCall(call);
    expect(endedCall.status).toBe("COMPLETED");
    const restartedWorld = await world.crashAndRestart();
    expect(await restartedWorld.storedCall(call)).toEqual(endedCall);
    await restartedWorld.stop();
  });
});

describe("stopping", () => {
  test("lets a live call finish within the drain time, and dials no new call", async () => {
    const world = await World.start({ policy: { kind: "fifo", depth: 2 } });
    const instance = await world.activeInstance();
    const { call } = await world.answeredCall(instance, "x".repeat(40)); // 2 s
    const next = await world.call(instance);
    const stop = world.app.stop(10_000);
    await world.system.advance(5_000);
    await stop;
    expect((await world.storedCall(call)).outcome?.reason).toBe("message_played");
    expect((await world.storedCall(next)).status).toBe("QUEUED");
    expect(world.network.legs).toHaveLength(1);
    expect(world.system.waiting).toBe(0);
  });

  test("interrupts calls still live after the drain time, and hangs up", async () => {
    const world = await World.start();
    const { leg } = await world.answeredCall(await world.activeInstance(), "x".repeat(1_000));
    await world.stop(3_000);
    expect(world.context.counters.outcomes).toEqual(new Map([["FAILED/interrupted", 1]]));
    expect(leg.live).toBe(false);
    expect(leg.heard.length / 8).toBeGreaterThanOrEqual(3_000);
    expect(world.system.waiting).toBe(0);
  });

  test("does not wait without live calls, and leaves no timer", async () => {
    const world = await World.start();
    await world.activeInstance();
    const { call } = await world.answeredCall(await world.activeInstance());
    await world.system.advance(5_000);
    expect((await world.storedCall(call)).status).toBe("COMPLETED");
    await world.app.stop(10_000); // the clock does not move
    expect(world.system.waiting).toBe(0);
  });

  test("while a call is being claimed dials no callee and returns the claim", async () => {
    const world = await World.start();
    const instance = await world.activeInstance();
    const release = world.holdClaim();
    const call = await world.call(instance);
    const stop = world.app.stop(1_000);
    await world.system.settle();
    release();
    await world.system.advance(5_000);
    await stop;
    expect(world.network.legs).toEqual([]);
    expect(await world.storedCall(call)).toMatchObject({ status: "QUEUED", owner: null });
  });

  test("drains live calls while a claim in the database hangs", async () => {
    const world = await World.start();
    const { call } = await world.answeredCall(await world.activeInstance(), "x".repeat(1_000));
    const release = world.holdClaim();
    await world.call(await world.activeInstance());
    const stop = world.app.stop(3_000);
    await world.system.advance(3_100);
    expect(world.leg(call).live).toBe(false);
    release();
    await world.system.advance(1_000);
    await stop;
  });

  test("waits at most five seconds for a leg that does not end", async () => {
    const world = await World.start();
    const { leg } = await world.answeredCall(await world.activeInstance());
    leg.stubborn = true;
    let isStopped = false;
    const stop = world.app.stop(0).then(() => {
      isStopped = true;
    });
    await world.system.advance(4_999);
    expect(isStopped).toBe(false);
    await world.system.advance(1);
    await stop;
    expect(world.system.waiting).toBe(0);
  });

  test("keeps linked numbers linked", async () => {
    const world = await World.start();
    const instance = await world.activeInstance();
    const line = world.line(instance);
    await world.app.stop(0);
    expect(line).toMatchObject({ closed: true, linked: true });
    expect(await world.storage.instances.get(instance.id)).toMatchObject({ status: "ACTIVE" });
  });

  test("ignores reports from a closed line", async () => {
    const world = await World.start();
    const instance = await world.activeInstance();
    const line = world.line(instance);
    await world.app.stop(0);
    const writes = world.storage.writes.length;
    line.goOffline();
    line.unlinkByOwner();
    line.goOnline();
    await world.system.advance(60_000);
    expect(world.storage.writes.length).toBe(writes);
    expect(world.system.waiting).toBe(0);
  });
});
