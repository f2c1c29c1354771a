import { describe, expect, test } from "vitest";
import type { Call } from "../../../src/domain/calls/call.ts";
import { ALICE, World } from "../../support/application.ts";

const TERMINATED = { status: "FAILED", outcome: { reason: "terminated" } };

/** Requests the end of the call; returns the response. */
async function requestEnd(world: World, call: Call): Promise<string> {
  return world.app.calls.hangUp(ALICE, call.id).then(
    () => "ended",
    (error: { code: string }) => error.code,
  );
}

describe("ending a live call that cannot be stored", () => {
  test("hangs up at once and is refused after 5 s without the storage", async () => {
    const world = await World.start();
    const { call, leg } = await world.answeredCall(await world.activeInstance(), "x".repeat(400));
    world.storage.isDown = true;
    const response = requestEnd(world, call);
    await world.system.settle();
    expect(leg.live).toBe(false);
    await world.system.advance(5_000);
    expect(await response).toBe("storage_unavailable");
    world.storage.isDown = false;
    await world.system.advance(5_000);
    expect(await world.storedCall(call)).toMatchObject(TERMINATED);
    await world.stop();
  });

  test("succeeds on a repeat once the end is stored; the next gets 404", async () => {
    const world = await World.start();
    const { call } = await world.answeredCall(await world.activeInstance(), "x".repeat(400));
    world.storage.isFull = true;
    const first = requestEnd(world, call);
    await world.system.advance(5_000);
    const second = requestEnd(world, call);
    await world.system.advance(5_000);
    expect([await first, await second]).toEqual(["storage_unavailable", "storage_unavailable"]);
    world.storage.isFull = false;
    await world.system.advance(6_000);
    expect(await requestEnd(world, call)).toBe("ended");
    expect(await requestEnd(world, call)).toBe("call_not_found");
    await world.stop();
  });

  test("reports success to one of many requests", async () => {
    const world = await World.start();
    const { call } = await world.answeredCall(await world.activeInstance(), "x".repeat(400));
    world.storage.isFull = true;
    const responses = Promise.all(Array.from({ length: 10 }, () => requestEnd(world, call)));
    await world.system.advance(1_000);
    world.storage.isFull = false;
    await world.system.advance(2_000);
    expect((await responses).filter((response) => response === "ended")).toHaveLength(1);
    expect((await responses).filter((response) => response === "call_not_found")).toHaveLength(9);
    await world.stop();
  });

  test("is refused as not found if the callee hangs up first", async () => {
    const world = await World.start();
    const { call, leg } = await world.answeredCall(await world.activeInstance(), "x".repeat(400));
    world.storage.isFull = true;
    leg.end("callee_hung_up");
    await world.system.settle();
    const earlyResponse = requestEnd(world, call);
    await world.system.advance(5_000);
    expect(await earlyResponse).toBe("storage_unavailable");
    world.storage.isFull = false;
    await world.system.advance(6_000);
    expect(await requestEnd(world, call)).toBe("call_not_found");
    expect((await world.storedCall(call)).outcome?.reason).toBe("callee_hung_up");
    await world.stop();
  });
});

describe("ending a waiting call that cannot be stored", () => {
  test("keeps it from being dialled, and stores its end as soon as it can", async () => {
    const world = await World.start();
    const instance = await world.activeInstance();
    world.line(instance).goOffline("gone");
    const call = await world.call(instance);
    world.storage.isFull = true;
    const first = requestEnd(world, call);
    await world.system.advance(5_000);
    expect(await first).toBe("storage_unavailable");
    world.line(instance).goOnline();
    await world.system.advance(3_000);
    world.storage.isFull = false;
    await world.system.advance(10_000);
    expect(world.network.legs).toEqual([]);
    expect(await world.storedCall(call)).toMatchObject(TERMINATED);
    expect(await requestEnd(world, call)).toBe("ended");
    expect(await requestEnd(world, call)).toBe("call_not_found");
    const next = await world.call(instance);
    expect(world.leg(next).live).toBe(true);
    await world.stop();
  });

  test("during the claim prevents the dial", async () => {
    const world = await World.start();
    const instance = await world.activeInstance();
    const release = world.holdClaim();
    const call = await world.call(instance);
    const response = requestEnd(world, call);
    await world.system.settle();
    release();
    await world.system.advance(1_000);
    expect(await response).toBe("ended");
    expect(world.network.legs).toEqual([]);
    expect(await world.storedCall(call)).toMatchObject(TERMINATED);
    await world.stop();
  });
});

describe("a termination", () => {
  test("ends with the process if its leg outlives the storage", async () => {
    const world = await World.start({ timings: { releaseTimeoutMs: 60_000 } });
    const { call, leg } = await world.answeredCall(await world.activeInstance(), "x".repeat(400));
    leg.stubborn = true;
    world.storage.isFull = true;
    const response = requestEnd(world, call);
    await world.system.advance(5_000);
    expect(await response).toBe("storage_unavailable");
    await world.stop();
    expect(world.system.waiting).toBe(0);
  });

  test("of an instance's calls hangs up at once", async () => {
    const world = await World.start({ policy: { kind: "fifo", depth: 3 } });
    const instance = await world.activeInstance();
    const { call: liveCall, leg } = await world.answeredCall(instance, "x".repeat(400));
    const queuedCall = await world.call(instance);
    world.storage.before = (operation) => {
      if (operation === "calls.active") world.storage.isFull = true; // the intent is stored
    };
    const deletion = world.app.instances.delete(ALICE, instance.id).catch(() => {});
    await world.system.advance(100);
    expect(leg.live).toBe(false);
    const responses = [requestEnd(world, liveCall), requestEnd(world, queuedCall)];
    await world.system.advance(6_000);
    expect(await Promise.all(responses)).toEqual(["storage_unavailable", "storage_unavailable"]);
    world.storage.before = () => {};
    world.storage.isFull = false;
    await world.system.advance(20_000);
    await deletion;
    for (const call of [liveCall, queuedCall]) {
      expect((await world.storedCall(call)).outcome?.reason).toBe("instance_deleted");
      expect(await requestEnd(world, call)).toBe("call_not_found");
    }
    await world.stop();
  });
});
