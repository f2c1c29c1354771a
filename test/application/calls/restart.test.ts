import { describe, expect, test } from "vitest";
import { recover } from "../../../src/application/calls/recovery.ts";
import type { Call } from "../../../src/domain/calls/call.ts";
import { DialError } from "../../../src/ports/telephony.ts";
import { ALICE, World } from "../../support/application.ts";

const INTERRUPTED = { status: "FAILED", outcome: { reason: "interrupted", heardMs: null, heardRatio: null } };

describe("after a crash", () => {
  test("a linked instance is CONFIGURED until a probe, then ACTIVE without a QR code", async () => {
    const before = await World.start();
    const instance = await before.activeInstance();
    const after = new World({ before });
    await after.storage.open({ exclusive: true });
    let release = () => {};
    const { open } = after.network;
    after.network.open = async (...args) => {
      const line = await open.apply(after.network, args);
      line.barrier = new Promise<void>((resolve) => {
        release = resolve;
      });
      return line;
    };
    const writeCount = after.storage.writes.length;
    await after.app.start();
    await after.system.settle();
    const instanceView = async () => {
      const { status, connection } = await after.app.instances.get(ALICE, instance.id);
      const [listedInstance] = await after.app.instances.list(ALICE);
      expect(listedInstance?.status).toBe(status);
      return [status, connection.state];
    };
    expect(await instanceView()).toEqual(["CONFIGURED", "connecting"]);
    release();
    await after.system.settle();
    expect(await instanceView()).toEqual(["ACTIVE", "online"]);
    const storedInstance = await after.storage.instances.get(instance.id);
    expect(storedInstance).toEqual(await before.storage.instances.get(instance.id));
    const otherWrites = after.storage.writes
      .slice(writeCount)
      .filter((operation) => !/abandonUnfinished|claimNext|purge/.test(operation));
    expect(otherWrites).toEqual([]);
    await after.stop();
  });

  test("a linked instance with a silent network is offline after the grace period", async () => {
    const before = await World.start();
    const instance = await before.activeInstance();
    const after = new World({ before });
    await after.storage.open({ exclusive: true });
    const { open } = after.network;
    after.network.open = async (...args) => {
      const line = await open.apply(after.network, args);
      line.barrier = new Promise<void>(() => {});
      return line;
    };
    await after.app.start();
    await after.system.advance(60_000);
    const { status, connection } = await after.app.instances.get(ALICE, instance.id);
    expect([status, connection.state]).toEqual(["CONFIGURED", "offline"]);
    expect((await after.storage.instances.get(instance.id))?.status).toBe("CONFIGURED");
  });

  test("live calls are interrupted, and their end is reported once", async () => {
    const before = await World.start();
    const ringingCall = await before.call(await before.activeInstance());
    before.leg(ringingCall).placed();
    const { call: answeredCall } = await before.answeredCall(await before.activeInstance(), "x".repeat(1_000));
    await before.system.advance(3_000);
    const after = await before.crashAndRestart();
    for (const call of [ringingCall, answeredCall]) {
      const endedCall = await after.storedCall(call);
      expect(endedCall).toMatchObject({ ...INTERRUPTED, endedAt: after.system.now() });
      const eventTypes = await after.eventTypes(call);
      expect(eventTypes.at(-1)).toBe("failed");
      expect(eventTypes.filter((type) => type === "failed" || type === "completed")).toHaveLength(1);
    }
    expect((await after.storedCall(answeredCall)).outcome).toMatchObject({ answeredBy: "unknown", durationMs: 4_000 });
    expect((await after.storedCall(ringingCall)).outcome).toMatchObject({ answeredBy: null, durationMs: 0 });
    await after.stop();
  });

  test("a call whose phone may have rung is interrupted and not dialled again", async () => {
    const before = await World.start();
    const call = await before.call(await before.activeInstance());
    expect(await before.storedCall(call)).toMatchObject({ status: "QUEUED", dialingAt: before.system.now() });
    const after = await before.crashAndRestart();
    await after.system.advance(5_000);
    expect(await after.storedCall(call)).toMatchObject(INTERRUPTED);
    expect((await after.storedCall(call)).outcome?.detail).toMatch(/phone may have rung/);
    expect(after.network.legs).toEqual([]);
    await after.stop();
  });

  test("calls that returned to the queue before the network was asked are dialled", async () => {
    const before = await World.start();
    before.network.onDial = () => {
      throw new DialError("line_lost", "the trunk is full", { retryAfterMs: 60_000 });
    };
    const call = await before.call(await before.activeInstance());
    expect(await before.storedCall(call)).toMatchObject({ status: "QUEUED", owner: null, dialingAt: null });
    const after = await before.crashAndRestart();
    after.leg(call).placed();
    after.leg(call).answer();
    await after.system.advance(5_000);
    expect((await after.storedCall(call)).status).toBe("COMPLETED");
    await after.stop();
  });

  test("waiting calls continue in their order", async () => {
    const before = await World.start({ policy: { kind: "fifo", depth: 5 } });
    const instance = await before.activeInstance();
    const calls = [];
    for (let i = 0; i < 3; i++) {
      calls.push(await before.call(instance));
      await before.system.advance(5);
    }
    before.leg().placed();
    await before.system.settle();
    const after = await before.crashAndRestart();
    expect(await after.storedCall(calls[0]!)).toMatchObject(INTERRUPTED);
    expect(after.leg().callId).toBe(calls[1]!.id);
    after.leg().end("busy");
    await after.system.settle();
    expect(after.leg().callId).toBe(calls[2]!.id);
    await after.stop();
  });

  test("a call that expired during the downtime fails", async () => {
    const before = await World.start();
    const call = await before.call(await before.newInstance());
    await before.system.advance(599_500);
    const after = await before.crashAndRestart(); // a second later
    await after.system.advance(1);
    expect((await after.storedCall(call)).outcome).toMatchObject({ reason: "instance_not_linked" });
    await after.stop();
  });

  test("recovering twice has no further effect", async () => {
    const before = await World.start();
    const instance = await before.newInstance();
    const { call } = await before.answeredCall(await before.activeInstance());
    const queuedCall = await before.call(instance);
    const after = new World({ before });
    await recover(after.context);
    const firstResult = [await after.storedCall(call), await after.storedCall(queuedCall), await after.timeline(call)];
    await recover(after.context);
    expect([await after.storedCall(call), await after.storedCall(queuedCall), await after.timeline(call)]).toEqual(
      firstResult,
    );
  });

  test("an interrupted deletion leaves no call waiting for its instance", async () => {
    const before = await World.start();
    const instance = await before.newInstance();
    let lateCall: Call | undefined;
    const never = new Promise<never>(() => {});
    before.storage.before = async (operation) => {
      if (operation === "calls.active" && lateCall) return never; // the process dies here
      if (operation === "instances.update" && !lateCall) lateCall = await before.create(instance);
    };
    void before.app.instances.delete(ALICE, instance.id);
    await before.system.settle();
    before.storage.before = () => {};
    expect(await before.storage.instances.get(instance.id)).toMatchObject({ status: "DELETED" });
    expect(await before.storedCall(lateCall!)).toMatchObject({ status: "QUEUED" });

    const after = await before.crashAndRestart();
    expect(await after.storedCall(lateCall!)).toMatchObject({
      status: "FAILED",
      outcome: { reason: "instance_deleted" },
    });
    expect(await after.eventTypes(lateCall!)).toEqual(["queued", "failed"]);
    await after.stop();
  });

  test("a finished call stays unchanged", async () => {
    const before = await World.start();
    const { call } = await before.answeredCall(await before.activeInstance());
    await before.system.advance(5_000);
    const endedCall = await before.storedCall(call);
    expect(endedCall.status).toBe("COMPLETED");
    const after = await before.crashAndRestart();
    expect(await after.storedCall(call)).toEqual(endedCall);
    await after.stop();
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

  test("ignores reports of a closed line", async () => {
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
