import { describe, expect, test } from "vitest";
import { DEFAULT_TIMINGS } from "../../../src/domain/timings.ts";
import type { ManualSystem } from "../../../src/testing/manual-system.ts";
import { ALICE, ToneSpeech, World } from "../../support/application.ts";

const HOUR_MS = 3_600_000;
const MISSED_OUTCOME = { reason: "instance_offline", detail: expect.stringMatching(/was stopped for 288\d\d s/) };

/** Ways in which a machine wakes up after eight hours. */
const RESUMES: Record<string, (system: ManualSystem) => void> = {
  "a stopped process": (system) => system.stall(8 * HOUR_MS),
  "a virtual machine whose monotonic clock was paused": (system) => system.jump(8 * HOUR_MS),
};

describe.each(Object.entries(RESUMES))("%s that resumes after eight hours", (_, resume) => {
  test("dials no call that was prepared before", async () => {
    const world = await World.start({ policy: { kind: "fifo", depth: 5, paceMs: 10_000 } });
    const instance = await world.activeInstance();
    const first = await world.call(instance);
    world.leg(first).end("busy");
    await world.system.settle();
    const queuedCall = await world.call(instance);
    resume(world.system);
    await world.system.advance(30_000);
    expect(world.network.legs).toHaveLength(1);
    expect(await world.storedCall(queuedCall)).toMatchObject({
      status: "FAILED",
      dialingAt: null,
      outcome: MISSED_OUTCOME,
    });
    const laterCall = await world.call(instance);
    await world.system.advance(10_000);
    expect(world.leg(laterCall).live).toBe(true);
    await world.stop();
  });

  test("dials no call that waited for its line", async () => {
    const world = await World.start();
    const instance = await world.activeInstance();
    world.line(instance).goOffline("gone");
    await world.system.advance(60_000);
    const call = await world.call(instance);
    resume(world.system);
    world.line(instance).goOnline();
    await world.system.settle();
    await world.system.advance(10_000);
    expect(world.network.legs).toHaveLength(0);
    expect((await world.storedCall(call)).status).toBe("FAILED");
    await world.stop();
  });

  test("dials no call that waited for its number to be linked", async () => {
    const world = await World.start();
    const instance = await world.newInstance();
    await world.system.advance(60_000);
    const call = await world.call(instance);
    await world.system.advance(7_000);
    resume(world.system);
    await world.app.instances.configure(ALICE, instance.id);
    await world.line(instance).scan();
    await world.system.advance(10_000);
    expect(world.network.legs).toHaveLength(0);
    expect((await world.storedCall(call)).status).toBe("FAILED");
    await world.stop();
  });

  test("dials no call that was created right after the clock was set back", async () => {
    const world = await World.start();
    const instance = await world.activeInstance();
    world.line(instance).goOffline("gone");
    world.system.jump(-8 * HOUR_MS);
    const call = await world.call(instance);
    resume(world.system);
    world.line(instance).goOnline();
    await world.system.advance(10_000);
    expect(world.network.legs).toHaveLength(0);
    expect((await world.storedCall(call)).status).toBe("FAILED");
    await world.stop();
  });

  test("dials no call whose message was being prepared", async () => {
    const speech = new ToneSpeech();
    let speak = () => {};
    speech.gate = new Promise<void>((resolve) => {
      speak = resolve;
    });
    const world = await World.start({ speech: () => speech });
    const call = await world.call(await world.activeInstance());
    resume(world.system);
    speak();
    await world.system.settle();
    expect(world.network.legs).toHaveLength(0);
    expect((await world.storedCall(call)).status).toBe("FAILED");
    await world.stop();
  });

  test("dials no call that was being claimed", async () => {
    const world = await World.start();
    const instance = await world.activeInstance();
    const release = world.holdClaim();
    const call = await world.call(instance);
    resume(world.system);
    release();
    await world.system.settle();
    await world.system.advance(5_000);
    expect(world.network.legs).toHaveLength(0);
    expect(await world.storedCall(call)).toMatchObject({ status: "FAILED", startedAt: null, outcome: MISSED_OUTCOME });
    const laterCall = await world.call(instance);
    expect(world.leg(laterCall).live).toBe(true);
    await world.stop();
  });
});

test("a process stopped for less than the queue timeout dials the call", async () => {
  const world = await World.start({ policy: { kind: "fifo", depth: 5, paceMs: 10_000 } });
  const instance = await world.activeInstance();
  world.leg(await world.call(instance)).end("busy");
  await world.system.settle();
  const queuedCall = await world.call(instance);
  world.system.stall(5 * 60_000);
  await world.system.advance(10_000);
  expect(world.leg(queuedCall).live).toBe(true);
  await world.stop();
});

describe("a line that was offline for longer than the queue timeout", () => {
  test("dials the calls that were created during the outage", async () => {
    const world = await World.start();
    const instance = await world.activeInstance();
    world.line(instance).goOffline("gone");
    await world.system.advance(4 * 60_000);
    const call = await world.call(instance);
    await world.system.advance(8 * 60_000);
    world.line(instance).goOnline();
    await world.system.settle();
    expect(world.leg(call).live).toBe(true);
    await world.stop();
  });

  test("dials new calls after the clock is set back", async () => {
    const world = await World.start();
    const instance = await world.activeInstance();
    world.system.stall(HOUR_MS);
    await world.system.advance(10_000);
    world.system.jump(-3 * HOUR_MS);
    const call = await world.call(instance);
    expect(world.leg(call).live).toBe(true);
    await world.stop();
  });
});

test("a call for an instance that is linked later is not dialled after a suspension, although the clock is set back", async () => {
  const world = await World.start();
  const instance = await world.newInstance();
  await world.app.instances.configure(ALICE, instance.id);
  const call = await world.call(instance);
  world.system.jump(HOUR_MS); // suspended: only the wall clock moves
  await world.system.advance(DEFAULT_TIMINGS.probeMs);
  world.system.jump(-HOUR_MS);
  await world.line(instance).scan();
  await world.system.settle();
  expect(world.network.legs).toHaveLength(0);
  expect(await world.storedCall(call)).toMatchObject({ status: "FAILED", outcome: { reason: "instance_offline" } });
  await world.stop();
});
