import { describe, expect, test } from "vitest";
import { ALICE, NUMBER, World } from "../../support/application.ts";

const refusal = (code: string) => expect.objectContaining({ name: "Refusal", code });

describe("under the single policy", () => {
  test("fifty concurrent creations make one call, which all of them return", async () => {
    const world = await World.start();
    const instance = await world.activeInstance();
    const calls = await Promise.all(Array.from({ length: 50 }, () => world.call(instance)));
    expect(calls.filter((call) => call.created)).toHaveLength(1);
    expect(new Set(calls.map((call) => call.id)).size).toBe(1);
    expect(world.network.legs).toHaveLength(1);
    await world.stop();
  });

  test("a creation during an active call returns the active one", async () => {
    const world = await World.start();
    const instance = await world.newInstance();
    const call = await world.call(instance);
    expect(await world.call(instance)).toMatchObject({ id: call.id, status: "QUEUED", created: false });
    await world.app.instances.configure(ALICE, instance.id);
    await world.line(instance).scan();
    await world.system.settle();
    const leg = world.leg(call);
    leg.placed();
    await world.system.settle();
    expect(await world.call(instance)).toMatchObject({ id: call.id, status: "RINGING", created: false });
    leg.answer();
    await world.system.settle();
    expect(await world.call(instance)).toMatchObject({ id: call.id, status: "IN_PROGRESS", created: false });
    leg.end("callee_hung_up");
    await world.system.settle();
    expect((await world.call(instance)).created).toBe(true);
    await world.stop();
  });

  test("an invalid message is refused even during an active call", async () => {
    const world = await World.start();
    const instance = await world.activeInstance();
    const activeCall = await world.call(instance);
    const common = { instanceId: instance.id, target: { phoneNumber: NUMBER } };
    const voice = { type: "FIXED_TTS", tts: { text: "Hello.", voiceId: "xx-XX-9" } } as const;
    const file = { type: "FIXED_AUDIO", audio: { audioBase64: btoa("no audio at all") } } as const;
    for (const [message, fault] of [
      [voice, { pointer: "/tts/voiceId", code: "voice_unavailable" }],
      [file, { pointer: "/audio/audioBase64", code: "audio_unsupported" }],
    ] as const)
      await expect(world.app.calls.create(ALICE, { ...common, ...message })).rejects.toMatchObject({
        code: fault.code,
        errors: [expect.objectContaining(fault)],
      });
    expect(await world.call(instance)).toMatchObject({ id: activeCall.id, created: false });
    await world.stop();
  });

  test("instances do not wait for each other", async () => {
    const world = await World.start();
    const instances = await Promise.all(Array.from({ length: 5 }, () => world.activeInstance()));
    for (const instance of instances) await world.call(instance);
    expect(world.network.legs).toHaveLength(5);
    await world.stop();
  });
});

describe("under a fifo policy", () => {
  test("a dial reads only its own call", async () => {
    const world = await World.start({ policy: { kind: "fifo", depth: 5 } });
    const instance = await world.activeInstance();
    const first = await world.call(instance);
    const second = await world.call(instance);
    for (let i = 0; i < 3; i++) await world.call(instance);
    const operationCount = world.storage.operations.length;
    world.leg(first).end("callee_hung_up");
    await world.system.settle();
    expect(world.leg(second).live).toBe(true);
    const dialOperations = world.storage.operations.slice(operationCount);
    expect(dialOperations).toContain("calls.nextWaiting");
    expect(dialOperations).not.toContain("calls.active");
    await world.stop();
  });

  test("calls wait in order of creation, up to the queue's depth", async () => {
    const world = await World.start({ policy: { kind: "fifo", depth: 3 } });
    const instance = await world.activeInstance();
    const calls = [];
    for (let i = 0; i < 3; i++) {
      calls.push(await world.call(instance));
      await world.system.advance(10);
    }
    await expect(world.call(instance)).rejects.toEqual(refusal("queue_full"));
    for (const call of calls) {
      const leg = world.leg();
      expect(leg.callId).toBe(call.id);
      leg.placed();
      leg.end("busy");
      await world.system.settle();
    }
    expect(world.network.legs).toHaveLength(3);
    await world.stop();
  });

  test("the next dial keeps the pace, however many calls are created before it", async () => {
    const world = await World.start({ policy: { kind: "fifo", depth: 10, paceMs: 10_000 } });
    const instance = await world.activeInstance();
    await world.call(instance);
    await world.system.advance(2_000);
    const idleTimers = world.system.waiting;
    world.leg().end("busy");
    await world.system.settle();
    for (let i = 0; i < 5; i++) await world.call(instance);
    expect(world.system.waiting).toBeLessThanOrEqual(idleTimers + 1);
    await world.system.advance(7_999);
    expect(world.network.legs).toHaveLength(1);
    await world.system.advance(1);
    expect(world.network.legs).toHaveLength(2);
    await world.stop();
  });

  test("deleting the instance ends every call, and no waiting one is dialled", async () => {
    const world = await World.start({ policy: { kind: "fifo", depth: 10 } });
    const instance = await world.activeInstance();
    const calls = [];
    for (let i = 0; i < 4; i++) calls.push(await world.call(instance));
    world.leg().placed();
    await world.system.settle();
    await world.app.instances.delete(ALICE, instance.id);
    await world.system.advance(10_000);
    for (const call of calls)
      expect(await world.storedCall(call)).toMatchObject({ status: "FAILED", outcome: { reason: "instance_deleted" } });
    expect(world.network.legs).toHaveLength(1);
    await world.stop();
  });
});

describe("an instance's next call", () => {
  test("is dialled as soon as the old leg has ended, not before", async () => {
    const world = await World.start({ policy: { kind: "fifo", depth: 2 } });
    const instance = await world.activeInstance();
    const first = await world.call(instance);
    const second = await world.call(instance);
    const leg = world.leg(first);
    leg.stubborn = true;
    leg.placed();
    await world.system.settle();
    await world.app.calls.hangUp(ALICE, first.id);
    expect((await world.storedCall(first)).outcome?.reason).toBe("terminated");
    await world.system.advance(1_000);
    expect(world.network.legs).toHaveLength(1);
    leg.end("released");
    await world.system.settle();
    expect(world.leg().callId).toBe(second.id);
    await world.stop();
  });

  test("waits at most five seconds for a leg that does not end", async () => {
    const world = await World.start();
    const instance = await world.activeInstance();
    const { call, leg } = await world.answeredCall(instance);
    leg.stubborn = true;
    await world.app.calls.hangUp(ALICE, call.id);
    const next = await world.call(instance);
    expect(next.created).toBe(true);
    await world.system.advance(4_999);
    expect(world.network.legs).toHaveLength(1);
    await world.system.advance(1);
    expect(world.leg().callId).toBe(next.id);
    await world.stop();
  });

  test("continues after a call with a broken session", async () => {
    const world = await World.start({ policy: { kind: "fifo", depth: 2 } });
    const instance = await world.activeInstance();
    const first = await world.call(instance);
    const second = await world.call(instance);
    world.storage.before = (operation, args) => {
      if (operation !== "calls.update" || args[0] !== first.id || world.errors.length > 0) return;
      throw new Error("a constraint failed");
    };
    world.leg(first).placed();
    await world.system.settle();
    expect(world.errors).toHaveLength(1);
    expect(await world.storedCall(first)).toMatchObject({ status: "FAILED", outcome: { reason: "internal_error" } });
    expect(world.leg().callId).toBe(second.id);
    expect((await world.eventTypes(first)).at(-1)).toBe("failed");
    await world.stop();
  });
});

describe("a call that waits too long", () => {
  test("fails as instance_not_linked if its instance was never linked", async () => {
    const world = await World.start();
    const call = await world.call(await world.newInstance());
    await world.system.advance(600_000 - 1);
    expect((await world.storedCall(call)).status).toBe("QUEUED");
    await world.system.advance(2);
    expect(await world.storedCall(call)).toMatchObject({
      status: "FAILED",
      outcome: { reason: "instance_not_linked" },
    });
    expect(await world.eventTypes(call)).toEqual(["queued", "failed"]);
    await world.stop();
  });

  test("fails as instance_offline, with the line's own reason, if the line is down", async () => {
    const world = await World.start();
    const instance = await world.activeInstance();
    world.line(instance).goOffline("no network in the cellar");
    const call = await world.call(instance);
    await world.system.advance(600_001);
    expect((await world.storedCall(call)).outcome).toMatchObject({
      reason: "instance_offline",
      detail: "no network in the cellar",
    });
    await world.stop();
  });

  test("fails at its own time, regardless of others", async () => {
    const world = await World.start();
    const first = await world.call(await world.newInstance());
    await world.system.advance(1_000);
    const second = await world.call(await world.newInstance());
    await world.system.advance(599_001);
    expect((await world.storedCall(first)).status).toBe("FAILED");
    expect((await world.storedCall(second)).status).toBe("QUEUED");
    await world.system.advance(1_000);
    expect((await world.storedCall(second)).status).toBe("FAILED");
    await world.stop();
  });

  test("keeps waiting behind another call on a working line", async () => {
    const world = await World.start({
      policy: { kind: "fifo", depth: 2 },
      timings: { queueTimeoutMs: 20_000, ringTimeoutMs: 50_000 },
    });
    const instance = await world.activeInstance();
    const first = await world.call(instance);
    const second = await world.call(instance);
    world.leg(first).placed();
    await world.system.advance(40_000);
    expect((await world.storedCall(second)).status).toBe("QUEUED");
    await world.system.advance(10_000);
    expect(world.leg().callId).toBe(second.id);
    await world.stop();
  });

  test("also fails if it expired and then returned to its queue", async () => {
    const world = await World.start({ timings: { queueTimeoutMs: 20_000 } });
    const instance = await world.activeInstance();
    const call = await world.call(instance); // claimed, and dialling
    await world.system.advance(25_000);
    world.leg(call).end("line_lost");
    world.line(instance).goOffline();
    await world.system.advance(10_000);
    expect(await world.storedCall(call)).toMatchObject({ status: "FAILED", outcome: { reason: "instance_offline" } });
    await world.stop();
  });

  test("fails late if the storage is down at the time", async () => {
    const world = await World.start();
    const call = await world.call(await world.newInstance());
    await world.system.advance(599_000);
    world.storage.isDown = true;
    await world.system.advance(10_000);
    world.storage.isDown = false;
    await world.system.advance(5_000);
    expect((await world.storedCall(call)).status).toBe("FAILED");
    await world.stop();
  });
});

describe("a line that is lost before the network is asked", () => {
  test("returns the call to its queue until the line is back", async () => {
    const world = await World.start();
    const instance = await world.activeInstance();
    const line = world.line(instance);
    line.goOffline("gone", { report: false }); // the core has not noticed yet
    const call = await world.call(instance);
    expect(await world.storedCall(call)).toMatchObject({ status: "QUEUED", owner: null });
    line.goOnline();
    await world.system.advance(1_000);
    world.leg(call).placed();
    await world.system.settle();
    expect((await world.storedCall(call)).status).toBe("RINGING");
    expect(await world.eventTypes(call)).toEqual(["queued", "message_ready", "ringing"]);
    await world.stop();
  });
});

test("waiting calls are shown in the instance's queue, oldest first, until they end", async () => {
  const world = await World.start({ policy: { kind: "fifo", depth: 5 } });
  const instance = await world.newInstance();
  const calls = [];
  for (let i = 0; i < 3; i++) {
    calls.push(await world.call(instance));
    await world.system.advance(5);
  }
  const queue = async () => (await world.app.instances.get(ALICE, instance.id)).callQueue.map((call) => call.id);
  expect(await queue()).toEqual(calls.map((call) => call.id));
  await world.app.calls.hangUp(ALICE, calls[1]?.id ?? "");
  expect(await queue()).toEqual([calls[0]?.id, calls[2]?.id]);
  await world.stop();
});

test("an invalid call is refused with a pointer to each fault", async () => {
  const world = await World.start();
  const instance = await world.activeInstance();
  const body = { instanceId: instance.id, type: "FIXED_TTS", target: { phoneNumber: "12" } } as never;
  await expect(world.app.calls.create(ALICE, body)).rejects.toMatchObject({
    errors: expect.arrayContaining([expect.objectContaining({ pointer: "/target/phoneNumber" })]),
  });
  const unavailableVoiceCall = {
    instanceId: instance.id,
    type: "FIXED_TTS" as const,
    target: { phoneNumber: NUMBER },
    tts: { text: "Hello", voiceId: "pt-BR-1" },
  };
  await expect(world.app.calls.create(ALICE, unavailableVoiceCall)).rejects.toMatchObject({
    code: "voice_unavailable",
  });
  const bothFaults = { ...unavailableVoiceCall, target: { phoneNumber: "12" } };
  await expect(world.app.calls.create(ALICE, bothFaults)).rejects.toMatchObject({
    code: "invalid_request",
    errors: [{ pointer: "/target/phoneNumber" }, { pointer: "/tts/voiceId", code: "voice_unavailable" }],
  });
  expect(await world.app.calls.list(ALICE)).toEqual([]);
  await world.stop();
});
