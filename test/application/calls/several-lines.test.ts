import { describe, expect, test } from "vitest";
import type { Call } from "../../../src/domain/calls/call.ts";
import type { Instance } from "../../../src/domain/instances/instance.ts";
import type { QueuePolicy } from "../../../src/domain/instances/queue-capacity.ts";
import { StorageUnavailable } from "../../../src/ports/storage.ts";
import { ALICE, World, type WorldOptions } from "../../support/application.ts";

const HOUR_MS = 3_600_000;

function start(lines: number, policy: Partial<QueuePolicy> = {}, options: WorldOptions = {}): Promise<World> {
  return World.start({
    policy: { kind: "fifo", depth: 100, ...policy, lines } as QueuePolicy,
    capabilities: { lines: Infinity },
    ...options,
  });
}

async function createCalls(world: World, instance: Instance, count: number): Promise<Call[]> {
  const calls: Call[] = [];
  for (let i = 0; i < count; i++) calls.push(await world.call(instance, `message ${i}`));
  return calls;
}

function liveCalls(world: World): string[] {
  return world.network.legs.filter(({ live }) => live).map(({ callId }) => callId);
}

const idsOf = (calls: readonly Call[]) => calls.map(({ id }) => id);

async function outcomes(world: World, calls: readonly Call[]) {
  const storedCalls = await Promise.all(calls.map((call) => world.storedCall(call)));
  return storedCalls.map(({ status, outcome }) => outcome?.reason ?? status);
}

describe("an instance with several lines", () => {
  test("dials that many calls at once, and the next one when one has ended", async () => {
    const world = await start(3);
    const instance = await world.activeInstance();
    const calls = await createCalls(world, instance, 5);
    expect(liveCalls(world)).toEqual(idsOf(calls.slice(0, 3)));
    const lines = await Promise.all(calls.map(async (call) => (await world.storedCall(call)).line));
    expect(lines).toEqual([0, 1, 2, null, null]);
    world.leg(calls[1]).end("busy");
    await world.system.settle();
    expect(liveCalls(world)).toEqual(idsOf([calls[0]!, calls[2]!, calls[3]!]));
    expect((await world.storedCall(calls[3]!)).line).toBe(1);
    for (const leg of world.network.legs) leg.end("busy");
    await world.system.settle();
    expect(liveCalls(world)).toEqual([calls[4]!.id]);
    expect(world.network.legs).toHaveLength(5);
    await world.stop();
  });

  test("starts with calls that have waited for the line", async () => {
    const world = await start(3);
    const instance = await world.newInstance();
    const calls = await createCalls(world, instance, 5);
    await world.app.instances.configure(ALICE, instance.id);
    await world.line(instance).scan();
    await world.system.settle();
    expect(liveCalls(world)).toEqual(idsOf(calls.slice(0, 3)));
    await world.stop();
  });

  test("carries one call if the network allows no more", async () => {
    const world = await start(5, {}, { capabilities: {} });
    const instance = await world.activeInstance();
    await createCalls(world, instance, 3);
    expect(liveCalls(world)).toHaveLength(1);
    await world.stop();
  });

  test("carries one call without the option, whatever the network allows", async () => {
    const world = await World.start({ policy: { kind: "fifo", depth: 5 }, capabilities: { lines: Infinity } });
    const instance = await world.activeInstance();
    await createCalls(world, instance, 3);
    expect(liveCalls(world)).toHaveLength(1);
    await world.stop();
  });

  test("returns the active call under `single`", async () => {
    const world = await World.start({ policy: { kind: "single", lines: 2 }, capabilities: { lines: 2 } });
    const instance = await world.activeInstance();
    const call = await world.call(instance);
    expect(await world.call(instance)).toMatchObject({ id: call.id, created: false });
    expect(liveCalls(world)).toEqual([call.id]);
    await world.stop();
  });

  test("prepares messages in parallel, and no call twice", async () => {
    const world = await start(3);
    const instance = await world.activeInstance();
    let speak = () => {};
    world.speech.gate = new Promise<void>((resolve) => {
      speak = resolve;
    });
    const calls = await createCalls(world, instance, 4);
    expect(world.network.legs).toHaveLength(0);
    await world.app.calls.hangUp(ALICE, calls[1]!.id);
    speak();
    await world.system.settle();
    expect(liveCalls(world).toSorted()).toEqual(idsOf([calls[0]!, calls[2]!, calls[3]!]));
    expect(world.network.legs).toHaveLength(3);
    await world.stop();
  });

  test("stops searching while messages are prepared, however often it is woken", async () => {
    const world = await start(2);
    const instance = await world.activeInstance();
    const speech = Promise.withResolvers<void>();
    world.speech.gate = speech.promise;
    let checkCount = 0;
    world.storage.before = (operation) => {
      // Stops an endless search, which no timer could interrupt.
      if (operation === "consents.ofNumbers" && ++checkCount > 100) throw new StorageUnavailable("too many checks");
    };
    await Promise.all([1, 2, 3, 4].map((number) => world.create(instance, `message ${number}`)));
    await world.system.settle();
    expect(checkCount).toBeLessThan(30);
    speech.resolve();
    await world.system.settle();
    expect(liveCalls(world)).toHaveLength(2);
    await world.stop();
  });

  test("stops searching while unconfirmed claims of two lanes are looked up", async () => {
    const world = await start(2);
    const instance = await world.activeInstance();
    const failedLines = new Set<unknown>();
    const lookup = Promise.withResolvers<void>();
    let line: unknown;
    let lookupCount = 0;
    let isHeld = false;
    world.storage.before = (operation, args) => {
      if (operation === "calls.claimNext") line = args[3];
      if (operation !== "calls.claimed") return undefined;
      // Stops an endless search, which no timer could interrupt.
      if (++lookupCount > 100) return new Promise(() => {});
      return isHeld ? lookup.promise : undefined;
    };
    world.storage.after = (operation) => {
      if (operation !== "calls.claimNext" || failedLines.has(line)) return;
      failedLines.add(line);
      throw new StorageUnavailable("the response was lost");
    };
    const calls = await createCalls(world, instance, 2);
    await world.system.advance(3_000);
    expect(liveCalls(world)).toEqual(idsOf(calls));
    expect([...failedLines]).toEqual([0, 1]);
    for (const call of calls) world.leg(call).end("busy");
    world.line(instance).goOffline();
    isHeld = true;
    const waitingCalls = await createCalls(world, instance, 2);
    lookupCount = 0;
    lookup.resolve();
    await world.system.settle();
    expect(lookupCount).toBeLessThan(20);
    world.line(instance).goOnline();
    await world.system.advance(2_000);
    expect(liveCalls(world)).toEqual(idsOf(waitingCalls));
    await world.stop();
  });

  test("keeps the pace of its number", async () => {
    const world = await start(5, { paceMs: 10_000 });
    const instance = await world.activeInstance();
    await createCalls(world, instance, 3);
    for (const dialledCount of [1, 2, 3]) {
      expect(world.network.legs).toHaveLength(dialledCount);
      await world.system.advance(9_999);
      expect(world.network.legs).toHaveLength(dialledCount);
      await world.system.advance(1);
    }
    expect(liveCalls(world)).toHaveLength(3);
    await world.stop();
  });

  test("keeps the pace after a call whose dial is delayed", async () => {
    const world = await start(3, { paceMs: 10_000 });
    const instance = await world.activeInstance();
    let isClaimed = false;
    let release = () => {};
    world.storage.before = (operation) => {
      if (operation === "calls.claimNext") isClaimed = true;
      if (!isClaimed || operation !== "consents.ofNumbers") return;
      world.storage.before = () => {};
      return new Promise<void>((resolve) => {
        release = resolve;
      });
    };
    await createCalls(world, instance, 2);
    await world.system.advance(5_000);
    expect(world.network.legs).toHaveLength(0);
    release();
    await world.system.settle();
    expect(world.network.legs).toHaveLength(1);
    await world.system.advance(9_999);
    expect(world.network.legs).toHaveLength(1);
    await world.system.advance(1);
    expect(world.network.legs).toHaveLength(2);
    await world.stop();
  });

  test("warms up its number, however many lines it has", async () => {
    const world = await start(5, { warmUp: { firstDay: 2, growth: 1, days: 2 } });
    const instance = await world.activeInstance();
    const calls = await createCalls(world, instance, 4);
    expect(liveCalls(world)).toEqual(idsOf(calls.slice(0, 2)));
    await world.stop();
  });

  test("dials one call after a pause, and the others after its outcome", async () => {
    const policy = { answerRate: { floor: 1, calls: 1, pauseMs: 60_000 } };
    const world = await start(3, policy, { timings: { queueTimeoutMs: HOUR_MS } });
    const instance = await world.activeInstance();
    const first = await world.call(instance);
    world.leg(first).placed();
    world.leg(first).end("busy");
    await world.system.settle();
    const calls = await createCalls(world, instance, 3);
    expect(liveCalls(world)).toEqual([]);
    await world.system.advance(60_000);
    await world.system.advance(20_000);
    expect(liveCalls(world)).toEqual([calls[0]!.id]);
    const leg = world.leg(calls[0]);
    leg.placed();
    leg.answer();
    await world.system.advance(2_000);
    expect(liveCalls(world)).toEqual(idsOf(calls.slice(1)));
    await world.stop();
  });

  test("ends all its calls with its link", async () => {
    const world = await start(3);
    const instance = await world.activeInstance();
    const calls = await createCalls(world, instance, 3);
    await world.app.instances.unlink(ALICE, instance.id);
    await world.system.settle();
    expect(await outcomes(world, calls)).toEqual(["instance_lost", "instance_lost", "instance_lost"]);
    expect(liveCalls(world)).toEqual([]);
    await world.stop();
  });

  test("ends all its calls with its deletion", async () => {
    const world = await start(2);
    const instance = await world.activeInstance();
    const calls = await createCalls(world, instance, 3);
    await world.app.instances.delete(ALICE, instance.id);
    await world.system.settle();
    expect(await outcomes(world, calls)).toEqual(["instance_deleted", "instance_deleted", "instance_deleted"]);
    expect(world.network.legs).toHaveLength(2);
    await world.stop();
  });

  test("reports the loss of the line to all its calls", async () => {
    const world = await start(3);
    const instance = await world.activeInstance();
    const calls = await createCalls(world, instance, 4);
    for (const call of calls.slice(0, 3)) world.leg(call).placed();
    await world.system.settle();
    world.line(instance).goOffline("no network");
    await world.system.advance(60_000);
    expect(await outcomes(world, calls)).toEqual(["instance_lost", "instance_lost", "instance_lost", "QUEUED"]);
    world.line(instance).goOnline();
    await world.system.settle();
    expect(liveCalls(world)).toEqual([calls[3]!.id]);
    await world.stop();
  });

  test("keeps a call whose pace has passed while the clock was set", async () => {
    const world = await start(2, { paceMs: 10_000 });
    const instance = await world.activeInstance();
    const speech = Promise.withResolvers<void>();
    world.speech.gate = speech.promise;
    const calls = await createCalls(world, instance, 2);
    speech.resolve();
    await world.system.settle();
    expect(liveCalls(world)).toEqual(idsOf(calls.slice(0, 1)));
    world.system.jump(-60_000);
    await world.system.advance(10_000);
    expect(liveCalls(world)).toEqual(idsOf(calls));
    for (const call of calls) world.leg(call).placed();
    world.line(instance).goOffline("no network");
    await world.system.advance(60_000);
    expect(await outcomes(world, calls)).toEqual(["instance_lost", "instance_lost"]);
    await world.stop();
  });

  test("hangs up one of its calls, and no other", async () => {
    const world = await start(3);
    const instance = await world.activeInstance();
    const calls = await createCalls(world, instance, 3);
    await world.app.calls.hangUp(ALICE, calls[1]!.id);
    await world.system.settle();
    expect(liveCalls(world)).toEqual(idsOf([calls[0]!, calls[2]!]));
    await world.stop();
  });

  test("returns a claim whose result was lost, while its other calls continue", async () => {
    const world = await start(3);
    const instance = await world.activeInstance();
    const first = await world.call(instance);
    const isLost = world.loseResult("calls.claimNext");
    const second = await world.call(instance);
    expect(isLost()).toBe(true);
    await world.system.advance(30_000);
    expect(world.network.legs.map(({ callId }) => callId)).toEqual([first.id, second.id]);
    await world.stop();
  });

  test("interrupts its live calls after a crash, and dials the others", async () => {
    const world = await start(3);
    const instance = await world.activeInstance();
    const calls = await createCalls(world, instance, 5);
    const restartedWorld = await world.crashAndRestart();
    await restartedWorld.system.settle();
    expect(await outcomes(restartedWorld, calls)).toEqual([
      "interrupted",
      "interrupted",
      "interrupted",
      "QUEUED",
      "QUEUED",
    ]);
    expect(liveCalls(restartedWorld)).toEqual(idsOf(calls.slice(3)));
    await restartedWorld.stop();
  });
});

test("a wrong number of lines makes the start fail", async () => {
  await expect(start(0)).rejects.toThrow("queue: lines is 0: it must be a whole number from 1 to 100");
  await expect(start(5, { kind: "fifo", depth: 4 })).rejects.toThrow(
    "queue: depth is 4: it must be at least lines (5)",
  );
  await expect(start(2, {}, { capabilities: { lines: 1.5 } })).rejects.toThrow("lines of scripted is 1.5: it must be");
});
