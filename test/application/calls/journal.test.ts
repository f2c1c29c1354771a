import { describe, expect, test } from "vitest";
import { CallJournal } from "../../../src/application/calls/live/call-journal.ts";
import type { Storage } from "../../../src/ports/storage.ts";
import { World } from "../../support/application.ts";
import { answeredStream, RecordingClient } from "../../support/recording-client.ts";

describe("a live call whose moves cannot be stored", () => {
  test.each([
    ["placed", 0],
    ["answered", 1],
  ] as const)("from the moment it is %s plays its message, ends and is stored later", async (_, moves) => {
    const world = await World.start();
    const call = await world.call(await world.activeInstance(), "x".repeat(20)); // 1 s
    const leg = world.leg(call);
    world.storage.isFull = moves === 0;
    leg.placed();
    await world.system.settle();
    world.storage.isFull = true;
    const answeredAt = world.system.now();
    leg.answer();
    await world.system.advance(2_000);
    expect(leg.live).toBe(false);
    expect(leg.heard.length / 8).toBeLessThanOrEqual(1_400);
    expect((await world.storedCall(call)).status).toBe(moves === 0 ? "QUEUED" : "RINGING");
    await world.system.advance(60_000);
    world.storage.isFull = false;
    await world.system.advance(5_000);
    expect(await world.storedCall(call)).toMatchObject({
      status: "COMPLETED",
      startedAt: answeredAt,
      outcome: { reason: "message_played", heardMs: 1_000, heardRatio: 1 },
    });
    expect(await world.eventTypes(call)).toEqual(["queued", "message_ready", "ringing", "answered", "completed"]);
    await world.stop();
  });

  test("ends at its maximum duration", async () => {
    const world = await World.start({ timings: { maxDurationMs: 3_000 } });
    const call = await world.call(await world.activeInstance(), "x".repeat(2_000)); // 100 s
    const leg = world.leg(call);
    leg.hold(); // so that the message does not end first
    leg.placed();
    world.storage.isFull = true;
    leg.answer();
    await world.system.advance(102_000);
    expect(leg.live).toBe(true);
    await world.system.advance(2_000);
    expect(leg.live).toBe(false);
    world.storage.isFull = false;
    await world.stop();
  });

  test("is hung up during a silent storage outage", async () => {
    const world = await World.start();
    const call = await world.call(await world.activeInstance(), "x".repeat(20));
    const leg = world.leg(call);
    let endOutage = () => {};
    const outage = new Promise<void>((resolve) => {
      endOutage = resolve;
    });
    world.storage.before = () => outage;
    leg.placed();
    leg.answer();
    await world.system.advance(2_000);
    expect(leg.live).toBe(false);
    endOutage();
    await world.system.advance(1_000);
    expect((await world.storedCall(call)).outcome?.reason).toBe("message_played");
    await world.stop();
  });

  test("sends the stream's client an event at once, other readers once it is stored", async () => {
    const world = await World.start({ streamPreview: true });
    const client = new RecordingClient();
    const { call, leg } = await answeredStream(world, client);
    const seenTypes: string[] = [];
    world.context.events.subscribeToCall(call.id, { onEvent: ({ type }) => void seenTypes.push(type), onClose() {} });
    world.storage.isFull = true;
    leg.press("7");
    leg.end("callee_hung_up");
    await world.system.settle();
    expect(client.eventNames.slice(-3)).toEqual(["answered_by", "dtmf", "completed"]);
    expect(client.ends).toEqual(["completed"]);
    expect(seenTypes).toEqual([]);
    await expect(world.app.calls.stream({ userId: call.userId }, call.id)).rejects.toMatchObject({
      code: "call_ended",
    });
    world.storage.isFull = false;
    await world.system.advance(5_000);
    expect(seenTypes).toEqual(["answered_by", "dtmf", "completed"]);
    await world.stop();
  });

  test("keeps 1,000 notes, counts dropped ones and keeps every move", async () => {
    const world = await World.start();
    const { call, leg } = await world.answeredCall(await world.activeInstance(), "x".repeat(2_000));
    world.storage.isFull = true;
    for (let key = 0; key < 1_100; key++) leg.press("5");
    await world.system.advance(1_000);
    leg.end("callee_hung_up");
    await world.system.settle();
    world.storage.isFull = false;
    await world.system.advance(6_000);
    const timeline = await world.timeline(call);
    const keyCount = timeline.filter(({ type }) => type === "dtmf").length;
    expect(keyCount).toBeGreaterThanOrEqual(1_000);
    expect(keyCount).toBeLessThan(1_100);
    expect(timeline.slice(-2)).toMatchObject([
      { type: "timeline_incomplete", data: { dropped: 1_100 - keyCount } },
      { type: "completed" },
    ]);
    expect(world.context.journals.unsavedEventCounts.size).toBe(0);
    await world.stop();
  });

  test("is logged by a stopping server, and settled by the next without dialling", async () => {
    const world = await World.start();
    const call = await world.call(await world.activeInstance(), "x".repeat(20));
    world.storage.isFull = true;
    world.leg(call).placed();
    world.leg(call).answer();
    await world.system.advance(5_000);
    expect(world.leg(call).live).toBe(false);
    const stop = world.app.stop(1_000);
    await world.system.advance(10_000);
    await stop;
    expect(world.errors).toEqual([expect.stringMatching(/could not be stored; the next start marks the call/)]);
    world.storage.isFull = false;
    const restartedWorld = await world.crashAndRestart();
    await restartedWorld.system.advance(60_000);
    expect(await restartedWorld.storedCall(call)).toMatchObject({
      status: "FAILED",
      outcome: { reason: "interrupted" },
    });
    expect(restartedWorld.network.legs).toEqual([]);
    await restartedWorld.stop();
  });
});

describe("a call's moves", () => {
  test("are all stored by a storage that responds within a few microtasks", async () => {
    for (let microtasks = 0; microtasks < 20; microtasks++) {
      const world = await World.start();
      const { id } = await world.call(await world.newInstance());
      const call = { ...(await world.storage.calls.get(id))!, version: 1 };
      let storedCall = call;
      const update: Storage["calls"]["update"] = async (_, version, patch) => {
        if (version !== storedCall.version) return undefined;
        storedCall = { ...storedCall, ...patch, version: version + 1 };
        return storedCall;
      };
      const storage = Object.create(world.storage, { calls: { value: { update } } });
      const journal = new CallJournal({ ...world.context, storage }, call, () => {});
      journal.move("place", 1);
      for (let microtask = 0; microtask < microtasks; microtask++) await Promise.resolve();
      journal.move("connect", 2);
      await journal.whenStored();
      expect(storedCall.status, `after ${microtasks} microtasks`).toBe("IN_PROGRESS");
      await world.stop();
    }
  });

  test("continue without notes that the storage refuses permanently", async () => {
    const world = await World.start();
    const { call, leg } = await world.answeredCall(await world.activeInstance(), "x".repeat(20));
    world.storage.before = (operation) => {
      if (operation === "events.append") throw new Error("a constraint failed");
    };
    leg.press("1");
    await world.system.settle();
    world.storage.before = () => {};
    await world.system.advance(5_000);
    expect((await world.storedCall(call)).outcome?.reason).toBe("message_played");
    expect((await world.timeline(call)).slice(-2)).toMatchObject([
      { type: "timeline_incomplete", data: { dropped: 2 } },
      { type: "completed" },
    ]);
    expect(world.errors).toEqual(Array(2).fill(expect.stringMatching(/notes of a call could not be stored/)));
    await world.stop();
  });

  test("are stored together if they arrive during a write, each with its event", async () => {
    const world = await World.start();
    const call = await world.call(await world.activeInstance(), "x".repeat(20));
    const before = world.storage.writes.length;
    let release = () => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    world.storage.before = (operation) => (operation === "calls.update" ? gate : undefined);
    world.leg(call).placed();
    world.leg(call).answer();
    await world.system.advance(2_000);
    release();
    await world.system.settle();
    expect(world.storage.writes.slice(before).filter((operation) => operation === "calls.update")).toHaveLength(2);
    expect(await world.eventTypes(call)).toEqual(["queued", "message_ready", "ringing", "answered", "completed"]);
    expect((await world.storedCall(call)).status).toBe("COMPLETED");
    await world.stop();
  });
});
