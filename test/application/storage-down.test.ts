import { describe, expect, test } from "vitest";
import type { Event } from "../../src/domain/events.ts";
import { StorageUnavailable } from "../../src/ports/storage.ts";
import { ALICE, NUMBER, World } from "../support/application.ts";

const keyText = (event: Event): string => (event.type === "dtmf" ? `dtmf ${event.data.digit}` : `${event.type} `);

const UNAVAILABLE = { name: "StorageUnavailable" };

describe("a write that succeeded but lost its response", () => {
  test("at any transition leaves the call unchanged", async () => {
    for (let lostCount = 1; lostCount <= 3; lostCount++) {
      const world = await World.start();
      const instance = await world.activeInstance();
      let updates = 0;
      world.storage.before = (operation) => {
        if (operation === "calls.update") updates++;
      };
      world.loseResult("calls.update", lostCount);
      const call = await world.call(instance);
      const leg = world.leg(call);
      leg.placed();
      leg.answer();
      await world.system.advance(10_000);
      expect(await world.storedCall(call)).toMatchObject({
        status: "COMPLETED",
        outcome: { reason: "message_played" },
      });
      expect(await world.eventTypes(call)).toEqual(["queued", "message_ready", "ringing", "answered", "completed"]);
      expect(updates).toBe(4); // the lost one is retried
      expect(world.errors).toEqual([]);
      await world.stop();
    }
  });

  test("when a claim is returned keeps the call in its queue", async () => {
    const world = await World.start();
    const instance = await world.activeInstance();
    const release = world.holdClaim();
    const call = await world.call(instance);
    world.line(instance).goOffline();
    const isLost = world.loseResult("calls.update");
    release();
    await world.system.advance(1_000);
    expect(isLost()).toBe(true);
    expect(await world.storedCall(call)).toMatchObject({ status: "QUEUED", owner: null });
    world.line(instance).goOnline();
    await world.system.settle();
    expect(world.network.legs).toHaveLength(1);
    expect(world.errors).toEqual([]);
    await world.stop();
  });
});

describe("an event that was stored, but not confirmed,", () => {
  test("is in the timeline once, is reported once, and does not affect the call", async () => {
    const world = await World.start();
    const { call, leg } = await world.answeredCall(await world.activeInstance());
    const eventTypes: string[] = [];
    const listening = (async () => {
      for await (const event of world.app.calls.events(ALICE, call.id)) eventTypes.push(keyText(event));
    })();
    await world.system.settle();
    const isLost = world.loseResult("events.append");
    for (const key of "123") {
      leg.press(key);
      await world.system.settle();
    }
    expect(isLost()).toBe(true);
    leg.end("callee_hung_up");
    await world.system.advance(500);
    expect(await world.storedCall(call)).toMatchObject({ status: "COMPLETED", outcome: { reason: "callee_hung_up" } });
    const keys = ["dtmf 1", "dtmf 2", "dtmf 3"];
    expect((await world.timeline(call)).map(keyText).slice(-4)).toEqual([...keys, "completed "]);
    await listening;
    expect(eventTypes.slice(-4)).toEqual([...keys, "completed "]);
    expect(world.errors).toEqual([]);
    await world.stop();
  });

  test("at the end of a call is not written twice", async () => {
    const world = await World.start();
    const { call, leg } = await world.answeredCall(await world.activeInstance());
    world.loseResult("events.append");
    leg.press("1");
    leg.end("callee_hung_up");
    await world.system.advance(500);
    expect(await world.storedCall(call)).toMatchObject({ status: "COMPLETED", outcome: { reason: "callee_hung_up" } });
    expect((await world.eventTypes(call)).slice(-2)).toEqual(["dtmf", "completed"]);
    await world.stop();
  });
});

describe("the end of a waiting call that was stored, but not confirmed,", () => {
  test("reaches the clients that wait for it", async () => {
    const world = await World.start();
    const call = await world.call(await world.newInstance());
    const wait = world.app.calls.wait(ALICE, call.id);
    world.loseResult("calls.update");
    await world.system.advance(world.context.timings.queueTimeoutMs + 10_000);
    expect(await wait).toMatchObject({ status: "FAILED", outcome: { reason: "instance_not_linked" } });
    expect((await world.eventTypes(call)).slice(-1)).toEqual(["failed"]);
    await world.stop();
  });

  test("is the response to the request that ended it", async () => {
    const world = await World.start();
    const call = await world.call(await world.newInstance());
    world.loseResult("calls.update");
    const hangUp = world.app.calls.hangUp(ALICE, call.id);
    await world.system.advance(1_000);
    await hangUp;
    expect((await world.storedCall(call)).outcome?.reason).toBe("terminated");
    await world.stop();
  });
});

describe("a call whose claim succeeded without a response", () => {
  const FIFO = { kind: "fifo", depth: 3 } as const;

  test("is dialled before later ones, without a request", async () => {
    const world = await World.start({ policy: FIFO });
    const instance = await world.activeInstance();
    world.loseResult("calls.claimNext");
    const first = await world.create(instance);
    const second = await world.call(instance);
    await world.system.advance(1_000);
    const leg = world.leg(first);
    expect(world.network.legs).toEqual([leg]);
    leg.placed();
    leg.end("busy");
    await world.system.settle();
    expect(world.leg().callId).toBe(second.id);
    expect((await world.storedCall(first)).outcome?.reason).toBe("busy");
    expect(world.errors).toEqual([]);
    await world.stop();
  });

  test("fails in time if its line is lost before the retry", async () => {
    const world = await World.start();
    const instance = await world.activeInstance();
    world.loseResult("calls.claimNext");
    const call = await world.call(instance);
    expect(await world.storedCall(call)).toMatchObject({ status: "QUEUED", owner: world.context.nodeId });
    world.line(instance).goOffline();
    await world.system.advance(1_000);
    expect(await world.storedCall(call)).toMatchObject({ status: "QUEUED", owner: null });
    await world.system.advance(world.context.timings.queueTimeoutMs);
    expect(await world.storedCall(call)).toMatchObject({ status: "FAILED", outcome: { reason: "instance_offline" } });
    expect(world.network.legs).toEqual([]);
    await world.stop();
  });

  test("is dialled if the claim is found after its lost response", async () => {
    const world = await World.start();
    const instance = await world.activeInstance();
    const { claimNext } = world.storage.calls;
    let resume = () => {};
    world.storage.before = (operation, args) => {
      if (operation !== "calls.claimNext") return;
      world.storage.before = () => {};
      resume = () => void claimNext(...(args as Parameters<typeof claimNext>));
      throw new StorageUnavailable("the connection broke before the response arrived");
    };
    const call = await world.call(instance);
    world.line(instance).goOffline();
    await world.system.advance(1_500);
    resume();
    await world.system.settle();
    expect(await world.storedCall(call)).toMatchObject({ status: "QUEUED", owner: world.context.nodeId });
    world.line(instance).goOnline();
    await world.system.advance(2_000);
    expect(world.leg(call).live).toBe(true);
    expect(world.network.legs).toHaveLength(1);
    await world.system.advance(30_000);
    await world.stop();
  });

  test("does not make another call look undialled", async () => {
    const world = await World.start();
    const instance = await world.activeInstance();
    world.loseResult("calls.claimNext");
    const call = await world.create(instance);
    await world.system.advance(1_000);
    const leg = world.leg(call);
    world.storage.before = (operation) => {
      if (/calls\.(update|get)/.test(operation)) throw new Error("the database is corrupt");
    };
    leg.placed();
    await world.system.advance(1_000);
    expect(leg.live).toBe(false);
    world.storage.before = () => {};
    await world.system.advance(30_000);
    expect(world.network.legs).toEqual([leg]);
    expect(world.errors).toEqual([
      expect.stringMatching(/call session failed/),
      expect.stringMatching(/the next start settles the call/),
    ]);
    await world.stop();
  });

  test("can be ended before its dial, which is then skipped", async () => {
    const world = await World.start();
    const instance = await world.activeInstance();
    world.loseResult("calls.claimNext");
    const call = await world.call(instance);
    await world.app.calls.hangUp(ALICE, call.id);
    await world.system.advance(5_000);
    expect((await world.storedCall(call)).outcome?.reason).toBe("terminated");
    expect(world.network.legs).toEqual([]);
    await world.stop();
  });
});

describe("a call whose creation succeeded without a response", () => {
  test("is still dialled, and is returned for the same request", async () => {
    const world = await World.start();
    const instance = await world.activeInstance();
    world.loseResult("calls.insert");
    const body = {
      instanceId: instance.id,
      type: "FIXED_TTS",
      target: { phoneNumber: NUMBER },
      tts: { text: "Your table is ready", voiceId: "en-US-1" },
    };
    const create = () => world.app.calls.create(ALICE, body, { idempotencyKey: "table-7" });
    await expect(create()).rejects.toMatchObject(UNAVAILABLE);
    await world.system.settle();
    const leg = world.leg();
    expect(leg.live).toBe(true);
    expect(await create()).toMatchObject({ id: leg.callId, replayed: true });
    expect(world.network.legs).toEqual([leg]);
    await world.stop();
  });

  test("fails in time without its line", async () => {
    const world = await World.start();
    const instance = await world.newInstance();
    world.loseResult("calls.insert");
    await expect(world.create(instance)).rejects.toMatchObject(UNAVAILABLE);
    await world.system.advance(world.context.timings.queueTimeoutMs + 1);
    const [call] = await world.app.calls.list(ALICE);
    expect(call).toMatchObject({ status: "FAILED", outcome: { reason: "instance_not_linked" } });
    await world.stop();
  });
});

describe("while the storage is down", () => {
  test("an ended call is stored later with all its events in order", async () => {
    const world = await World.start();
    const instance = await world.activeInstance();
    const { call, leg } = await world.answeredCall(instance, "x".repeat(40)); // 2 s
    world.storage.isDown = true;
    await world.system.advance(500);
    leg.press("1");
    await world.system.advance(500);
    leg.press("2");
    await world.system.advance(10_000);
    expect(leg.live).toBe(false); // the callee does not wait for the disk
    world.storage.isDown = false;
    await world.system.advance(5_000);
    expect(await world.storedCall(call)).toMatchObject({
      status: "COMPLETED",
      outcome: { reason: "message_played", heardMs: 2_000 },
    });
    const timeline = await world.timeline(call);
    expect(timeline.map((event) => event.type).slice(-4)).toEqual(["answered_by", "dtmf", "dtmf", "completed"]);
    const [first, second] = timeline.filter((event) => event.type === "dtmf").map((event) => event.timestamp);
    expect((second ?? 0) - (first ?? 0)).toBe(500);
    expect(world.errors).toEqual([]);
    await world.stop();
  });

  test.each(["placed", "answer", "end"] as const)("a call survives an outage at its %s", async (step) => {
    const world = await World.start();
    const call = await world.call(await world.activeInstance(), "x".repeat(20));
    const leg = world.leg(call);
    for (const action of ["placed", "answer", "end"] as const) {
      world.storage.isDown = action === step;
      if (action === "end") leg.end("callee_hung_up");
      else leg[action]();
      await world.system.advance(300);
    }
    world.storage.isDown = false;
    await world.system.advance(10_000);
    expect(await world.storedCall(call)).toMatchObject({ status: "COMPLETED", outcome: { reason: "callee_hung_up" } });
    expect((await world.eventTypes(call)).filter((type) => type !== "message_ready")).toEqual([
      "queued",
      "ringing",
      "answered",
      "completed",
    ]);
    await world.stop();
  });

  test("a stop ends without the storage; the next start settles the call", async () => {
    const world = await World.start();
    const { call, leg } = await world.answeredCall(await world.activeInstance(), "x".repeat(400));
    world.storage.isDown = true;
    let isStopped = false;
    const stop = world.app.stop(1_000).then(() => {
      isStopped = true;
    });
    await world.system.advance(1_500);
    expect(leg.live).toBe(false);
    await world.system.advance(10_000);
    await stop;
    expect(isStopped).toBe(true);
    world.storage.isDown = false;
    expect(await world.storedCall(call)).toMatchObject({ status: "IN_PROGRESS" });
  });

  test("a hang-up is refused in time, and stored later as terminated", async () => {
    const world = await World.start();
    const { call, leg } = await world.answeredCall(await world.activeInstance(), "x".repeat(400));
    const fullError = new StorageUnavailable("the database or its disk is full");
    world.storage.before = (operation) => {
      if (operation === "calls.update") throw fullError; // reads continue
    };
    const rejection = expect(world.app.calls.hangUp(ALICE, call.id)).rejects.toMatchObject({
      code: "storage_unavailable",
      message: expect.stringMatching(/ends anyway/),
    });
    await world.system.advance(5_000);
    await rejection;
    expect(leg.live).toBe(false);
    world.storage.before = () => {};
    await world.system.advance(10_000);
    expect(await world.storedCall(call)).toMatchObject({ status: "FAILED", outcome: { reason: "terminated" } });
    await world.stop();
  });

  test("events keep the time at which they occurred, not the time of their write", async () => {
    const world = await World.start();
    const call = await world.call(await world.activeInstance(), "x".repeat(20)); // 1 s
    const leg = world.leg(call);
    const ringingAt = world.system.now();
    world.storage.isDown = true;
    leg.placed();
    await world.system.advance(2_000);
    const answeredAt = world.system.now();
    leg.answer();
    await world.system.advance(500);
    leg.end("callee_hung_up");
    await world.system.advance(5_000);
    world.storage.isDown = false;
    await world.system.advance(5_000);
    expect(await world.storedCall(call)).toMatchObject({
      startedAt: answeredAt,
      endedAt: answeredAt + 500,
      outcome: { durationMs: 500 },
    });
    const times = new Map((await world.timeline(call)).map((event) => [event.type, event.timestamp]));
    expect(times.get("ringing")).toBe(ringingAt);
    expect(times.get("answered")).toBe(answeredAt);
    expect(times.get("completed")).toBe(answeredAt + 500);
    await world.stop();
  });

  test("a new call is refused, and no record is stored", async () => {
    const world = await World.start();
    const instance = await world.activeInstance();
    world.storage.isDown = true;
    await expect(world.call(instance)).rejects.toMatchObject(UNAVAILABLE);
    world.storage.isDown = false;
    expect(await world.app.calls.list(ALICE)).toEqual([]);
    expect((await world.call(instance)).created).toBe(true);
    await world.stop();
  });

  test("a waiting call is claimed after the outage", async () => {
    const world = await World.start();
    const instance = await world.activeInstance();
    world.storage.before = (operation) => {
      if (operation === "calls.claimNext") world.storage.isDown = true;
    };
    const call = await world.call(instance);
    expect(world.network.legs).toEqual([]);
    world.storage.before = () => {};
    world.storage.isDown = false;
    await world.system.advance(1_000);
    expect(world.leg(call).live).toBe(true);
    await world.stop();
  });

  test("a hang-up responds once the end is stored, after the leg has ended", async () => {
    const world = await World.start();
    const { call, leg } = await world.answeredCall(await world.activeInstance());
    world.storage.before = (operation) => {
      if (operation === "calls.update") world.storage.isDown = true;
    };
    let hasResponded = false;
    const hangUp = world.app.calls.hangUp(ALICE, call.id).then(() => {
      hasResponded = true;
    });
    await world.system.advance(1_000);
    expect(leg.live).toBe(false);
    expect(hasResponded).toBe(false);
    world.storage.before = () => {};
    world.storage.isDown = false;
    await world.system.advance(5_000);
    await hangUp;
    expect((await world.storedCall(call)).outcome?.reason).toBe("terminated");
    await world.stop();
  });

  test("the server is not ready", async () => {
    const world = await World.start();
    expect(await world.app.queries.ready()).toBe(true);
    world.storage.isDown = true;
    expect(await world.app.queries.ready()).toBe(false);
    world.storage.isDown = false;
    await world.stop();
    expect(await world.app.queries.ready()).toBe(false);
  });
});
