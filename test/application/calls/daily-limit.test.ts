import { describe, expect, test } from "vitest";
import type { Principal } from "../../../src/domain/access/principal.ts";
import type { Instance } from "../../../src/domain/instances/instance.ts";
import { Refusal } from "../../../src/domain/refusal.ts";
import { NUMBER, World, type WorldOptions } from "../../support/application.ts";

const HOUR_MS = 3_600_000;
const LIMITED_TOKEN: Principal = { userId: "usr_alice", tokenId: "tok_1", maxCallsPerDay: 2 };

const create = (world: World, instance: Instance, principal: Principal = LIMITED_TOKEN, idempotencyKey?: string) =>
  world.app.calls.create(
    principal,
    { instanceId: instance.id, type: "DYNAMIC_STREAM", target: { phoneNumber: NUMBER } },
    { idempotencyKey },
  );

/** Refusal of a creation; fails the test if it succeeds. */
async function refusalOf(creation: Promise<unknown>): Promise<Refusal> {
  const error = await creation.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof Refusal) return error;
  throw new Error(`not refused: ${String(error)}`);
}

/** A world with instances without a number, whose calls wait. */
async function scene(count: number, options: WorldOptions = {}) {
  const world = await World.start({ timings: { queueTimeoutMs: 7 * 24 * HOUR_MS }, ...options });
  const instances: Instance[] = [];
  for (let n = 0; n < count; n++) instances.push(await world.newInstance());
  return { world, instances: instances as [Instance, Instance, Instance, Instance] };
}

describe("a token with a daily limit", () => {
  test("creates calls up to its limit per 24 hours", async () => {
    const { world, instances } = await scene(4);
    const [first, second, third, fourth] = instances;
    await create(world, first);
    await world.system.advance(HOUR_MS);
    await create(world, second);
    const refusal = await refusalOf(create(world, third));
    expect(refusal).toMatchObject({ code: "daily_call_limit", limit: 2 });
    expect(Math.abs((refusal.retryAfterMs ?? 0) - 23 * HOUR_MS)).toBeLessThan(1_000);
    await world.system.advance((refusal.retryAfterMs ?? 0) - 1);
    expect((await refusalOf(create(world, third))).retryAfterMs).toBe(1);
    await world.system.advance(1);
    await create(world, third);
    expect((await refusalOf(create(world, fourth))).code).toBe("daily_call_limit");
    await world.stop();
  });

  test.each([366 * 24 * HOUR_MS, -366 * 24 * HOUR_MS])(
    "blocks for at most a day if the clock was off by %i ms for a moment",
    async (aheadMs) => {
      const { world, instances } = await scene(4);
      world.system.jump(aheadMs);
      await create(world, instances[0]);
      await create(world, instances[1]);
      world.system.jump(-aheadMs);
      await world.system.advance(HOUR_MS);
      const refusal = await refusalOf(create(world, instances[2]));
      expect(refusal.retryAfterMs).toBeLessThanOrEqual(24 * HOUR_MS);
      await world.system.advance(refusal.retryAfterMs ?? 0);
      await create(world, instances[2]);
      await world.stop();
    },
  );

  test("blocks for at most a day if the clock was ahead for days", async () => {
    const { world, instances } = await scene(4);
    world.system.jump(366 * 24 * HOUR_MS);
    await world.system.advance(26 * HOUR_MS);
    await create(world, instances[0]);
    await create(world, instances[1]);
    world.system.jump(-366 * 24 * HOUR_MS);
    const refusal = await refusalOf(create(world, instances[2]));
    expect(refusal.retryAfterMs).toBeLessThanOrEqual(24 * HOUR_MS);
    await world.system.advance(refusal.retryAfterMs ?? 0);
    await create(world, instances[2]);
    await world.stop();
  });

  test("keeps to its limit when the clock catches up after downtime", async () => {
    const { world, instances } = await scene(4);
    await world.system.advance(2 * HOUR_MS);
    world.system.jump(48 * HOUR_MS);
    const restartedWorld = await world.crashAndRestart();
    await restartedWorld.system.advance(23 * HOUR_MS);
    await create(restartedWorld, instances[0]);
    await create(restartedWorld, instances[1]);
    await restartedWorld.system.advance(2 * HOUR_MS);
    expect((await refusalOf(create(restartedWorld, instances[2]))).code).toBe("daily_call_limit");
    await restartedWorld.stop();
  });

  test("ignores existing calls, replays and refused requests", async () => {
    const { world, instances } = await scene(3);
    const [first, second, third] = instances;
    const call = await create(world, first, LIMITED_TOKEN, "one");
    expect(await create(world, first)).toMatchObject({ id: call.id, created: false });
    expect(await create(world, first, LIMITED_TOKEN, "one")).toMatchObject({ id: call.id, replayed: true });
    await expect(create(world, { ...second, id: "inst_unknown" })).rejects.toMatchObject({
      code: "instance_not_found",
    });
    expect((await create(world, second)).created).toBe(true);
    expect((await refusalOf(create(world, third))).code).toBe("daily_call_limit");
    expect(await create(world, first)).toMatchObject({ id: call.id, created: false });
    expect(await create(world, first, LIMITED_TOKEN, "one")).toMatchObject({ id: call.id, replayed: true });
    await world.stop();
  });

  test("frees the idempotency key of refused requests", async () => {
    const { world, instances } = await scene(3);
    await create(world, instances[0]);
    await create(world, instances[1]);
    await refusalOf(create(world, instances[2], LIMITED_TOKEN, "later"));
    await world.system.advance(24 * HOUR_MS);
    expect(await create(world, instances[2], LIMITED_TOKEN, "later")).toMatchObject({ created: true, replayed: false });
    await world.stop();
  });

  test("is counted apart from the user's other tokens", async () => {
    const { world, instances } = await scene(4);
    await create(world, instances[0]);
    await create(world, instances[1]);
    await refusalOf(create(world, instances[2]));
    expect((await create(world, instances[2], { ...LIMITED_TOKEN, tokenId: "tok_2" })).tokenId).toBe("tok_2");
    expect((await create(world, instances[3], { userId: "usr_alice" })).tokenId).toBeNull();
    await world.stop();
  });

  test("stays exhausted after restart, purge and erasure", async () => {
    const { world, instances } = await scene(3, { retentionDays: 0.1 });
    for (const instance of instances.slice(0, 2)) {
      const { id } = await create(world, instance);
      await world.app.calls.hangUp(LIMITED_TOKEN, id);
    }
    await world.system.advance(4 * HOUR_MS);
    expect(await world.app.calls.list(LIMITED_TOKEN)).toEqual([]);
    expect((await refusalOf(create(world, instances[2]))).code).toBe("daily_call_limit");
    await world.app.erase(NUMBER);
    const restartedWorld = await world.crashAndRestart();
    expect((await refusalOf(create(restartedWorld, instances[2]))).code).toBe("daily_call_limit");
    await restartedWorld.system.advance(20 * HOUR_MS);
    expect((await create(restartedWorld, instances[2])).created).toBe(true);
    await restartedWorld.stop();
  });

  test("stays exhausted after an erasure on the same day", async () => {
    const { world, instances } = await scene(3);
    for (const instance of instances.slice(0, 2)) await create(world, instance);
    expect((await world.app.erase(NUMBER)).calls).toBe(2);
    expect((await refusalOf(create(world, instances[2]))).code).toBe("daily_call_limit");
    await world.stop();
  });
});

describe("a server's daily limit", () => {
  test("applies to tokens without their own limit", async () => {
    const { world, instances } = await scene(4, { callLimits: { maxCallsPerDay: 1 } });
    const unlimitedUser: Principal = { userId: "usr_alice", tokenId: "tok_9" };
    await create(world, instances[0], unlimitedUser);
    expect(await refusalOf(create(world, instances[1], unlimitedUser))).toMatchObject({
      code: "daily_call_limit",
      limit: 1,
    });
    await create(world, instances[1]);
    await create(world, instances[2]);
    expect(await refusalOf(create(world, instances[3]))).toMatchObject({ code: "daily_call_limit", limit: 2 });
    expect((await create(world, instances[3], { userId: "usr_alice" })).created).toBe(true);
    await world.stop();
  });
});
