import { describe, expect, test } from "vitest";
import type { Call } from "../../../src/domain/calls/call.ts";
import type { ConsentStatus } from "../../../src/domain/dialling-rules/consent.ts";
import type { NumberProtection } from "../../../src/domain/dialling-rules/number-protection.ts";
import type { Instance } from "../../../src/domain/instances/instance.ts";
import { StorageUnavailable } from "../../../src/ports/storage.ts";
import { DialError, type DialOptions, type ReleaseCause } from "../../../src/ports/telephony.ts";
import { ALICE, NUMBER, World } from "../../support/application.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** The manual clock starts at midnight UTC, when it is 19:00 at the called number. */
const EVENING = { from: "08:00", until: "20:00" };

function start(protection: NumberProtection, queueTimeoutMs = 600_000): Promise<World> {
  return World.start({ policy: { kind: "fifo", depth: 50, ...protection }, timings: { queueTimeoutMs } });
}

/** Places a call that is not answered. */
async function missedCall(world: World, instance: Instance): Promise<void> {
  const call = await world.call(instance);
  const leg = world.leg(call);
  leg.placed();
  leg.end("busy");
  await world.system.settle();
  expect((await world.storedCall(call)).outcome?.reason).toBe("busy");
}

/** Returns the data of the instance's pause events. */
async function pausesOf(world: World, instance: Instance) {
  const log = await world.storage.events.ofUser(ALICE.userId, { instanceId: instance.id }, {});
  return log.filter(({ type }) => type === "instance.paused").map(({ data }) => data);
}

describe("refusals by the network", () => {
  test("pause the number after several in a row, then allow one trial call at a time", async () => {
    const world = await start({ refusals: { calls: 3, pauseMs: HOUR_MS } });
    const instance = await world.activeInstance();
    const placeRefusedCall = async (): Promise<void> => {
      const call = await world.call(instance);
      world.leg(call).placed();
      world.leg(call).end("rejected_by_network");
      await world.system.settle();
    };
    await placeRefusedCall();
    await placeRefusedCall();
    await missedCall(world, instance); // restarts the count
    for (let i = 0; i < 3; i++) await placeRefusedCall();
    const blockedCall = await world.call(instance);
    expect((await world.storedCall(blockedCall)).outcome).toMatchObject({
      reason: "instance_paused",
      detail: expect.stringContaining("the network has refused the last 3 calls"),
    });
    expect(await pausesOf(world, instance)).toHaveLength(1);
    await world.system.advance(HOUR_MS + 1);
    await placeRefusedCall();
    expect((await world.storedCall(await world.call(instance))).outcome?.reason).toBe("instance_paused");
    await world.system.advance(HOUR_MS + 1);
    await missedCall(world, instance);
    await missedCall(world, instance);
    await world.stop();
  });
});

describe("refusals of single calls", () => {
  test("neither pause a number nor start a count", async () => {
    const world = await start({ refusals: { calls: 2, pauseMs: HOUR_MS } });
    const instance = await world.activeInstance();
    for (const refusal of ["call", "call", "call", "number", "call", "number"] as const) {
      const call = await world.call(instance);
      world.leg(call).placed();
      world.leg(call).end("rejected_by_network", "error 403", refusal);
      await world.system.settle();
      expect((await world.storedCall(call)).outcome).toMatchObject({
        reason: "rejected_by_network",
        detail: "error 403",
      });
    }
    await missedCall(world, instance);
    await world.stop();
  });

  test("do not count if the dial is refused", async () => {
    const world = await start({ refusals: { calls: 2, pauseMs: HOUR_MS } });
    const instance = await world.activeInstance();
    world.line(instance).dial = async () => {
      throw new DialError("rejected_by_network", "no offer was sent", { refusal: "call" });
    };
    for (let i = 0; i < 3; i++) {
      const call = await world.call(instance);
      expect((await world.storedCall(call)).outcome?.reason).toBe("rejected_by_network");
    }
    await world.stop();
  });
});

describe("the pace", () => {
  test("is also kept under the single policy", async () => {
    const world = await World.start({ policy: { kind: "single", paceMs: 10_000 } });
    const instance = await world.activeInstance();
    await missedCall(world, instance);
    await world.call(instance);
    await world.system.advance(9_999);
    expect(world.network.legs).toHaveLength(1);
    await world.system.advance(1);
    expect(world.network.legs).toHaveLength(2);
    await world.stop();
  });

  test("is longer by a random share, chosen once for each interval", async () => {
    const world = await start({ paceMs: 10_000, paceJitter: 1 });
    const instance = await world.activeInstance();
    const intervals = new Set<number>();
    let lastDialAt: number | undefined;
    for (let i = 0; i < 5; i++) {
      await world.call(instance);
      const legs = world.network.legs.length;
      while (world.network.legs.length === legs && i > 0) {
        await world.system.advance(100);
        await world.app.instances.get(ALICE, instance.id);
      }
      const now = world.system.monotonic();
      if (lastDialAt !== undefined) intervals.add(now - lastDialAt);
      lastDialAt = now;
      world.leg().end("busy");
      await world.system.settle();
    }
    for (const ms of intervals) expect(ms >= 10_000 && ms <= 20_100, `${ms} ms`).toBe(true);
    expect(intervals.size).toBeGreaterThan(2);
    await world.stop();
  });

  test("is the network's, unless the operator switches it off", async () => {
    for (const [policy, legs] of [
      [{ kind: "fifo", depth: 9 }, 1],
      [{ kind: "fifo", depth: 9, paceMs: 0 }, 2],
    ] as const) {
      const world = await World.start({ policy, capabilities: { protection: { paceMs: 10_000 } } });
      const instance = await world.activeInstance();
      await missedCall(world, instance);
      await world.call(instance);
      expect(world.network.legs).toHaveLength(legs);
      await world.stop();
    }
  });

  test("counts from the previous process's last dial", async () => {
    const world = await start({ paceMs: 60_000 });
    const instance = await world.activeInstance();
    await missedCall(world, instance);
    await world.system.advance(5_000);
    const next = await world.crashAndRestart(); // a second later
    await next.call(instance);
    await next.system.advance(53_000);
    expect(next.network.legs).toHaveLength(0);
    await next.system.advance(1_000);
    expect(next.network.legs).toHaveLength(1);
    await next.stop();
  });

  test("is kept after a restart with the clock set back, and not extended", async () => {
    const world = await start({ paceMs: 60_000 });
    const instance = await world.activeInstance();
    await missedCall(world, instance);
    world.system.jump(-HOUR_MS);
    const next = await world.crashAndRestart();
    await next.call(instance);
    await next.system.advance(59_999);
    expect(next.network.legs).toHaveLength(0);
    await next.system.advance(1);
    expect(next.network.legs).toHaveLength(1);
    await next.stop();
  });
});

test("the pace reads no waiting calls until the clock is set", async () => {
  const world = await start({ paceMs: HOUR_MS, answerRate: { floor: 0.5, calls: 10, pauseMs: HOUR_MS } });
  const instance = await world.activeInstance();
  await missedCall(world, instance);
  await world.call(instance);
  let reads = 0;
  world.storage.before = (operation) => {
    if (operation === "calls.dialHistory" || operation === "calls.nextWaiting") reads++;
  };
  for (let i = 0; i < 20; i++) await world.call(instance);
  expect(reads).toBe(0);
  world.system.jump(DAY_MS);
  await world.call(instance);
  expect(reads).toBeGreaterThan(0);
  await world.system.advance(HOUR_MS);
  expect(world.network.legs).toHaveLength(2);
  await world.stop();
});

test("the pace keeps calls queued beyond their timeout until the line goes down", async () => {
  const world = await start({ paceMs: HOUR_MS }, 20_000);
  const instance = await world.activeInstance();
  await missedCall(world, instance);
  const calls: Call[] = [];
  for (let i = 0; i < 10; i++) calls.push(await world.call(instance));
  await world.system.advance(30_000);
  const lookups = new Map<string, number>();
  world.storage.before = (operation) => void lookups.set(operation, (lookups.get(operation) ?? 0) + 1);
  await world.system.advance(60_000);
  expect(lookups.get("instances.get")).toBeUndefined();
  expect(lookups.get("calls.waitingSince")).toBeLessThan(5);
  expect(lookups.get("calls.oldestWaiting") ?? 0).toBeLessThan(5);
  for (const call of calls) expect((await world.storedCall(call)).status).toBe("QUEUED");
  world.line(instance).goOffline();
  const lateCall = await world.call(instance);
  await world.system.advance(10_000);
  for (const { id } of calls) expect((await world.app.calls.wait(ALICE, id)).outcome?.reason).toBe("instance_offline");
  expect((await world.storedCall(lateCall)).status).toBe("QUEUED");
  await world.system.advance(15_000);
  expect((await world.storedCall(lateCall)).outcome?.reason).toBe("instance_offline");
  await world.stop();
});

test("another instance's call times out while older calls wait for the pace", async () => {
  const world = await start({ paceMs: HOUR_MS }, 20_000);
  const instance = await world.activeInstance();
  await missedCall(world, instance);
  const pacedCall = await world.call(instance);
  await world.system.advance(30_000);
  const unlinkedCall = await world.call(await world.newInstance());
  await world.system.advance(19_000);
  expect((await world.storedCall(unlinkedCall)).status).toBe("QUEUED");
  await world.system.advance(2_000);
  expect((await world.storedCall(unlinkedCall)).outcome?.reason).toBe("instance_not_linked");
  expect((await world.storedCall(pacedCall)).status).toBe("QUEUED");
  await world.stop();
});

describe("a call outside the calling hours", () => {
  test('fails before preparation and dialling if outsideHours is "fail"', async () => {
    const world = await start({ callingHours: EVENING, outsideHours: "fail" });
    const instance = await world.activeInstance();
    await world.system.advance(HOUR_MS);
    const call = await world.call(instance);
    expect(await world.storedCall(call)).toMatchObject({
      status: "FAILED",
      dialingAt: null,
      outcome: {
        reason: "outside_calling_hours",
        detail: "it is 20:00 in America/New_York, and calls are placed from 08:00 to 20:00 there",
        heardMs: 0,
      },
    });
    expect(await world.eventTypes(call)).toEqual(["queued", "failed"]);
    expect((await world.app.calls.create(ALICE, callInput(instance))).created).toBe(true);
    await world.system.settle();
    expect(world.network.legs).toHaveLength(0); // it is night in Germany as well
    await world.system.advance(6 * HOUR_MS);
    await world.app.calls.create(ALICE, callInput(instance));
    await world.system.settle();
    expect(world.network.legs).toHaveLength(1);
    await world.stop();
  });

  test("is not dialled if the hours ended while it was being claimed", async () => {
    const world = await start({ callingHours: EVENING, outsideHours: "fail" });
    const instance = await world.activeInstance();
    await world.system.advance(HOUR_MS - 1_000);
    const release = world.holdClaim();
    const call = await world.call(instance);
    await world.system.advance(2_000);
    release();
    await world.system.settle();
    expect(world.network.legs).toHaveLength(0);
    expect(await world.storedCall(call)).toMatchObject({
      dialingAt: null,
      outcome: { reason: "outside_calling_hours" },
    });
    await world.stop();
  });
});

describe("a number that must not be called", () => {
  test("is not dialled under any protection; the next call is", async () => {
    const world = await World.start({ policy: { kind: "fifo", depth: 5 } });
    const instance = await world.newInstance();
    await consent(world, "do_not_call");
    const [call, next] = [await world.call(instance), await world.app.calls.create(ALICE, callInput(instance))];
    await link(world, instance);
    expect(await world.storedCall(call)).toMatchObject({
      status: "FAILED",
      dialingAt: null,
      outcome: {
        reason: "blocked_do_not_call",
        detail: "+12025550100 is recorded as a number that must not be called",
      },
    });
    expect(world.network.legs.map(({ callId }) => callId)).toEqual([next.id]);
    await world.stop();
  });

  test("is not dialled if it was recorded after the claim", async () => {
    const world = await World.start();
    const instance = await world.activeInstance();
    const release = world.holdClaim();
    const call = await world.call(instance);
    await consent(world, "do_not_call");
    release();
    await world.system.settle();
    expect(world.network.legs).toEqual([]);
    expect(await world.storedCall(call)).toMatchObject({ dialingAt: null, outcome: { reason: "blocked_do_not_call" } });
    await world.stop();
  });

  test.each([
    ["+5511987654321", "+551187654321"],
    ["+5215512345678", "+525512345678"],
    ["+5491123456789", "+541123456789"],
  ])("is recognised in its other form: %s and %s", async (...forms) => {
    for (const [recordedForm, dialledForm] of [forms, forms.toReversed()] as [string, string][]) {
      const world = await start({ requireConsent: true });
      const instance = await world.activeInstance();
      await consent(world, "granted", ALICE.userId, recordedForm);
      await world.app.calls.create(ALICE, callInput(instance, dialledForm));
      await world.system.settle();
      expect(world.network.legs.map(({ to }) => to)).toEqual([dialledForm]);
      world.leg().end("busy");
      await world.system.settle();
      await consent(world, "do_not_call", ALICE.userId, recordedForm);
      await consent(world, "granted", ALICE.userId, dialledForm);
      const call = await world.app.calls.create(ALICE, callInput(instance, dialledForm));
      await world.system.settle();
      expect((await world.storedCall(call)).outcome?.reason).toBe("blocked_do_not_call");
      expect(world.network.legs).toHaveLength(1);
      await world.stop();
    }
  });

  test("does not ring if it is recorded during the network's lookup", async () => {
    const world = await start({});
    const instance = await world.activeInstance();
    interceptLookup(world, instance, () => consent(world, "do_not_call"));
    const call = await world.call(instance);
    expect((await world.app.calls.wait(ALICE, call.id)).outcome).toMatchObject({
      reason: "blocked_do_not_call",
      detail: "+12025550100 is recorded as a number that must not be called",
    });
    expect(world.network.legs).toEqual([]);
    await world.stop();
  });

  test("is dialled later if its consent cannot be checked right before ringing", async () => {
    const world = await start({});
    const instance = await world.activeInstance();
    let isLocked = true;
    interceptLookup(world, instance, async () => {
      world.storage.before = (operation) => {
        if (isLocked && operation === "consents.ofNumbers") throw new StorageUnavailable("the database is locked");
      };
    });
    const call = await world.call(instance);
    expect(world.network.legs).toEqual([]);
    expect((await world.storedCall(call)).status).toBe("QUEUED");
    isLocked = false;
    await world.system.advance(2_000);
    expect(world.network.legs.map(({ callId }) => callId)).toEqual([call.id]);
    await world.stop();
  });

  test("is not rung by a network that forwards the call", async () => {
    const world = await start({});
    const instance = await world.activeInstance();
    await consent(world, "do_not_call", ALICE.userId, "+551187654321");
    const lookups = new Map<string, boolean | undefined>();
    interceptLookup(world, instance, async (options) => {
      for (const phone of ["+5511987654321", "+551187654321", "+4930123456", NUMBER])
        lookups.set(phone, await options.mayCall?.(phone));
    });
    await world.call(instance);
    expect([...lookups.values()]).toEqual([false, false, true, true]);
    expect(world.network.legs).toHaveLength(1);
    await world.stop();
  });

  test("is blocked only for the user who recorded it", async () => {
    const world = await World.start();
    await consent(world, "do_not_call", "usr_else");
    await world.call(await world.activeInstance());
    expect(world.network.legs).toHaveLength(1);
    await world.stop();
  });
});

test("a number without a consent is not dialled if one is required", async () => {
  const world = await start({ requireConsent: true });
  const instance = await world.activeInstance();
  const call = await world.call(instance);
  expect((await world.storedCall(call)).outcome?.reason).toBe("blocked_no_consent");
  await consent(world, "granted");
  await world.call(instance);
  expect(world.network.legs).toHaveLength(1);
  await world.stop();
});

test("a call waits while the database cannot check its consent", async () => {
  const world = await World.start();
  const instance = await world.activeInstance();
  world.storage.before = (operation) => {
    if (operation === "consents.ofNumbers") throw new StorageUnavailable("the database is locked");
  };
  const call = await world.call(instance);
  await world.system.advance(5_000);
  expect(world.network.legs).toEqual([]);
  expect((await world.storedCall(call)).status).toBe("QUEUED");
  world.storage.before = () => {};
  await world.system.advance(1_000);
  expect(world.leg().callId).toBe(call.id);
  await world.stop();
});

describe("a warm-up curve", () => {
  const warmUp = { firstDay: 2, growth: 2, days: 3 };

  test("fails calls above its limit until the next day", async () => {
    const world = await start({ warmUp });
    const instance = await world.activeInstance();
    await missedCall(world, instance);
    await missedCall(world, instance);
    const call = await world.call(instance);
    expect((await world.storedCall(call)).outcome).toMatchObject({
      reason: "instance_paused",
      detail: expect.stringMatching(/^2 calls were dialled in 24 hours.*on day 1 of 3 .*before 2026-01-02T00:00:/),
    });
    expect(world.network.legs).toHaveLength(2);
    world.system.jump(DAY_MS);
    for (let i = 0; i < 4; i++) await missedCall(world, instance);
    expect((await world.storedCall(await world.call(instance))).outcome?.reason).toBe("instance_paused");
    await world.stop();
  });

  test("restarts when another number is linked", async () => {
    const world = await start({ warmUp });
    const instance = await world.activeInstance();
    await missedCall(world, instance);
    await missedCall(world, instance);
    world.line(instance).unlinkByOwner();
    await world.system.settle();
    await link(world, instance, "+12025550177");
    await world.system.advance(1);
    await missedCall(world, instance);
    await missedCall(world, instance);
    expect((await world.storedCall(await world.call(instance))).outcome?.reason).toBe("instance_paused");
    await world.stop();
  });

  test("counts across restarts, and when the same number is linked again", async () => {
    const world = await start({ warmUp });
    const instance = await world.activeInstance();
    world.system.jump(3 * DAY_MS);
    for (let i = 0; i < 3; i++) await missedCall(world, instance);
    const next = await world.crashAndRestart();
    await missedCall(next, instance);
    next.line(instance).unlinkByOwner();
    await next.system.settle();
    expect((await next.storage.instances.get(instance.id))?.linkedAt ?? null).toBeNull();
    await link(next, instance);
    expect((await next.storage.instances.get(instance.id))?.linkedAt).toBeGreaterThan(
      instance.createdAt + 3 * DAY_MS - 1,
    );
    expect((await next.storedCall(await next.call(instance))).outcome?.reason).toBe("instance_paused");
    await next.stop();
  });

  test("lets a call wait if the next dial is possible within its queue time", async () => {
    const world = await start({ warmUp: { ...warmUp, days: 1 } }, 2 * HOUR_MS);
    const instance = await world.activeInstance();
    await world.system.advance(DAY_MS - HOUR_MS);
    await missedCall(world, instance);
    await missedCall(world, instance);
    const call = await world.call(instance);
    await world.system.advance(HOUR_MS - 60_000);
    expect((await world.storedCall(call)).status).toBe("QUEUED");
    await world.system.advance(60_000);
    expect(world.leg().callId).toBe(call.id);
    await world.stop();
  });
});

describe("an answer rate below its floor", () => {
  const answerRate = { floor: 0.5, calls: 2, pauseMs: HOUR_MS };

  test("pauses the instance, shows the pause, and emits one event", async () => {
    const world = await start({ answerRate });
    const instance = await world.activeInstance();
    await missedCall(world, instance);
    expect((await world.app.instances.get(ALICE, instance.id)).connection.pause).toBeUndefined();
    await missedCall(world, instance);
    const until = world.system.now() + HOUR_MS;
    const { connection } = await world.app.instances.get(ALICE, instance.id);
    expect(connection.pause).toEqual({ until, reason: expect.stringMatching(/^0 of the last 2 calls were answered/) });
    const calls = [await world.call(instance), await world.call(instance)];
    for (const call of calls)
      expect((await world.storedCall(call)).outcome).toMatchObject({
        reason: "instance_paused",
        detail: connection.pause?.reason,
      });
    expect(world.network.legs).toHaveLength(2);
    const next = await world.crashAndRestart();
    expect((await next.storedCall(await next.call(instance))).outcome?.reason).toBe("instance_paused");
    expect(await pausesOf(next, instance)).toEqual([
      { paused_until: new Date(until).toISOString(), reason: connection.pause?.reason },
    ]);
    await next.system.advance(HOUR_MS);
    expect((await next.app.instances.get(ALICE, instance.id)).connection.pause).toBeUndefined();
    await missedCall(next, instance);
    expect(await pausesOf(next, instance)).toHaveLength(2);
    await next.stop();
  });

  test("pauses the number, not the next number of its instance", async () => {
    const world = await start({ answerRate });
    const instance = await world.activeInstance();
    await missedCall(world, instance);
    await missedCall(world, instance);
    for (const phone of ["+12025550199", "+12025550177"]) {
      await world.app.instances.unlink(ALICE, instance.id);
      await link(world, instance, phone);
      const call = await world.call(instance);
      if (phone === "+12025550199") expect((await world.storedCall(call)).outcome?.reason).toBe("instance_paused");
      else expect(world.leg().callId).toBe(call.id);
    }
    expect(JSON.stringify((await world.storage.instances.get(instance.id))?.dialledNumber)).not.toContain("5550177");
    await world.stop();
  });

  test("shows no pause once the floor is switched off", async () => {
    const world = await start({ answerRate });
    const instance = await world.activeInstance();
    await missedCall(world, instance);
    await missedCall(world, instance);
    const next = await world.crashAndRestart({ policy: { kind: "single", answerRate: false } });
    expect((await next.app.instances.get(ALICE, instance.id)).connection.pause).toBeUndefined();
    await missedCall(next, instance);
    await next.stop();
  });

  test("ignores dials made while the clock was wrong", async () => {
    const world = await start({ answerRate, warmUp: { firstDay: 3, growth: 1, days: 10 } });
    const instance = await world.activeInstance();
    world.system.jump(365 * DAY_MS);
    await missedCall(world, instance);
    await missedCall(world, instance);
    expect((await world.storedCall(await world.call(instance))).outcome?.reason).toBe("instance_paused");
    world.system.jump(-365 * DAY_MS);
    await missedCall(world, instance);
    const next = await world.crashAndRestart();
    const call = await next.call(instance);
    expect(next.leg().callId).toBe(call.id);
    await next.stop();
  });

  test("lets a call wait if the pause ends within its queue time", async () => {
    const world = await start({ answerRate }, 2 * HOUR_MS);
    const instance = await world.activeInstance();
    await missedCall(world, instance);
    await missedCall(world, instance);
    const call = await world.call(instance);
    await world.system.advance(HOUR_MS - 1_000);
    expect((await world.storedCall(call)).status).toBe("QUEUED");
    await world.system.advance(1_000);
    expect(world.leg().callId).toBe(call.id);
    await world.stop();
  });

  test("ignores calls that reached no phone, and counts earlier unanswered ones", async () => {
    const world = await start({ answerRate });
    const instance = await world.activeInstance();
    const failCall = async (cause: ReleaseCause): Promise<void> => {
      const leg = world.leg(await world.call(instance));
      leg.placed();
      leg.end(cause);
      await world.system.settle();
    };
    for (const cause of ["unreachable", "rejected_by_network", "number_invalid"] as const) await failCall(cause);
    const unansweredLeg = world.leg(await world.call(instance));
    unansweredLeg.placed();
    await world.system.advance(120_000);
    expect(unansweredLeg.live).toBe(false);
    await missedCall(world, instance);
    expect(await pausesOf(world, instance)).toEqual([]);
    await failCall("unreachable");
    await missedCall(world, instance);
    expect(await pausesOf(world, instance)).toHaveLength(1);
    await world.stop();
  });

  test("does not count a call that was never dialled", async () => {
    const world = await start({ answerRate });
    const instance = await world.activeInstance();
    await missedCall(world, instance);
    const call = await world.app.calls.create(ALICE, {
      instanceId: instance.id,
      type: "DYNAMIC_AGENT",
      target: { phoneNumber: NUMBER },
      agent: { instructions: ["say: Hello"] },
    });
    await world.system.settle();
    expect(await world.storedCall(call)).toMatchObject({ dialingAt: null, outcome: { reason: "agent_unavailable" } });
    await missedCall(world, instance);
    expect(await pausesOf(world, instance)).toHaveLength(1);
    await world.stop();
  });
});

test("an invalid value prevents the start", async () => {
  await expect(start({ paceMs: -5 })).rejects.toThrow(
    new RangeError("queue: paceMs is -5: it must be from 0 to 86400000 ms"),
  );
  const protection = { answerRate: { floor: 2, calls: 3, pauseMs: 1 } };
  await expect(World.start({ capabilities: { protection } })).rejects.toThrow("protection of scripted: answerRate is");
});

/** Makes the network look the callee up before the phone rings, and then ask for permission to call. */
function interceptLookup(
  world: World,
  instance: Instance,
  duringLookup: (options: DialOptions) => Promise<void>,
): void {
  const line = world.line(instance);
  const dial = line.dial.bind(line);
  line.dial = async (to, options, signal) => {
    await duringLookup(options);
    if ((await options.mayCall?.(to)) === false) throw new DialError("rejected_by_network", "not dialled");
    return dial(to, options, signal);
  };
}

/** Links the number of an instance. */
async function link(world: World, instance: Instance, phone?: string): Promise<void> {
  await world.app.instances.configure(ALICE, instance.id);
  await world.line(instance).scan(phone);
  await world.system.settle();
}

async function consent(world: World, status: ConsentStatus, userId = ALICE.userId, phone = NUMBER): Promise<void> {
  const at = world.system.now();
  await world.storage.consents.put({ userId, phone, status, source: null, createdAt: at, updatedAt: at });
}

function callInput(instance: Instance, phoneNumber = "+4930123456") {
  return {
    instanceId: instance.id,
    type: "FIXED_TTS" as const,
    target: { phoneNumber },
    tts: { text: "Guten Tag", voiceId: "en-US-1" },
  };
}
