import { describe, expect, test } from "vitest";
import { RecordingQuota } from "../../../src/application/call-audio/recording-quota.ts";
import { RECORDED_BYTES_PER_MS } from "../../../src/domain/limits.ts";
import { ALICE, World } from "../../support/application.ts";

/** Sets a quota of 100 ms per user and 60 ms per demo instance; `storedMs` is the stored part by owner. */
async function scene(storedMs: Readonly<Record<string, number>> = {}) {
  const ms = (count: number) => count * RECORDED_BYTES_PER_MS;
  const limits = { storedBytesPerUser: ms(100), storedBytesPerDemoInstance: ms(60) };
  const world = await World.start({ limits: { ...limits } });
  const storedMsByOwner = new Map(Object.entries(storedMs));
  world.storage.retention.storedBytes = async (ownerId) => ms(storedMsByOwner.get(ownerId) ?? 0);
  const quota = new RecordingQuota();
  const begin = async (isDemo?: true) => {
    const call = { userId: ALICE.userId, instanceId: "inst_1", isDemo };
    const allowance = quota.begin(world.context, call);
    await world.system.settle();
    return allowance;
  };
  return { world, storedMsByOwner, begin };
}

describe("the quota of live recordings", () => {
  test("is reduced by the stored recordings", async () => {
    const { world, begin } = await scene({ [ALICE.userId]: 70 });
    const allowance = await begin();
    expect([allowance.take(20), allowance.take(20), allowance.take(10), allowance.take(1)]).toEqual([
      true,
      false,
      true,
      false,
    ]);
    await world.stop();
  });

  test("is shared by a user's live calls, including those of a demo instance", async () => {
    const { world, begin } = await scene({ inst_1: 10 });
    const [demoRecording, otherRecording] = [await begin(true), await begin()];
    expect([demoRecording.take(50), demoRecording.take(1), otherRecording.take(50), otherRecording.take(1)]).toEqual([
      true,
      false,
      true,
      false,
    ]);
    await world.stop();
  });

  test("keeps an ended recording's bytes until the storage counts them", async () => {
    const { world, storedMsByOwner, begin } = await scene();
    const [first, second] = [await begin(), await begin()];
    first.take(60);
    first.end(true);
    first.end(true);
    expect([second.take(41), second.take(40)]).toEqual([false, true]);
    storedMsByOwner.set(ALICE.userId, 20);
    const third = await begin();
    expect([third.take(41), third.take(40)]).toEqual([false, true]);
    await world.stop();
  });

  test("regains the space of a deleted recording", async () => {
    const { world, begin } = await scene();
    const [first, second] = [await begin(), await begin()];
    first.take(60);
    first.end(false);
    expect([second.take(100), second.take(1)]).toEqual([true, false]);
    await world.stop();
  });
});
