import { expect, test } from "vitest";
import { ManualSystem } from "../../../src/testing/manual-system.ts";
import { ALICE } from "../../support/application.ts";
import { batchOf, CALLEE_NUMBERS, Callees, startWithCallees } from "./callees.ts";

const isoText = (time: number): string => new Date(time).toISOString();

test("a batch that would start in the past is refused, and no phone rings", async () => {
  const { world, callees, instance } = await startWithCallees();
  const now = world.system.now();
  const input = batchOf([instance.id], { schedule: { startAt: isoText(now - 86_400_000), endAt: isoText(now - 1) } });
  const refusal = {
    code: "invalid_request",
    errors: [
      {
        pointer: "/schedule/startAt",
        detail: `${isoText(now - 86_400_000)} is in the past (it is ${isoText(now)}): choose a later time, or leave it out to call as soon as the batch starts`,
      },
      {
        pointer: "/schedule/endAt",
        detail: `${isoText(now - 1)} is in the past (it is ${isoText(now)}): choose a later time`,
      },
    ],
  };
  await expect(world.app.batches.create(ALICE, input)).rejects.toMatchObject(refusal);
  await expect(world.app.batches.create(ALICE, { ...input, start: false })).rejects.toMatchObject(refusal);
  await expect(world.app.batches.dryRun(ALICE, input)).rejects.toMatchObject(refusal);
  await callees.wait(5);
  expect(callees.dialledNumbers).toEqual([]);
  expect(await world.app.batches.list(ALICE)).toEqual([]);
  await world.stop();
});

test("a batch whose start time has just passed begins at once", async () => {
  const { world, callees, instance } = await startWithCallees();
  const schedule = { startAt: isoText(world.system.now() - 59_000) };
  const { status } = await world.app.batches.create(ALICE, batchOf([instance.id], { schedule }));
  expect(status).toBe("RUNNING");
  await callees.wait(30);
  expect(callees.dialledNumbers).toEqual(CALLEE_NUMBERS);
  await world.stop();
});

test("a draft whose start time has passed begins at once when it is started", async () => {
  const { world, callees, instance } = await startWithCallees();
  const schedule = { startAt: isoText(world.system.now() + 60_000) };
  const { id } = await world.app.batches.create(ALICE, batchOf([instance.id], { schedule, start: false }));
  await callees.wait(600);
  expect(callees.dialledNumbers).toEqual([]);
  expect((await world.app.batches.start(ALICE, id)).status).toBe("RUNNING");
  await callees.wait(30);
  expect(callees.dialledNumbers).toEqual(CALLEE_NUMBERS);
  await world.stop();
});

test("a scheduled batch whose start time passes while the server is down begins afterwards", async () => {
  const { world, instance } = await startWithCallees();
  const schedule = { startAt: isoText(world.system.now() + 60_000) };
  await world.app.batches.create(ALICE, batchOf([instance.id], { schedule }));
  const next = await world.crashAndRestart({ system: new ManualSystem({ now: world.system.now() + 3_600_000 }) });
  const callees = new Callees(next);
  await callees.wait(60);
  expect(callees.dialledNumbers).toEqual(CALLEE_NUMBERS);
  await next.stop();
});

test("a repeated request gets its batch, although its start time has passed", async () => {
  const { world, instance } = await startWithCallees();
  const schedule = { startAt: isoText(world.system.now() + 60_000) };
  const create = () =>
    world.app.batches.create(ALICE, batchOf([instance.id], { schedule, start: false }), { idempotencyKey: "monday" });
  const { id } = await create();
  await world.system.advance(3_600_000);
  expect(await create()).toMatchObject({ id, replayed: true });
  await world.stop();
});

test("a wrong zone and a wrong reason for a retry are quoted", async () => {
  const { world, instance } = await startWithCallees();
  const wrongFields = { schedule: { zone: "Mars" }, retry: { on: ["busi" as never] } };
  await expect(world.app.batches.create(ALICE, batchOf([instance.id], wrongFields))).rejects.toMatchObject({
    errors: [
      { pointer: "/schedule/zone", detail: expect.stringMatching(/^must be "callee" or .*, not "Mars"$/) },
      { pointer: "/retry/on/0", detail: expect.stringMatching(/^must be one of busy, .*, not "busi"$/) },
    ],
  });
  await world.stop();
});
