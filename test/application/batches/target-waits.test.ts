import { describe, expect, test } from "vitest";
import { ALICE, NUMBER, type World } from "../../support/application.ts";
import { batchOf, CALLEE_NUMBERS, startWithCallees } from "./callees.ts";

const HOUR = 3_600_000;
const LINE = { reason: "line", after: null, until: null };

/** The waits of a batch's targets. */
async function waitsOf(world: World, batchId: string) {
  return (await world.app.batches.targets(ALICE, batchId)).map(({ waiting }) => waiting);
}

describe("a waiting target", () => {
  test("names its batch's start, then a pause, then a free line", async () => {
    const { world, callees, instance } = await startWithCallees();
    const startAt = world.system.now() + HOUR;
    const schedule = { startAt: new Date(startAt).toISOString() };
    const { id } = await world.app.batches.create(ALICE, batchOf([instance.id], { schedule, start: false }));
    expect((await waitsOf(world, id))[0]).toEqual({ reason: "start", after: null, until: null });
    await world.app.batches.start(ALICE, id);
    expect((await waitsOf(world, id))[0]).toEqual({ reason: "start", after: null, until: startAt });
    await callees.wait(3_601);
    expect(await waitsOf(world, id)).toEqual([null, LINE, LINE]);
    await world.app.batches.pause(ALICE, id);
    expect((await waitsOf(world, id))[2]).toEqual({ reason: "paused", after: null, until: null });
    await world.stop();
  });

  test("names its callee's calling hours", async () => {
    const { world, callees, instance } = await startWithCallees(); // it is midnight UTC
    const until = world.system.now() + 9 * HOUR;
    const schedule = { hours: { from: "09:00", to: "10:00" }, zone: "UTC" };
    const { id } = await world.app.batches.create(ALICE, batchOf([instance.id], { schedule }));
    await callees.wait(5);
    expect((await waitsOf(world, id))[0]).toEqual({ reason: "hours", after: null, until });
    await world.stop();
  });

  test("names the server's calling hours", async () => {
    const policy = { kind: "single", callingHours: { from: "09:00", until: "10:00" } } as const;
    const { world, instance } = await startWithCallees({ policy });
    const { id } = await world.app.batches.create(ALICE, batchOf([instance.id]));
    expect((await waitsOf(world, id))[0]).toMatchObject({ reason: "hours" });
    await world.stop();
  });

  test("names the calling hours of a network whose line is not open", async () => {
    const protection = { callingHours: { from: "09:00", until: "10:00" } };
    const { world } = await startWithCallees({ capabilities: { protection } });
    const { id: instanceId } = await world.app.instances.create(ALICE, { name: "Not linked yet" });
    const targets = [{ phoneNumber: CALLEE_NUMBERS[0]!, variables: { name: "Ada" } }];
    const { id } = await world.app.batches.create(ALICE, batchOf([instanceId], { targets }));
    const [hours] = await waitsOf(world, id);
    expect(hours).toMatchObject({ reason: "hours" });
    expect(await world.app.batches.plan(ALICE, id)).toMatchObject({ calls: [{ at: hours?.until }] });
    await world.stop();
  });

  test("names its retry, and the batch counts the retries by reason", async () => {
    const { world, callees, instance } = await startWithCallees();
    callees.busyAttempts.set(CALLEE_NUMBERS[0]!, 1);
    callees.busyAttempts.set(CALLEE_NUMBERS[1]!, 1);
    const retry = { on: ["busy" as const], times: 1, afterMs: 600_000 };
    const { id } = await world.app.batches.create(ALICE, batchOf([instance.id], { retry }));
    await callees.wait(30);
    const targets = await world.app.batches.targets(ALICE, id);
    expect(targets.map(({ waiting }) => waiting)).toEqual([
      { reason: "retry", after: "busy", until: targets[0]?.nextAttemptAt },
      { reason: "retry", after: "busy", until: targets[1]?.nextAttemptAt },
      null,
    ]);
    expect((await world.app.batches.get(ALICE, id)).counts).toMatchObject({
      byReason: [{ reason: "message_played", targets: 1 }],
      waitingAfter: [{ reason: "busy", targets: 2 }],
    });
    await callees.wait(700);
    expect((await world.app.batches.get(ALICE, id)).counts).toEqual({
      byStatus: { COMPLETED: 3 },
      byReason: [{ status: "COMPLETED", reason: "message_played", targets: 3 }],
      waitingAfter: [],
    });
    await world.stop();
  });

  test("names the gap after an individual call, and no gap without such a call", async () => {
    const { world, callees, instance } = await startWithCallees();
    await world.call(instance);
    await callees.wait(30);
    const [call] = await world.app.calls.list(ALICE);
    const targets = [NUMBER, ...CALLEE_NUMBERS].map((phoneNumber) => ({ phoneNumber, variables: { name: "Ada" } }));
    const input = batchOf([instance.id], { targets, gapMs: 600_000 });
    const plan = await world.app.batches.dryRun(ALICE, input);
    const plannedAt = plan.calls.find(({ phone }) => phone === NUMBER)?.at;
    expect([plan.calls.length, plan.startsAt, plannedAt]).toEqual([
      ...[4, world.system.now(), call!.endedAt! + 600_000],
    ]);
    const ungapped = await world.app.batches.dryRun(ALICE, { ...input, gapMs: 0 });
    expect(ungapped.calls[0]).toMatchObject({ phone: NUMBER, at: world.system.now() });
    const { id } = await world.app.batches.create(ALICE, input);
    await callees.wait(1);
    expect((await waitsOf(world, id))[0]).toEqual({ reason: "gap", after: null, until: call!.endedAt! + 600_000 });
    const nextAttemptAt = world.system.now() + 60_000;
    await world.storage.batches.updateTarget(id, 4, 1, { nextAttemptAt }, []);
    expect((await waitsOf(world, id))[3]).toBeNull();
    await world.stop();
  });

  test("names its token's limit", async () => {
    const { world, callees, instance } = await startWithCallees();
    const alice = { ...ALICE, tokenId: "tok_1", maxCallsPerDay: 1 };
    const { id } = await world.app.batches.create(alice, batchOf([instance.id]));
    await callees.wait(30);
    const limit = { reason: "daily_call_limit", after: null, until: null };
    expect(await waitsOf(world, id)).toEqual([null, limit, limit]);
    await world.stop();
  });

  test("names no wait in a list that is read without waits", async () => {
    const { world, instance } = await startWithCallees();
    const { id } = await world.app.batches.create(ALICE, batchOf([instance.id], { start: false }));
    const [target] = await world.app.batches.targets(ALICE, id, {}, {}, { withWaits: false });
    expect(target).toMatchObject({ status: "WAITING", waiting: null });
    await world.stop();
  });
});

test("reading many targets' waits leaves turns of the event loop to live audio", async () => {
  const { world, instance } = await startWithCallees();
  const targets = Array.from({ length: 200 }, (_, index) => ({
    phoneNumber: `+1202555${1_000 + index}`,
    variables: { name: "Ada" },
  }));
  const { id } = await world.app.batches.create(ALICE, batchOf([instance.id], { targets, start: false }));
  let turns = 0;
  let next: ReturnType<typeof setImmediate> | undefined;
  const count = () => {
    turns++;
    next = setImmediate(count);
  };
  count();
  await world.app.batches.targets(ALICE, id);
  clearImmediate(next);
  expect(turns).toBeGreaterThanOrEqual(4);
  await world.stop();
});
