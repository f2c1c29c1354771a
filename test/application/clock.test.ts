import { describe, expect, test } from "vitest";
import type { Call } from "../../src/domain/calls/call.ts";
import { DialError } from "../../src/ports/telephony.ts";
import { ManualSystem } from "../../src/testing/manual-system.ts";
import { ALICE, World } from "../support/application.ts";

const HOUR_MS = 3_600_000;
const FIFO = { kind: "fifo", depth: 5, paceMs: 10_000 } as const;

describe("a fifo queue's pace", () => {
  test.each([-HOUR_MS, 5 * 60_000])("is kept if the wall clock is set by %i ms", async (jump) => {
    const world = await World.start({ policy: FIFO });
    const instance = await world.activeInstance();
    await world.call(instance);
    await world.call(instance);
    world.leg().end("busy");
    await world.system.settle();
    world.system.jump(jump);
    await world.call(instance);
    await world.system.advance(9_990);
    expect(world.network.legs).toHaveLength(1);
    await world.system.advance(20);
    expect(world.network.legs).toHaveLength(2);
    await world.stop();
  });

  test("a full line is retried in time after the clock is set back", async () => {
    const world = await World.start();
    const instance = await world.activeInstance();
    let attempts = 0;
    world.network.onDial = () => {
      if (++attempts === 1) throw new DialError("line_lost", "the trunk is full", { retryAfterMs: 30_000 });
    };
    await world.call(instance);
    world.system.jump(-HOUR_MS);
    await world.system.advance(29_000);
    expect(attempts).toBe(1);
    await world.system.advance(2_000);
    expect(attempts).toBe(2);
    await world.stop();
  });
});

describe("a fifo queue", () => {
  const policy = { kind: "fifo", depth: 5 } as const;

  /** Calls in dial order. */
  async function dialCalls(world: World, calls: number): Promise<(string | undefined)[]> {
    for (let i = 0; i < calls; i++) {
      world.leg().end("busy");
      await world.system.advance(2_000);
    }
    return world.network.legs.map(({ callId }) => callId);
  }

  test("stays first in, first out if the clock is set back", async () => {
    const world = await World.start({ policy });
    const instance = await world.activeInstance();
    const first = await world.call(instance);
    const second = await world.call(instance);
    world.system.jump(-HOUR_MS);
    const third = await world.call(instance);
    expect(await dialCalls(world, 3)).toEqual([first.id, second.id, third.id]);
    await world.stop();
  });

  test("stays first in, first out if the clock was set back during a restart", async () => {
    const world = await World.start({ policy });
    const instance = await world.activeInstance();
    world.line(instance).goOffline("gone");
    const first = await world.call(instance);
    const second = await world.call(instance);
    world.system.jump(-HOUR_MS);
    const next = await world.crashAndRestart();
    const third = await next.call(instance);
    expect(await dialCalls(next, 3)).toEqual([first.id, second.id, third.id]);
    await next.stop();
  });
});

describe("a call that waits", () => {
  const timings = { queueTimeoutMs: 600_000 };

  test.each([-HOUR_MS, 300_000, HOUR_MS])("fails in time if the wall clock is set by %i ms", async (jump) => {
    const world = await World.start({ timings });
    const call = await world.call(await world.newInstance());
    await world.system.advance(400_000);
    world.system.jump(jump);
    // This call is created after the jump, and must also expire on time.
    const laterCall = await world.call(await world.newInstance());
    await world.system.advance(195_000);
    expect((await world.storedCall(call)).status).toBe("QUEUED");
    await world.system.advance(10_000);
    expect((await world.storedCall(call)).outcome?.reason).toBe("instance_not_linked");
    expect((await world.storedCall(laterCall)).status).toBe("QUEUED");
    await world.system.advance(390_000);
    expect((await world.storedCall(laterCall)).status).toBe("QUEUED");
    await world.system.advance(10_000);
    expect((await world.storedCall(laterCall)).status).toBe("FAILED");
    await world.stop();
  });

  test("is not failed with an older one if the wall clock is set forward", async () => {
    const world = await World.start({ timings });
    const olderCall = await world.call(await world.newInstance());
    await world.system.advance(400_000);
    const call = await world.call(await world.newInstance());
    world.system.jump(HOUR_MS);
    await world.system.advance(205_000);
    expect((await world.storedCall(olderCall)).status).toBe("FAILED");
    expect((await world.storedCall(call)).status).toBe("QUEUED");
    await world.system.advance(400_000);
    expect((await world.storedCall(call)).status).toBe("FAILED");
    await world.stop();
  });

  test("fails late by at most the jump if the clock is set back a little", async () => {
    const world = await World.start({ timings });
    const call = await world.call(await world.newInstance());
    await world.system.advance(400_000);
    world.system.jump(-100_000);
    await world.system.advance(195_000);
    expect((await world.storedCall(call)).status).toBe("QUEUED");
    await world.system.advance(110_000);
    expect((await world.storedCall(call)).status).toBe("FAILED");
    await world.stop();
  });

  test("waits no longer than the timeout after a restart with the clock set back", async () => {
    const world = await World.start({ timings });
    const call = await world.call(await world.newInstance());
    world.system.jump(-HOUR_MS);
    const next = await world.crashAndRestart();
    await next.system.advance(595_000);
    expect((await next.storedCall(call)).status).toBe("QUEUED");
    await next.system.advance(10_000);
    expect((await next.storedCall(call)).status).toBe("FAILED");
    await next.stop();
  });

  test("ends no earlier than it was created", async () => {
    const world = await World.start();
    const call = await world.call(await world.newInstance());
    world.system.jump(-HOUR_MS);
    await world.app.calls.hangUp(ALICE, call.id);
    expectInOrder(await world.storedCall(call));
    const last = (await world.timeline(call)).at(-1);
    expect(last?.timestamp).toBe((await world.storedCall(call)).endedAt);
    await world.stop();
  });
});

test("a dead process's call ends no earlier than it began", async () => {
  const world = await World.start();
  const { call } = await world.answeredCall(await world.activeInstance());
  world.system.jump(-HOUR_MS);
  const next = await world.crashAndRestart();
  const storedCall = await next.storedCall(call);
  expect(storedCall.outcome).toMatchObject({ reason: "interrupted", durationMs: 0 });
  expectInOrder(storedCall);
  await next.stop();
});

test("a manual system's wall clock jumps, and its monotonic one does not", async () => {
  const system = new ManualSystem({ now: 1_000 });
  let hasFired = false;
  system.after(10, () => {
    hasFired = true;
  });
  system.jump(HOUR_MS);
  expect([system.now(), system.monotonic(), hasFired]).toEqual([1_000 + HOUR_MS, 0, false]);
  system.jump(-2 * HOUR_MS);
  await system.advance(10);
  expect([system.now(), system.monotonic(), hasFired]).toEqual([1_010 - HOUR_MS, 10, true]);
});

function expectInOrder({ createdAt, startedAt, endedAt }: Call): void {
  expect(startedAt ?? createdAt).toBeGreaterThanOrEqual(createdAt);
  expect(endedAt).toBeGreaterThanOrEqual(startedAt ?? createdAt);
}
