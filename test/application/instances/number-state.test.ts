import { describe, expect, test } from "vitest";
import type { Instance } from "../../../src/domain/instances/instance.ts";
import { DialError } from "../../../src/ports/telephony.ts";
import { ALICE, World } from "../../support/application.ts";

const MINUTE_MS = 60_000;
const YEAR_MS = 366 * 24 * 60 * MINUTE_MS;
const OTHER_NUMBER = "+12025550177";
const FIRST_NUMBER = "+12025550199";

/** A world with a number that has placed one call, with at least ten minutes between dials. */
async function pacedWorld() {
  const world = await World.start({
    policy: { kind: "fifo", depth: 5, paceMs: 10 * MINUTE_MS },
    timings: { queueTimeoutMs: 60 * MINUTE_MS },
  });
  const instance = await world.newInstance();
  await link(world, instance, FIRST_NUMBER);
  const first = await world.call(instance);
  world.leg(first).end("busy");
  await world.system.advance(MINUTE_MS);
  return { world, instance };
}

async function link(world: World, instance: Instance, phone: string): Promise<void> {
  await world.app.instances.configure(ALICE, instance.id);
  await world.line(instance).scan(phone);
  await world.system.settle();
}

describe.each(["its owner", "its user"])("a number that was unlinked by %s", (actor) => {
  const unlink = async (world: World, instance: Instance) => {
    if (actor === "its user") await world.app.instances.unlink(ALICE, instance.id);
    else world.line(instance).unlinkByOwner();
    await world.system.settle();
  };

  test("does not delay the next number's call by its pace", async () => {
    const { world, instance } = await pacedWorld();
    await unlink(world, instance);
    await link(world, instance, OTHER_NUMBER);
    const call = await world.call(instance);
    expect(world.leg(call).live).toBe(true);
    await world.stop();
  });

  test("does not delay a call that waited for its pace", async () => {
    const { world, instance } = await pacedWorld();
    const call = await world.call(instance);
    expect(world.network.legs).toHaveLength(1);
    await unlink(world, instance);
    await link(world, instance, OTHER_NUMBER);
    expect(world.leg(call).live).toBe(true);
    await world.stop();
  });

  test("does not delay the next number's call after a restart", async () => {
    const { world, instance } = await pacedWorld();
    await unlink(world, instance);
    await link(world, instance, OTHER_NUMBER);
    const next = await world.crashAndRestart();
    const call = await next.call(instance);
    expect(next.leg(call).live).toBe(true);
    await next.stop();
  });

  test("keeps its pace when it is linked again", async () => {
    const { world, instance } = await pacedWorld();
    await unlink(world, instance);
    await link(world, instance, FIRST_NUMBER);
    await world.call(instance);
    await world.system.advance(8 * MINUTE_MS);
    expect(world.network.legs).toHaveLength(1);
    await world.system.advance(2 * MINUTE_MS);
    expect(world.network.legs).toHaveLength(2);
    await world.stop();
  });

  test("does not delay the next number although its network was full", async () => {
    const world = await World.start({ timings: { queueTimeoutMs: 60 * MINUTE_MS } });
    const instance = await world.newInstance();
    await link(world, instance, FIRST_NUMBER);
    world.network.onDial = () => {
      throw new DialError("line_lost", "the trunk is full", { retryAfterMs: 30 * MINUTE_MS });
    };
    const call = await world.call(instance);
    world.network.onDial = () => {};
    await unlink(world, instance);
    await link(world, instance, OTHER_NUMBER);
    await world.system.advance(2_000);
    expect(world.leg(call).live).toBe(true);
    await world.stop();
  });
});

test("a number linked while the clock was ahead has no earlier dials", async () => {
  const protection = { answerRate: { floor: 0.5, calls: 1, pauseMs: 60 * MINUTE_MS }, paceMs: 10 * MINUTE_MS };
  const world = await World.start({ policy: { kind: "fifo", depth: 5, ...protection } });
  const instance = await world.newInstance();
  await link(world, instance, FIRST_NUMBER);
  const dial = async () => {
    const call = await world.call(instance);
    if (world.network.legs.at(-1)?.callId === call.id) world.leg(call).end("busy");
    await world.system.settle();
    return (await world.storedCall(call)).outcome?.reason;
  };
  expect(await dial()).toBe("busy");
  world.system.jump(YEAR_MS);
  await world.app.instances.unlink(ALICE, instance.id);
  await link(world, instance, OTHER_NUMBER);
  world.system.jump(-YEAR_MS);
  expect(await dial()).toBe("busy");
  expect(await dial()).toBe("instance_paused");
  await world.stop();
});
