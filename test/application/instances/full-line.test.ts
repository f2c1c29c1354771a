import { expect, test } from "vitest";
import { DialError } from "../../../src/ports/telephony.ts";
import { ALICE, World, type WorldOptions } from "../../support/application.ts";

const REASON = "the trunk carries 2 of 2 calls";

/** Creates a world whose network refuses each dial with `retryAfterMs`, and records the attempts. */
async function fullLine(retryAfterMs: number, options: WorldOptions = {}) {
  const world = await World.start(options);
  const instance = await world.activeInstance();
  const attempts: number[] = [];
  let isFull = true;
  world.network.onDial = () => {
    attempts.push(world.system.now());
    if (isFull) throw new DialError("line_lost", REASON, { retryAfterMs });
  };
  return {
    world,
    instance,
    attempts,
    free: () => {
      isFull = false;
    },
  };
}

test("a call waits for the network's Retry-After, then is dialled again", async () => {
  const { world, instance, attempts, free } = await fullLine(7_000);
  const call = await world.call(instance);
  const first = attempts[0] ?? 0;
  await world.system.advance(6_999);
  expect(attempts).toEqual([first]);
  expect(await world.storedCall(call)).toMatchObject({ status: "QUEUED", owner: null });
  free();
  await world.system.advance(1);
  expect(attempts).toEqual([first, first + 7_000]);
  const leg = world.leg(call);
  leg.placed();
  leg.answer();
  await world.system.advance(5_000);
  expect((await world.storedCall(call)).outcome?.reason).toBe("message_played");
  await world.stop();
});

test("the instance shows the reason of the wait, and its end", async () => {
  const { world, instance, free } = await fullLine(7_000);
  const startedAt = world.system.now();
  await world.call(instance);
  const connection = async () => (await world.app.instances.get(ALICE, instance.id)).connection;
  expect((await connection()).pause).toEqual({ until: startedAt + 7_000, reason: REASON });
  free();
  await world.system.advance(7_000);
  expect((await connection()).pause).toBeUndefined();
  await world.stop();
});

test("neither a probe nor a flapping line makes a full line retry sooner", async () => {
  const { world, instance, attempts } = await fullLine(7_000);
  await world.call(instance);
  world.line(instance).goOffline();
  await world.system.advance(1_000);
  world.line(instance).goOnline();
  await world.system.advance(5_000);
  expect(attempts).toHaveLength(1);
  await world.stop();
});

test("a call on a full line still expires, with the network's reason", async () => {
  const { world, instance, attempts } = await fullLine(1_000);
  const call = await world.call(instance);
  await world.system.advance(11 * 60_000);
  expect(attempts.length).toBeGreaterThan(500);
  expect((await world.storedCall(call)).outcome).toMatchObject({ reason: "instance_offline", detail: REASON });
  await world.stop();
});

test("a line that recovers keeps its instance's later calls in the queue", async () => {
  const { world, instance, free } = await fullLine(1_000, {
    policy: { kind: "fifo", depth: 3 },
    timings: { queueTimeoutMs: 60_000 },
  });
  const call = await world.call(instance);
  await world.system.advance(2 * 60_000);
  expect((await world.storedCall(call)).status).toBe("FAILED");
  free();
  const liveCall = await world.call(instance, "x".repeat(4_000)); // speaks for longer than a call may wait
  const queuedCall = await world.call(instance);
  await world.system.advance(1_000);
  const leg = world.leg(liveCall);
  leg.placed();
  leg.answer();
  await world.system.advance(2 * 60_000);
  expect((await world.storedCall(liveCall)).status).toBe("IN_PROGRESS");
  expect((await world.storedCall(queuedCall)).status).toBe("QUEUED");
  await world.stop();
});

test("a network without a valid Retry-After is retried a second later", async () => {
  for (const retryAfterMs of [-5, 0]) {
    const { world, instance, attempts, free } = await fullLine(retryAfterMs);
    await world.call(instance);
    free();
    await world.system.advance(1_000);
    expect(attempts).toHaveLength(2);
    await world.stop();
  }
});
