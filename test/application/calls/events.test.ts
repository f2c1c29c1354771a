import { describe, expect, test } from "vitest";
import type { Event } from "../../../src/domain/events.ts";
import { ALICE, World } from "../../support/application.ts";

/** Reads an iterator to its end while time advances. */
function collectEvents(world: World, callId: string, signal?: AbortSignal) {
  const events: Event[] = [];
  const eventsEnd = (async () => {
    for await (const event of world.app.calls.events(ALICE, callId, signal ? { signal } : {})) events.push(event);
  })();
  return { events, ended: eventsEnd, types: () => events.map((event) => event.type) };
}

describe("a call's events", () => {
  test("arrive as they happen, each once, and end after the final one", async () => {
    const world = await World.start();
    const instance = await world.newInstance();
    const call = await world.call(instance);
    const first = collectEvents(world, call.id);
    await world.system.settle();
    expect(first.types()).toEqual(["queued"]);
    await world.app.instances.configure(ALICE, instance.id);
    await world.line(instance).scan();
    await world.system.settle();
    world.leg(call).placed();
    await world.system.advance(100);
    const lateListener = collectEvents(world, call.id); // earlier events come first
    world.leg(call).answer();
    await world.system.advance(5_000);
    await Promise.all([first.ended, lateListener.ended]);
    const storedEvents = await world.timeline(call);
    expect(first.events).toEqual(storedEvents);
    expect(lateListener.events).toEqual(storedEvents);
    expect(storedEvents.at(-1)?.type).toBe("completed");
    await world.stop();
  });

  test("come from the storage, and end, if the call has ended", async () => {
    const world = await World.start();
    const call = await world.call(await world.newInstance());
    await world.app.calls.hangUp(ALICE, call.id);
    const { ended, types } = collectEvents(world, call.id);
    await ended;
    expect(types()).toEqual(["queued", "failed"]);
    await world.stop();
  });

  test("end with a refusal if the call is still waiting when the server stops", async () => {
    const world = await World.start();
    const call = await world.call(await world.newInstance());
    const { ended, types } = collectEvents(world, call.id);
    const rejection = expect(ended).rejects.toMatchObject({ code: "stopping" });
    const waitRejection = expect(world.app.calls.wait(ALICE, call.id)).rejects.toMatchObject({ code: "stopping" });
    await world.system.settle();
    await world.stop();
    await Promise.all([rejection, waitRejection]);
    expect(types()).toEqual(["queued"]);
  });

  test("end with the interruption if the call is live when the server stops", async () => {
    const world = await World.start();
    const { call } = await world.answeredCall(await world.activeInstance(), "x".repeat(400));
    const { ended, types } = collectEvents(world, call.id);
    await world.system.settle();
    await world.stop();
    await ended;
    expect(types().at(-1)).toBe("failed");
  });

  test("arrive once if they are stored while the timeline is being read", async () => {
    const world = await World.start();
    const call = await world.call(await world.activeInstance());
    let release = () => {};
    world.storage.before = (operation) => {
      if (operation !== "events.ofCall") return;
      return new Promise<void>((resolve) => {
        release = resolve;
      });
    };
    const { events, ended } = collectEvents(world, call.id);
    await world.system.settle();
    world.storage.before = () => {};
    world.leg(call).placed();
    await world.system.settle();
    release();
    await world.system.settle();
    world.leg(call).end("busy");
    await world.system.settle();
    await ended;
    expect(events).toEqual(await world.timeline(call));
    await world.stop();
  });

  test("arrive whatever the order of their ids", async () => {
    const world = await World.start();
    const call = await world.call(await world.activeInstance());
    const { context, storage } = world;
    const subject = { callId: call.id, instanceId: call.instanceId, userId: call.userId };
    const lateEvent = context.events.event({ event: "dtmf", data: { digit: "1" } }, subject);
    const storedEvent = context.events.event({ event: "callee_speech", data: { start_ms: 0, end_ms: 300 } }, subject);
    world.leg(call).placed();
    await world.system.settle();
    await storage.events.append([storedEvent]);
    const { events, ended } = collectEvents(world, call.id);
    await world.system.settle();
    // Earlier stored events arrive again; the event created before all others arrives now.
    context.events.publish([storedEvent]);
    await storage.events.append([lateEvent]);
    context.events.publish([lateEvent]);
    world.leg(call).end("busy");
    await world.system.settle();
    await ended;
    expect(events).toEqual(await world.timeline(call));
    expect(events.slice(-3).map(({ type }) => type)).toEqual(["callee_speech", "dtmf", "failed"]);
    await world.stop();
  });

  test("stop with the reader's signal, and unsubscribe", async () => {
    const world = await World.start();
    const call = await world.call(await world.newInstance());
    const abort = new AbortController();
    const { ended } = collectEvents(world, call.id, abort.signal);
    const rejection = expect(ended).rejects.toThrow("enough");
    await world.system.settle();
    abort.abort(new Error("enough"));
    await rejection;
    await world.stop();
  });

  test("are refused for a missing call", async () => {
    const world = await World.start();
    await expect(collectEvents(world, world.context.ids("call")).ended).rejects.toMatchObject({
      code: "call_not_found",
    });
    await expect(world.app.calls.wait(ALICE, "nonsense")).rejects.toMatchObject({ code: "call_not_found" });
    await world.stop();
  });

  test("also end if the call's session is interrupted", async () => {
    const world = await World.start();
    const call = await world.call(await world.activeInstance());
    const { ended, types } = collectEvents(world, call.id);
    world.storage.before = (operation) => {
      if (operation === "calls.update" && world.errors.length === 0) throw new Error("a constraint failed");
    };
    world.leg(call).placed();
    await world.system.settle();
    await ended;
    expect(types().at(-1)).toBe("failed");
    await world.stop();
  });
});

describe("waiting for a call", () => {
  test("returns it once it is final", async () => {
    const world = await World.start();
    const instance = await world.activeInstance();
    const { call } = await world.answeredCall(instance);
    let result: unknown;
    const wait = world.app.calls.wait(ALICE, call.id).then((final) => {
      result = final;
    });
    await world.system.advance(500);
    expect(result).toBeUndefined();
    await world.system.advance(5_000);
    await wait;
    expect(result).toEqual(await world.storedCall(call));
    expect(result).toMatchObject({ status: "COMPLETED" });
    await world.stop();
  });

  test("returns the same outcome to fifty clients at once", async () => {
    const world = await World.start();
    const call = await world.call(await world.newInstance());
    const waits = Promise.all(Array.from({ length: 50 }, () => world.app.calls.wait(ALICE, call.id)));
    await world.system.settle();
    await world.app.calls.hangUp(ALICE, call.id);
    expect(new Set((await waits).map((final) => final.outcome?.reason))).toEqual(new Set(["terminated"]));
    await world.stop();
  });
});

test("expired calls are forgotten with their recordings", async () => {
  const world = await World.start({ retentionDays: 30 });
  const forgottenCalls: string[] = [];
  Object.assign(world.network, { forget: async (ids: string[]) => void forgottenCalls.push(...ids) });
  const call = await world.call(await world.newInstance());
  await world.app.calls.hangUp(ALICE, call.id);
  const { system } = world;
  await system.advance(29 * 24 * 3_600_000);
  expect((await world.storedCall(call)).status).toBe("FAILED");
  await system.advance(2 * 24 * 3_600_000);
  expect(await world.storage.calls.get(call.id)).toBeUndefined();
  expect(await world.timeline(call)).toEqual([]);
  expect(forgottenCalls).toEqual([call.id]);
  await world.stop();
  expect(system.waiting).toBe(0);
});
