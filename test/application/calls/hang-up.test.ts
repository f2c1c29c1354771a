import { describe, expect, test } from "vitest";
import { ALICE, World } from "../../support/application.ts";

const TERMINATED = { status: "FAILED", outcome: { reason: "terminated" } };
const notFound = expect.objectContaining({ code: "call_not_found" });

describe("ending a call", () => {
  test("while it waits keeps it from being dialled", async () => {
    const world = await World.start();
    const instance = await world.newInstance();
    const call = await world.call(instance);
    await world.app.calls.hangUp(ALICE, call.id);
    expect(await world.storedCall(call)).toMatchObject({ ...TERMINATED, endedAt: world.system.now(), startedAt: null });
    await world.app.instances.configure(ALICE, instance.id);
    await world.line(instance).scan();
    await world.system.advance(10_000);
    expect(world.network.legs).toEqual([]);
    await world.stop();
  });

  test("while it is being claimed succeeds", async () => {
    const world = await World.start();
    const instance = await world.activeInstance();
    const release = world.holdClaim();
    const call = await world.call(instance);
    const hangUp = world.app.calls.hangUp(ALICE, call.id);
    await world.system.settle();
    release();
    await world.system.settle();
    await hangUp;
    await world.system.advance(10_000);
    expect(await world.storedCall(call)).toMatchObject(TERMINATED);
    for (const leg of world.network.legs) expect(leg.live).toBe(false);
    await world.stop();
  });

  test("during dialling is stored at once, and the late leg is hung up", async () => {
    const world = await World.start();
    const instance = await world.activeInstance();
    let onDialled = () => {};
    world.network.onDial = () =>
      new Promise<void>((resolve) => {
        onDialled = resolve;
      });
    const call = await world.call(instance);
    await world.app.calls.hangUp(ALICE, call.id);
    expect(await world.storedCall(call)).toMatchObject(TERMINATED);
    onDialled();
    await world.system.settle();
    expect(world.leg(call).live).toBe(false);
    await world.stop();
  });

  test("while it is dialled, before the network is asked, hangs up", async () => {
    const world = await World.start();
    const call = await world.call(await world.activeInstance());
    await world.app.calls.hangUp(ALICE, call.id);
    expect(await world.storedCall(call)).toMatchObject(TERMINATED);
    expect(world.leg(call).hangUps).toBeGreaterThan(0);
    await world.stop();
  });

  test("while it rings hangs up", async () => {
    const world = await World.start();
    const call = await world.call(await world.activeInstance());
    world.leg(call).placed();
    await world.system.advance(500);
    await world.app.calls.hangUp(ALICE, call.id);
    expect(await world.storedCall(call)).toMatchObject({ ...TERMINATED, startedAt: null });
    expect(world.leg(call).live).toBe(false);
    expect(await world.eventTypes(call)).toEqual(["queued", "message_ready", "ringing", "failed"]);
    await world.stop();
  });

  test("while its message plays counts the audio heard", async () => {
    const world = await World.start();
    const { call } = await world.answeredCall(await world.activeInstance(), "x".repeat(100));
    await world.system.advance(980);
    await world.app.calls.hangUp(ALICE, call.id);
    expect((await world.storedCall(call)).outcome).toMatchObject({
      reason: "terminated",
      heardMs: 980,
      heardRatio: 0.196,
      durationMs: 980,
    });
    await world.stop();
  });

  test("that has already ended is refused as not found", async () => {
    const world = await World.start();
    const { call, leg } = await world.answeredCall(await world.activeInstance());
    leg.stubborn = true;
    await world.app.calls.hangUp(ALICE, call.id);
    await expect(world.app.calls.hangUp(ALICE, call.id)).rejects.toEqual(notFound); // its leg has not ended yet
    leg.end("released");
    await world.system.settle();
    await expect(world.app.calls.hangUp(ALICE, call.id)).rejects.toEqual(notFound);
    expect((await world.storedCall(call)).outcome?.reason).toBe("terminated");
    await world.stop();
  });

  test.each(["waiting", "talking"])("ten times at once while it is %s succeeds once", async (phase) => {
    const world = await World.start();
    const instance = phase === "talking" ? await world.activeInstance() : await world.newInstance();
    const call = phase === "talking" ? (await world.answeredCall(instance)).call : await world.call(instance);
    const results = await Promise.allSettled(Array.from({ length: 10 }, () => world.app.calls.hangUp(ALICE, call.id)));
    expect(results.filter((result) => result.status === "fulfilled")).toHaveLength(1);
    for (const result of results) if (result.status === "rejected") expect(result.reason).toEqual(notFound);
    expect((await world.eventTypes(call)).filter((type) => type === "failed")).toHaveLength(1);
    await world.stop();
  });

  test("while it is answered ends it once", async () => {
    const world = await World.start();
    for (const order of ["answer first", "end first"]) {
      const instance = await world.activeInstance();
      const call = await world.call(instance);
      const leg = world.leg(call);
      leg.placed();
      await world.system.settle();
      if (order === "answer first") leg.answer();
      const hangUp = world.app.calls.hangUp(ALICE, call.id);
      if (order === "end first") leg.answer();
      await world.system.settle();
      await hangUp;
      const storedCall = await world.storedCall(call);
      expect(storedCall).toMatchObject(TERMINATED);
      expect(storedCall.startedAt !== null).toBe((await world.eventTypes(call)).includes("answered"));
      expect(leg.live).toBe(false);
    }
    await world.stop();
  });

  test("at the same moment as the callee leads to one final state", async () => {
    const world = await World.start();
    const { call, leg } = await world.answeredCall(await world.activeInstance());
    leg.end("callee_hung_up");
    const [result] = await Promise.allSettled([world.app.calls.hangUp(ALICE, call.id)]);
    await world.system.settle();
    const storedCall = await world.storedCall(call);
    expect(["callee_hung_up", "terminated"]).toContain(storedCall.outcome?.reason);
    expect(result?.status).toBe(storedCall.outcome?.reason === "terminated" ? "fulfilled" : "rejected");
    await world.stop();
  });

  test("while it returns to its queue still ends it", async () => {
    const world = await World.start();
    const call = await world.call(await world.activeInstance());
    world.leg(call).end("line_lost");
    await world.app.calls.hangUp(ALICE, call.id);
    await world.system.advance(10_000);
    expect(await world.storedCall(call)).toMatchObject(TERMINATED);
    expect(world.network.legs).toHaveLength(1);
    await world.stop();
  });
});
