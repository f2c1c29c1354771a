import { describe, expect, test } from "vitest";
import { LineMonitor } from "../../../src/application/instances/line-monitor.ts";
import type { Instance } from "../../../src/domain/instances/instance.ts";
import type { LineHost } from "../../../src/ports/telephony.ts";
import { ALICE, World } from "../../support/application.ts";

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const RECORD = Uint8Array.of(1);

/** An instance that pauses after one more unanswered call. */
async function sceneNearPause(): Promise<{ world: World; instance: Instance; host: () => LineHost | undefined }> {
  const answerRate = { floor: 0.9, calls: 2, pauseMs: HOUR_MS };
  const world = await World.start({ policy: { kind: "fifo", depth: 50, answerRate } });
  const hosts: LineHost[] = [];
  const open = world.network.open.bind(world.network);
  world.network.open = (ref, host) => {
    hosts.push(host);
    return open(ref, host);
  };
  const instance = await world.activeInstance();
  await missedCall(world, instance);
  return { world, instance, host: () => hosts.at(-1) };
}

async function missedCall(world: World, instance: Instance, duringCall = () => {}): Promise<void> {
  const leg = world.leg(await world.call(instance));
  leg.placed();
  duringCall();
  leg.end("busy");
  await world.system.settle();
}

async function pausesOf(world: World, { id }: Instance): Promise<unknown[]> {
  const log = await world.storage.events.ofUser(ALICE.userId, { instanceId: id }, {});
  return log.filter(({ type }) => type === "instance.paused").map(({ data }) => data);
}

/** A second monitor of the instance, which gets no reports. */
async function monitorOf(world: World, { id }: Instance): Promise<LineMonitor> {
  const ignore = () => {};
  const storedInstance = (await world.storage.instances.get(id)) as Instance;
  return new LineMonitor(world.context, storedInstance, world.network, {
    onOnline: ignore,
    onOffline: ignore,
    onBroken: ignore,
  });
}

describe("a late pause", () => {
  test("deletes no part of a newer link", async () => {
    const { world, instance, host } = await sceneNearPause();
    let release = () => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    await missedCall(world, instance, () => {
      world.storage.after = async (operation) => {
        if (operation === "calls.dialHistory") await gate;
      };
    });
    await world.app.instances.unlink(ALICE, instance.id);
    await world.app.instances.configure(ALICE, instance.id);
    await host()?.records.set(new Map([["key", RECORD]]));
    release();
    await world.system.settle();
    expect(await world.storage.lineRecords.keys(instance.id, "")).toEqual(["key"]);
    expect((await world.storage.instances.get(instance.id))?.pause ?? null).toBeNull();
    expect(await pausesOf(world, instance)).toEqual([]);
    await world.stop();
  });
});

describe("a pause", () => {
  const pause = (until: number) => ({ until, reason: "too few calls were answered" });

  test("is reported once, however often it is decided while being stored", async () => {
    const { world, instance } = await sceneNearPause();
    const monitor = await monitorOf(world, instance);
    const now = world.system.now();
    const [first, laterPause] = [now + HOUR_MS, now + HOUR_MS + MINUTE_MS];
    for (const until of [first, laterPause]) monitor.pause(pause(until));
    await monitor.whenStored();
    monitor.pause(pause(laterPause));
    await monitor.whenStored();
    expect(await pausesOf(world, instance)).toMatchObject([{ paused_until: new Date(first).toISOString() }]);
    expect((await world.storage.instances.get(instance.id))?.pause?.until).toBe(laterPause);
    monitor.pause(pause(laterPause + HOUR_MS));
    await monitor.whenStored();
    expect(await pausesOf(world, instance)).toHaveLength(2);
    await world.stop();
  });

  test("for a used-up warm-up is reported once, although short ones follow each call", async () => {
    const { world, instance } = await sceneNearPause();
    const monitor = await monitorOf(world, instance);
    for (let i = 0; i < 5; i++) {
      monitor.pause(pause(world.system.now() + MINUTE_MS));
      await monitor.whenStored();
      await world.system.advance(2 * MINUTE_MS);
    }
    expect(await pausesOf(world, instance)).toHaveLength(1);
    monitor.pause(pause(world.system.now() + 20 * HOUR_MS));
    await monitor.whenStored();
    expect(await pausesOf(world, instance)).toHaveLength(2);
    await world.stop();
  });

  test("is stored and reported after a failed write", async () => {
    const { world, instance } = await sceneNearPause();
    const monitor = await monitorOf(world, instance);
    const until = world.system.now() + HOUR_MS;
    world.storage.before = (operation) => {
      if (operation === "instances.update") throw new Error("the disk is broken");
    };
    monitor.pause(pause(until));
    await monitor.whenStored();
    world.storage.before = () => {};
    monitor.pause(pause(until));
    await monitor.whenStored();
    expect(await pausesOf(world, instance)).toMatchObject([{ paused_until: new Date(until).toISOString() }]);
    await world.stop();
  });
});
