import { describe, expect, test } from "vitest";
import type { Call } from "../../../src/domain/calls/call.ts";
import type { Instance } from "../../../src/domain/instances/instance.ts";
import { ALICE, NUMBER, World, type WorldOptions } from "../../support/application.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** The manual clock starts at midnight UTC: 19:00 at the number in New York, 01:00 in Berlin. */
const HOURS = { from: "08:00", until: "20:00" };
const BERLIN = "+4930123456";
/** Time until the hours begin in Berlin, ms. */
const BERLIN_MORNING_MS = 7 * HOUR_MS;

function start(options: Partial<WorldOptions> = {}): Promise<World> {
  return World.start({ policy: { kind: "fifo", depth: 50, callingHours: HOURS }, ...options });
}

async function place(world: World, instance: Instance, phoneNumber: string, expiresAfterMs?: number): Promise<Call> {
  const call = await world.app.calls.create(ALICE, {
    instanceId: instance.id,
    type: "FIXED_TTS",
    target: { phoneNumber },
    tts: { text: "Good morning", voiceId: "en-US-1" },
    ...(expiresAfterMs !== undefined && { expiresAfterMs }),
  });
  await world.system.settle();
  return call;
}

const dialledIds = (world: World) => world.network.legs.map(({ callId }) => callId);

describe("a call outside the calling hours", () => {
  test("waits until the hours begin, without delaying other calls", async () => {
    const world = await start();
    const instance = await world.activeInstance();
    const waitingCall = await place(world, instance, BERLIN, DAY_MS);
    const next = await place(world, instance, NUMBER);
    expect(dialledIds(world)).toEqual([next.id]);
    world.leg(next).end("busy");
    await world.system.advance(BERLIN_MORNING_MS - 60_000);
    expect(dialledIds(world)).toEqual([next.id]);
    expect((await world.storedCall(waitingCall)).status).toBe("QUEUED");
    await world.system.advance(61_000);
    expect(dialledIds(world)).toEqual([next.id, waitingCall.id]);
    await world.stop();
  });

  test("is dialled in id order once the hours begin", async () => {
    const world = await start();
    const instance = await world.activeInstance();
    const calls = [await place(world, instance, BERLIN, DAY_MS), await place(world, instance, BERLIN, DAY_MS)];
    await world.system.advance(BERLIN_MORNING_MS + 1_000);
    expect(dialledIds(world)).toEqual([calls[0]?.id]);
    world.leg().end("busy");
    await world.system.settle();
    expect(dialledIds(world)).toEqual(calls.map(({ id }) => id));
    await world.stop();
  });

  test("keeps waiting after a restart", async () => {
    const world = await start();
    const instance = await world.activeInstance();
    const call = await place(world, instance, BERLIN, DAY_MS);
    await world.system.advance(HOUR_MS);
    const restartedWorld = await world.crashAndRestart();
    await restartedWorld.system.advance(BERLIN_MORNING_MS - HOUR_MS - 60_000);
    expect(dialledIds(restartedWorld)).toEqual([]);
    await restartedWorld.system.advance(61_000);
    expect(dialledIds(restartedWorld)).toEqual([call.id]);
    await restartedWorld.stop();
  });

  test("fails immediately if it expires before the hours begin", async () => {
    const world = await start();
    const instance = await world.activeInstance();
    const call = await place(world, instance, BERLIN, HOUR_MS);
    const { outcome } = await world.storedCall(call);
    expect(outcome).toMatchObject({ reason: "outside_calling_hours" });
    expect(outcome?.detail).toContain(new Date(call.createdAt + BERLIN_MORNING_MS).toISOString().slice(0, 13));
    expect(outcome?.detail).toContain(`the call expires at ${new Date(call.createdAt + HOUR_MS).toISOString()}`);
    await world.stop();
  });

  test('fails immediately if outsideHours is "fail"', async () => {
    const world = await start({ policy: { kind: "fifo", depth: 5, callingHours: HOURS, outsideHours: "fail" } });
    const call = await place(world, await world.activeInstance(), BERLIN, DAY_MS);
    expect((await world.storedCall(call)).outcome?.reason).toBe("outside_calling_hours");
    await world.stop();
  });

  test("returns to its queue if the hours end while it is being claimed", async () => {
    const world = await start();
    const instance = await world.activeInstance();
    await world.system.advance(HOUR_MS - 1_000);
    const release = world.holdClaim();
    const call = await place(world, instance, NUMBER, DAY_MS);
    await world.system.advance(2_000);
    release();
    await world.system.advance(2_000);
    expect([dialledIds(world), (await world.storedCall(call)).status]).toEqual([[], "QUEUED"]);
    await world.system.advance(12 * HOUR_MS);
    expect(dialledIds(world)).toEqual([call.id]);
    await world.stop();
  });

  test("is dialled soon after the clock is set forward into the hours", async () => {
    const world = await start();
    const call = await place(world, await world.activeInstance(), BERLIN, DAY_MS);
    world.system.jump(8 * HOUR_MS);
    await world.system.advance(601_000);
    expect(dialledIds(world)).toEqual([call.id]);
    await world.stop();
  });

  test("is dialled soon after the clock is set back into the hours", async () => {
    const world = await start();
    const instance = await world.activeInstance();
    world.system.jump(20 * HOUR_MS); // 21:00 in Berlin
    const call = await place(world, instance, BERLIN, DAY_MS);
    expect(dialledIds(world)).toEqual([]);
    world.system.jump(-8 * HOUR_MS);
    await world.system.advance(601_000);
    expect(dialledIds(world)).toEqual([call.id]);
    await world.stop();
  });
});

describe("a call with its own expiry", () => {
  test.each([
    ["shorter", 5_000],
    ["longer", 2 * HOUR_MS],
  ])("fails at its expiry, even if that is %s than the server's timeout", async (_, ms) => {
    const world = await start();
    const instance = await world.activeInstance();
    world.line(instance).goOffline();
    const call = await place(world, instance, NUMBER, ms);
    await world.system.advance(ms - 1_000);
    expect((await world.storedCall(call)).status).toBe("QUEUED");
    await world.system.advance(2_000);
    const { outcome } = await world.storedCall(call);
    expect(outcome?.reason).toBe("instance_offline");
    expect(outcome?.detail).toContain(`the call expired after ${ms} ms (expiresAfterMs)`);
    await world.stop();
  });

  test("keeps its expiry after a restart, without affecting other calls", async () => {
    const world = await start();
    const instance = await world.newInstance();
    const call = await place(world, instance, NUMBER, 2 * HOUR_MS);
    const defaultCall = await place(world, instance, NUMBER);
    const restartedWorld = await world.crashAndRestart();
    await restartedWorld.system.advance(HOUR_MS);
    expect((await restartedWorld.storedCall(defaultCall)).outcome?.reason).toBe("instance_not_linked");
    expect((await restartedWorld.storedCall(call)).status).toBe("QUEUED");
    await restartedWorld.system.advance(HOUR_MS + 1_000);
    expect((await restartedWorld.storedCall(call)).outcome?.reason).toBe("instance_not_linked");
    await restartedWorld.stop();
  });
});
