import { describe, expect, test } from "vitest";
import type { Call } from "../../../src/domain/calls/call.ts";
import { ALICE, NUMBER, World, type WorldOptions } from "../../support/application.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** A world with a call that has ended. */
async function startWithEndedCall(options: WorldOptions = {}): Promise<{ world: World; call: Call }> {
  const world = await World.start({ retentionDays: 30, ...options });
  const call = await endedCall(world);
  return { world, call };
}

async function endedCall(world: World): Promise<Call> {
  const call = await world.call(await world.newInstance());
  await world.app.calls.hangUp(ALICE, call.id);
  return call;
}

const isStored = async (world: World, call: Call) => (await world.storage.calls.get(call.id)) !== undefined;
const advanceDays = (world: World, count: number) => world.system.advance(count * DAY_MS);

describe("a wall clock that jumps", () => {
  test("forward purges no call before a day of uptime, and is logged once", async () => {
    const { world, call } = await startWithEndedCall();
    await world.system.advance(2 * HOUR_MS);
    world.system.jump(40 * DAY_MS);
    await world.system.advance(23 * HOUR_MS);
    expect(await isStored(world, call)).toBe(true);
    const clockWarnings = world.warnings.filter(({ message }) => String(message).startsWith("the wall clock is ahead"));
    expect(clockWarnings).toMatchObject([{ ahead_ms: 40 * DAY_MS }]);
    await world.system.advance(3 * HOUR_MS);
    expect(await isStored(world, call)).toBe(false);
    await world.stop();
  });

  test("again within a day counts only after another day", async () => {
    const { world, call } = await startWithEndedCall();
    world.system.jump(DAY_MS);
    await world.system.advance(23 * HOUR_MS);
    world.system.jump(40 * DAY_MS);
    await world.system.advance(20 * HOUR_MS);
    expect(await isStored(world, call)).toBe(true);
    await world.system.advance(8 * HOUR_MS);
    expect(await isStored(world, call)).toBe(false);
    await world.stop();
  });

  test("forward and back purges no call, however long the server then runs", async () => {
    const { world, call } = await startWithEndedCall();
    world.system.jump(40 * DAY_MS);
    await world.system.advance(20 * HOUR_MS);
    world.system.jump(-40 * DAY_MS);
    await advanceDays(world, 28);
    expect(await isStored(world, call)).toBe(true);
    await advanceDays(world, 2);
    expect(await isStored(world, call)).toBe(false);
    await world.stop();
  });

  test("in steps of less than an hour is not followed either", async () => {
    const { world, call } = await startWithEndedCall({ retentionDays: 0.5 });
    for (let step = 0; step < 30; step++) {
      world.system.jump(0.5 * HOUR_MS);
      await world.create(await world.newInstance());
      await world.app.instances.create(ALICE, { name: "keyed" }, { idempotencyKey: `k${step}` });
      await world.system.advance(60_000);
    }
    await world.system.advance(HOUR_MS);
    expect(await isStored(world, call)).toBe(true);
    await world.stop();
  });

  test("between two processes purges no call immediately", async () => {
    const { world, call } = await startWithEndedCall();
    await world.system.advance(2 * HOUR_MS);
    world.system.jump(40 * DAY_MS);
    const next = await world.crashAndRestart();
    await next.system.advance(23 * HOUR_MS);
    expect(await isStored(next, call)).toBe(true);
    await next.system.advance(2 * HOUR_MS);
    expect(await isStored(next, call)).toBe(false);
    await next.stop();
  });

  test("every night, on a computer that is switched off, purges calls after enough uptime", async () => {
    let { world, call } = await startWithEndedCall({ retentionDays: 2 });
    for (let day = 0; day < 6; day++) {
      await world.system.advance(8 * HOUR_MS);
      world.system.jump(16 * HOUR_MS);
      world = await world.crashAndRestart();
    }
    await world.system.advance(2 * HOUR_MS);
    expect(await isStored(world, call)).toBe(false);
    await world.stop();
  });

  test("does not expire idempotency keys", async () => {
    const { world } = await startWithEndedCall();
    const createWithKey = () => world.app.instances.create(ALICE, { name: "Front desk" }, { idempotencyKey: "key" });
    const { id } = await createWithKey();
    world.system.jump(2 * DAY_MS);
    expect(await createWithKey()).toMatchObject({ id, replayed: true });
    await world.stop();
  });

  test("back keeps new ids after the stored ones", async () => {
    const { world, call } = await startWithEndedCall();
    world.system.jump(-40 * DAY_MS);
    const next = await world.crashAndRestart();
    const { cursor } = await next.app.queries.events(ALICE);
    const laterCall = await next.call(await next.newInstance());
    expect(laterCall.id > call.id).toBe(true);
    const page = await next.app.queries.events(ALICE, { cursor });
    expect(page.events.map(({ type }) => type)).toEqual(["instance.created", "queued"]);
    await next.stop();
  });
});

describe("retention that is switched on for the first time", () => {
  test("purges old calls at once", async () => {
    const { world, call } = await startWithEndedCall({ retentionDays: undefined });
    await advanceDays(world, 40);
    const next = await world.crashAndRestart({ retentionDays: 30 });
    await next.system.advance(1);
    expect(await isStored(next, call)).toBe(false);
    await next.stop();
  });

  test("trusts the newest id over the clock without a trusted time", async () => {
    const { world, call } = await startWithEndedCall({ retentionDays: undefined });
    await world.storage.retention.saveTrustedTime({ at: 0, claim: null });
    const overrides = { trustedTime: async () => undefined };
    const { retention } = world.storage;
    Object.defineProperty(world.storage, "retention", {
      value: new Proxy(retention, { get: (target, name) => Reflect.get(overrides, name) ?? Reflect.get(target, name) }),
    });
    world.system.jump(40 * DAY_MS);
    const next = await world.crashAndRestart({ retentionDays: 30 });
    await next.system.advance(23 * HOUR_MS);
    expect(await isStored(next, call)).toBe(true);
    await next.stop();
  });
});

describe("a purge deletes", () => {
  test("the receipts of idempotent requests after a day, whatever the retention of calls", async () => {
    const world = await World.start();
    const instance = await world.newInstance();
    const input = { instanceId: instance.id, target: { phoneNumber: NUMBER }, type: "DYNAMIC_STREAM" } as const;
    const { id } = await world.app.calls.create(ALICE, input, { idempotencyKey: "key" });
    await world.system.advance(23 * HOUR_MS);
    expect(await world.app.calls.create(ALICE, input, { idempotencyKey: "key" })).toMatchObject({ id, replayed: true });
    await world.system.advance(2 * HOUR_MS);
    // Requested without an age, so that only a sweep can have deleted it.
    expect(await world.storage.receipts.find({ userId: ALICE.userId, scope: "", key: "key" }, 0)).toBeUndefined();
    await world.stop();
  });

  test("counts of deleted calls and transfers after a day, whatever the retention of calls", async () => {
    const world = await World.start();
    const { calls } = world.storage;
    const count = () => calls.countTransfer("tok_1", world.system.now(), { maxCalls: Infinity, since: 0 });
    await count();
    await world.system.advance(23 * HOUR_MS);
    await count();
    await world.system.advance(2 * HOUR_MS);
    expect(await calls.forgetCounted(Infinity)).toBe(1);
    await world.stop();
  });

  test("recordings whose length could not be read", async () => {
    const { world, call } = await recordedCall();
    world.recordings.read = async () => {
      throw new Error("input/output error");
    };
    const next = await world.crashAndRestart();
    expect(next.recordings.stored.size).toBe(1);
    await advanceDays(next, 2);
    expect(await isStored(next, call)).toBe(false);
    expect(next.recordings.stored.size).toBe(0);
    await next.stop();
  });

  test("such recordings even before their calls", async () => {
    const { world, call } = await recordedCall();
    world.recordings.read = async () => {
      throw new Error("input/output error");
    };
    const next = await world.crashAndRestart({ retentionDays: undefined, recordingRetentionDays: 1 });
    await advanceDays(next, 2);
    expect(await isStored(next, call)).toBe(true);
    expect(next.recordings.stored.size).toBe(0);
    await next.stop();
  });

  test("deleted instances with their events", async () => {
    const world = await World.start({ retentionDays: 1 });
    const instance = await world.activeInstance();
    const liveInstance = await world.newInstance();
    await world.call(instance);
    await world.app.instances.delete(ALICE, instance.id);
    await world.system.advance(23 * HOUR_MS);
    expect(await world.storage.instances.get(instance.id)).toMatchObject({ status: "DELETED" });
    await world.system.advance(3 * HOUR_MS);
    expect(await world.storage.instances.get(instance.id)).toBeUndefined();
    const { events } = await world.app.queries.events(ALICE);
    expect(events.map(({ instanceId }) => instanceId)).toEqual([liveInstance.id]);
    await world.stop();
  });
});

/** A call that is being recorded. */
async function recordedCall(): Promise<{ world: World; call: Call }> {
  const world = await World.start({ retentionDays: 1 });
  const { id: instanceId } = await world.activeInstance();
  const call = await world.app.calls.create(ALICE, {
    instanceId,
    type: "FIXED_TTS",
    target: { phoneNumber: NUMBER },
    tts: { text: "x".repeat(100), voiceId: "en-US-1" },
    recording: true,
  });
  await world.system.settle();
  world.leg(call).placed();
  world.leg(call).answer();
  await world.system.advance(2_000);
  return { world, call };
}

describe("a purge", () => {
  test("deletes all but a call whose recording cannot be deleted yet", async () => {
    const { world, call: stuckCall } = await startWithEndedCall();
    const otherCall = await endedCall(world);
    const { forget } = world.recordings;
    world.recordings.forget = (ids) =>
      ids.includes(stuckCall.id) ? Promise.reject(new Error("EACCES")) : forget.call(world.recordings, ids);
    await advanceDays(world, 31);
    expect([await isStored(world, stuckCall), await isStored(world, otherCall)]).toEqual([true, false]);
    world.recordings.forget = forget;
    await advanceDays(world, 1);
    expect(await isStored(world, stuckCall)).toBe(false);
    await world.stop();
  });

  test("does not wait for a network that hangs, nor does a stop", async () => {
    const { world, call } = await startWithEndedCall();
    Object.assign(world.network, { forget: () => new Promise(() => {}) });
    await advanceDays(world, 31);
    expect(await isStored(world, call)).toBe(true);
    await world.stop();
  });
});
