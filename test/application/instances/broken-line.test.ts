import { describe, expect, test, vi } from "vitest";
import { ALICE, World } from "../../support/application.ts";

const REASON = "the trunk does not take our password";

describe("a line with a permanent fault", () => {
  test("fails its waiting calls immediately, with the fault", async () => {
    const world = await World.start({ policy: { kind: "fifo", depth: 3 } });
    const instance = await world.activeInstance();
    world.line(instance).goOffline("no answer");
    const calls = [await world.call(instance), await world.call(instance), await world.call(instance)];
    await world.system.advance(10_000);
    expect((await world.storedCall(calls[0]!)).status).toBe("QUEUED");
    world.line(instance).goOffline(REASON, { lasting: true });
    await world.system.settle();
    for (const call of calls) {
      expect(await world.storedCall(call)).toMatchObject({
        status: "FAILED",
        outcome: { reason: "instance_offline", detail: REASON },
      });
      expect(await world.eventTypes(call)).toEqual(["queued", "failed"]);
    }
    expect(world.network.legs).toHaveLength(0);
    await world.stop();
  });

  test("fails a new call, even if only a probe found the fault", async () => {
    const world = await World.start();
    const instance = await world.activeInstance();
    world.line(instance).goOffline(REASON, { lasting: true, report: false });
    await world.system.advance(5_000);
    const call = await world.call(instance);
    expect(call).toMatchObject({ status: "QUEUED", created: true });
    await world.system.settle();
    expect((await world.storedCall(call)).outcome).toMatchObject({ reason: "instance_offline", detail: REASON });
    await world.stop();
  });

  test("also fails calls after the grace period, even if never linked", async () => {
    const world = await World.start({ capabilities: { linking: "operator" } });
    world.network.reachability = { state: "offline", reason: REASON, lasting: true };
    const instance = await world.newInstance();
    await world.system.advance(60_000);
    const call = await world.call(instance);
    await world.system.settle();
    expect((await world.storedCall(call)).outcome).toMatchObject({ reason: "instance_offline", detail: REASON });
    await world.stop();
  });

  test("fails a call that the line returns, but no call in progress", async () => {
    const world = await World.start({ policy: { kind: "fifo", depth: 2 } });
    const instance = await world.activeInstance();
    const liveCall = await world.call(instance);
    const queuedCall = await world.call(instance);
    world.leg(liveCall).placed();
    world.leg(liveCall).answer();
    await world.system.settle();
    world.line(instance).goOffline(REASON, { lasting: true });
    await world.system.settle();
    expect((await world.storedCall(liveCall)).status).toBe("IN_PROGRESS");
    expect((await world.storedCall(queuedCall)).outcome?.reason).toBe("instance_offline");
    await world.stop();
    const secondWorld = await World.start();
    const otherInstance = await secondWorld.activeInstance();
    const line = secondWorld.line(otherInstance);
    secondWorld.network.onDial = (leg) => {
      line.goOffline(REASON, { lasting: true });
      leg.end("line_lost");
    };
    const otherCall = await secondWorld.call(otherInstance);
    await secondWorld.system.settle();
    expect((await secondWorld.storedCall(otherCall)).outcome).toMatchObject({
      reason: "instance_offline",
      detail: REASON,
    });
    await secondWorld.stop();
  });

  test("carries calls again once it is fixed", async () => {
    const world = await World.start();
    const instance = await world.activeInstance();
    world.line(instance).goOffline(REASON, { lasting: true });
    await world.system.advance(60_000);
    world.line(instance).goOnline();
    await world.system.settle();
    const call = await world.call(instance);
    expect(world.leg(call).to).toBe(call.targetPhone);
    world.line(instance).goOffline("no answer");
    await world.system.settle();
    expect((await world.storedCall(call)).status).toBe("QUEUED");
    await world.stop();
  });

  test("retries when a code is requested, although a linked number has none", async () => {
    const world = await World.start();
    const instance = await world.activeInstance();
    const line = world.line(instance);
    const link = vi.spyOn(line, "link");
    const requestCode = () =>
      world.app.instances.configure(ALICE, instance.id).catch((error: { code: string }) => error.code);
    expect(await requestCode()).toBe("instance_already_linked");
    line.goOffline("no answer");
    expect(await requestCode()).toBe("instance_already_linked");
    expect(link).not.toHaveBeenCalled();
    line.goOffline(REASON, { lasting: true });
    link.mockRejectedValueOnce(new Error("not yet"));
    expect(await requestCode()).toBe("instance_already_linked");
    await world.system.settle();
    expect(link).toHaveBeenCalledOnce();
    await world.stop();
  });

  test("fails its calls as soon as the storage is back", async () => {
    const world = await World.start();
    const instance = await world.activeInstance();
    world.line(instance).goOffline("no answer");
    const call = await world.call(instance);
    world.storage.isDown = true;
    world.line(instance).goOffline(REASON, { lasting: true });
    await world.system.advance(20_000);
    world.storage.isDown = false;
    await world.system.advance(6_000);
    expect((await world.storedCall(call)).outcome).toMatchObject({ reason: "instance_offline", detail: REASON });
    await world.stop();
  });
});

test("a temporary fault keeps calls waiting, even after a permanent one", async () => {
  const world = await World.start();
  const instance = await world.activeInstance();
  world.line(instance).goOffline(REASON, { lasting: true });
  world.line(instance).goOffline("SIP 503 Service Unavailable");
  const call = await world.call(instance);
  await world.system.advance(599_000);
  expect((await world.storedCall(call)).status).toBe("QUEUED");
  await world.stop();
});
