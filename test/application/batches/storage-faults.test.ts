import { describe, expect, test, vi } from "vitest";
import { EventLog } from "../../../src/application/calls/event-log.ts";
import type { BatchTarget } from "../../../src/domain/batches/batch.ts";
import type { Event } from "../../../src/domain/events.ts";
import { StorageUnavailable } from "../../../src/ports/storage.ts";
import { ManualSystem } from "../../../src/testing/manual-system.ts";
import { ALICE } from "../../support/application.ts";
import { batchOf, CALLEE_NUMBERS, startWithCallees } from "./callees.ts";

/** Timers fire up to a millisecond early by the monotonic clock, as Node's timers do. */
class EarlySystem extends ManualSystem {
  override after(ms: number, run: () => void): () => void {
    return super.after(Math.max(0, ms - 0.4), run);
  }
}

describe("a batch whose storage is slow", () => {
  test("stores the calls of several lines at the same time, each once", async () => {
    const { world, callees, instance } = await startWithCallees();
    const instances = [instance, await world.activeInstance(), await world.activeInstance()];
    const write = Promise.withResolvers<void>();
    let insertions = 0;
    world.storage.before = (operation) => {
      if (operation !== "calls.insert") return;
      insertions++;
      return write.promise;
    };
    const people = [...CALLEE_NUMBERS, "+12025550104", "+12025550105"];
    const targets = people.map((phoneNumber) => ({ phoneNumber, variables: { name: "Ada" } }));
    const ids = instances.map(({ id }) => id);
    const { id } = await world.app.batches.create(ALICE, batchOf(ids, { targets, maxConcurrent: 2 }));
    await callees.wait(5); // the due targets are read again in the meantime
    expect(insertions).toBe(2);
    write.resolve();
    await callees.wait(60);
    expect(callees.dialledNumbers.sort()).toEqual(people);
    expect(await world.app.batches.get(ALICE, id)).toMatchObject({
      status: "COMPLETED",
      counts: { byStatus: { COMPLETED: 5 } },
    });
    await world.stop();
  });
});

describe("a batch whose storage fails", () => {
  test("follows a call whose insertion was stored without a response", async () => {
    const { world, callees, instance } = await startWithCallees();
    const wasLost = world.loseResult("calls.insert");
    const { id } = await world.app.batches.create(ALICE, batchOf([instance.id]));
    await callees.wait(60);
    expect(wasLost()).toBe(true);
    expect(callees.dialledNumbers).toEqual(CALLEE_NUMBERS);
    expect(await world.app.batches.get(ALICE, id)).toMatchObject({
      status: "COMPLETED",
      counts: { byStatus: { COMPLETED: 3 } },
    });
    await world.stop();
  });

  test("follows that call even if the batch's calls cannot be read at first", async () => {
    const { world, callees, instance } = await startWithCallees();
    let isLost = false;
    let failures = 3;
    world.storage.after = (operation) => {
      if (operation !== "calls.insert" || isLost) return;
      isLost = true;
      throw new StorageUnavailable("the connection broke before the response arrived");
    };
    world.storage.before = (operation) => {
      if (isLost && operation === "batches.calling" && failures-- > 0) throw new StorageUnavailable("no connection");
    };
    const { id } = await world.app.batches.create(ALICE, batchOf([instance.id]));
    await callees.wait(60);
    expect(failures).toBeLessThan(0);
    expect(callees.dialledNumbers).toEqual(CALLEE_NUMBERS);
    expect(await world.app.batches.get(ALICE, id)).toMatchObject({
      status: "COMPLETED",
      counts: { byStatus: { COMPLETED: 3 } },
    });
    await world.stop();
  });

  test("continues after its pause, even if a timer fires a little early", async () => {
    const { world, callees, instance } = await startWithCallees({ system: new EarlySystem() });
    let failures = 1;
    world.storage.before = (operation) => {
      if (operation === "calls.insert" && failures-- > 0) throw new StorageUnavailable("deadlock detected");
    };
    await world.app.batches.create(ALICE, batchOf([instance.id]));
    await callees.wait(50);
    expect(callees.dialledNumbers).toEqual(CALLEE_NUMBERS);
    await world.stop();
  });

  test("starts although the response to its start was lost", async () => {
    const { world, callees, instance } = await startWithCallees();
    const { id } = await world.app.batches.create(ALICE, batchOf([instance.id], { start: false }));
    world.loseResult("batches.update");
    await expect(world.app.batches.start(ALICE, id)).rejects.toThrow(StorageUnavailable);
    expect(await world.app.batches.start(ALICE, id)).toMatchObject({ status: "RUNNING" });
    await callees.wait(60);
    expect(callees.dialledNumbers).toEqual(CALLEE_NUMBERS);
    expect(await world.app.batches.get(ALICE, id)).toMatchObject({ status: "COMPLETED" });
    await world.stop();
  });

  test("resumes although the response to its resumption was lost", async () => {
    const { world, callees, instance } = await startWithCallees();
    const { id } = await world.app.batches.create(ALICE, batchOf([instance.id]));
    await world.app.batches.pause(ALICE, id);
    world.loseResult("batches.update");
    await expect(world.app.batches.resume(ALICE, id)).rejects.toThrow(StorageUnavailable);
    await callees.wait(60);
    expect(await world.app.batches.get(ALICE, id)).toMatchObject({ status: "COMPLETED" });
    await world.stop();
  });

  test("reports the end of a target once, although the storage repeats its transaction", async () => {
    const publish = vi.spyOn(EventLog.prototype, "publish");
    const { world, callees, instance } = await startWithCallees();
    const { id } = await world.app.batches.create(ALICE, batchOf([instance.id]));
    await world.app.batches.pause(ALICE, id);
    const waitingTargets = await world.app.batches.targets(ALICE, id, { status: ["WAITING"] });
    world.storage.before = (operation, args) => {
      if (operation !== "batches.endWaiting") return;
      const eventOf = args[4] as (target: BatchTarget) => Event;
      for (const target of waitingTargets) eventOf(target); // rolled back
    };
    await world.app.batches.cancel(ALICE, id);
    await callees.wait(60);
    const endedPositions = publish.mock.calls
      .flatMap(([events]) => events)
      .flatMap(({ type, data }) => (type === "target_done" ? [data.position] : []));
    expect(waitingTargets.length).toBeGreaterThan(0);
    for (const { position } of waitingTargets) expect(endedPositions.filter((at) => at === position)).toHaveLength(1);
    await world.stop();
  });

  test("ends its targets although the response to its cancellation was lost", async () => {
    const { world, callees, instance } = await startWithCallees();
    const { id } = await world.app.batches.create(ALICE, batchOf([instance.id]));
    await world.app.batches.pause(ALICE, id);
    world.loseResult("batches.update");
    await expect(world.app.batches.cancel(ALICE, id)).rejects.toThrow(StorageUnavailable);
    await callees.wait(60);
    const targets = await world.app.batches.targets(ALICE, id);
    expect(targets.filter(({ status }) => status === "WAITING")).toEqual([]);
    await world.stop();
  });

  test("ends a target whose retry is stored only after the cancellation", async () => {
    const { world, callees, instance } = await startWithCallees();
    for (const phone of CALLEE_NUMBERS) callees.busyAttempts.set(phone, 1);
    const write = Promise.withResolvers<void>();
    world.storage.before = (operation) => (operation === "batches.updateTarget" ? write.promise : undefined);
    const retry = { on: ["busy"], times: 1, afterMs: 60_000 } as const;
    const { id } = await world.app.batches.create(ALICE, batchOf([instance.id], { retry }));
    await callees.wait(5);
    expect(callees.dialledNumbers).toEqual(CALLEE_NUMBERS.slice(0, 1));
    await world.app.batches.cancel(ALICE, id);
    await callees.wait(5);
    write.resolve();
    await callees.wait(120);
    const { counts } = await world.app.batches.get(ALICE, id);
    expect(counts.byStatus).toEqual({ CANCELLED: 3 });
    expect(callees.dialledNumbers).toEqual(CALLEE_NUMBERS.slice(0, 1));
    await world.stop();
  });

  test("has all its targets, and starts, once its creation is repeated with the same key", async () => {
    const { world, callees, instance } = await startWithCallees();
    let hasFailed = false;
    world.storage.before = (operation) => {
      if (operation !== "batches.addTargets" || hasFailed) return;
      hasFailed = true;
      throw new StorageUnavailable("no connection");
    };
    const create = () => world.app.batches.create(ALICE, batchOf([instance.id]), { idempotencyKey: "monday" });
    await expect(create()).rejects.toThrow(StorageUnavailable);
    expect(await create()).toMatchObject({ status: "RUNNING", replayed: true, report: { rows: 3 } });
    await callees.wait(60);
    expect(callees.dialledNumbers).toEqual(CALLEE_NUMBERS);
    expect(await create()).toMatchObject({ status: "COMPLETED", replayed: true });
    await callees.wait(60);
    expect(callees.dialledNumbers).toEqual(CALLEE_NUMBERS);
    await world.stop();
  });
});
