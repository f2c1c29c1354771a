import { describe, expect, test } from "vitest";
import { tone } from "../../../src/audio/tones/tone.ts";
import { decodeWav } from "../../../src/audio/wav/wav.ts";
import type { Principal } from "../../../src/domain/access/principal.ts";
import type { Call } from "../../../src/domain/calls/call.ts";
import type { Instance } from "../../../src/domain/instances/instance.ts";
import type { RecordingWriter } from "../../../src/ports/recordings.ts";
import type { ScriptedLeg } from "../../../src/testing/scripted-telephony.ts";
import { ALICE, BOB, MS_PER_CHARACTER, NUMBER, World, type WorldOptions } from "../../support/application.ts";
import type { MemoryRecording } from "../../support/memory-recordings.ts";

const RATE = 8_000;
const FRAME_SAMPLES = 160;
const TEXT = "Your table is ready now"; // 23 characters
const MESSAGE_MS = TEXT.length * MS_PER_CHARACTER;

async function recordedCall(
  world: World,
  instance: Instance,
  text = TEXT,
  principal: Principal = ALICE,
): Promise<Call> {
  const call = await world.app.calls.create(principal, {
    instanceId: instance.id,
    type: "FIXED_TTS",
    target: { phoneNumber: NUMBER },
    tts: { text, voiceId: "en-US-1" },
    recording: true,
  });
  await world.system.settle();
  return call;
}

async function answerCall(options: WorldOptions = {}, text = TEXT) {
  const world = await World.start(options);
  const call = await recordedCall(world, await world.activeInstance(), text);
  const leg = world.leg(call);
  leg.placed();
  leg.answer();
  await world.system.settle();
  return { world, call, leg, recording: () => recordingOf(world, call) };
}

function recordingOf(world: World, call: Call): MemoryRecording {
  const recording = world.recordings.stored.get(call.id);
  if (!recording) throw new Error(`${call.id} is not recorded`);
  return recording;
}

/** Position of the first non-silent sample, ms. */
const startMs = (samples: readonly number[]): number => (samples.findIndex((sample) => sample !== 0) * 1000) / RATE;

describe("a call that is recorded", () => {
  test("has outbound audio on the left and inbound audio on the right, aligned", async () => {
    const { world, call, leg, recording } = await answerCall();
    await world.system.advance(400);
    leg.say(tone(880, 300, RATE, 8_000));
    await world.system.advance(5_000);
    const { outcome, recordedMs } = await world.storedCall(call);
    expect(outcome?.reason).toBe("message_played");
    const { heard, spoken, isFinished } = recording();
    expect(isFinished).toBe(true);
    expect(Int16Array.from(heard)).toEqual(leg.heard.subarray(0, heard.length));
    expect(spoken.length).toBe(heard.length);
    expect(Math.abs(startMs(spoken) - 400)).toBeLessThanOrEqual(21);
    expect(spoken.filter((sample) => sample !== 0).length / FRAME_SAMPLES).toBeCloseTo(15, 0);
    expect(Math.abs((recordedMs ?? 0) - (outcome?.durationMs ?? 0))).toBeLessThanOrEqual(20);
    expect(recordedMs).toBeGreaterThanOrEqual(MESSAGE_MS);
    await world.stop();
  });

  test("has a silent right channel without inbound audio", async () => {
    const { world, leg, recording } = await answerCall({ timings: { mediaTimeoutMs: 60_000 } });
    leg.talkative = false;
    await world.system.advance(700);
    leg.say(tone(880, 100, RATE, 8_000));
    await world.system.advance(5_000);
    const { heard, spoken } = recording();
    expect(spoken.length).toBe(heard.length);
    expect(Math.abs(startMs(spoken) - 700)).toBeLessThanOrEqual(21);
    await world.stop();
  });

  test("is available as a stereo WAV file, only to its owner", async () => {
    const { world, call } = await answerCall();
    await world.system.advance(5_000);
    const storedRecording = await world.app.calls.recording(ALICE, call.id);
    const pieces: number[] = [];
    for await (const piece of storedRecording.bytes()) pieces.push(...piece);
    expect(pieces.length).toBe(storedRecording.size);
    expect(decodeWav(Uint8Array.from(pieces)).sampleRate).toBe(RATE);
    await expect(world.app.calls.recording(BOB, call.id)).rejects.toMatchObject({ code: "call_not_found" });
    await expect(world.app.calls.eraseRecording(BOB, call.id)).rejects.toMatchObject({ code: "call_not_found" });
    await world.stop();
  });

  test("can be played while the call continues", async () => {
    const { world, call } = await answerCall({}, "x".repeat(100));
    await world.system.advance(2_000);
    const { durationMs } = await world.app.calls.recording(ALICE, call.id);
    expect(durationMs).toBeGreaterThan(1_500);
    expect((await world.storedCall(call)).recordedMs).toBe(0);
    await world.stop();
  });

  test("continues if its recording breaks; the timeline shows the gap", async () => {
    const { world, call, recording } = await answerCall();
    await world.system.advance(600);
    recording().breakOff("disk_full");
    await world.system.advance(5_000);
    const { outcome, recordedMs } = await world.storedCall(call);
    expect(outcome).toMatchObject({ reason: "message_played", heardRatio: 1 });
    expect(recordedMs).toBeLessThanOrEqual(640);
    const notices = (await world.timeline(call)).filter(({ type }) => type === "recording_incomplete");
    expect(notices.map(({ data }) => data)).toEqual([{ reason: "disk_full", recorded_ms: recordedMs }]);
    await world.stop();
  });

  test("continues if recording is impossible", async () => {
    const world = await World.start();
    world.recordings.record = () => {
      throw new Error("no such folder");
    };
    const call = await recordedCall(world, await world.activeInstance());
    world.leg(call).placed();
    world.leg(call).answer();
    await world.system.advance(5_000);
    expect(await world.storedCall(call)).toMatchObject({ outcome: { reason: "message_played" }, recordedMs: 0 });
    expect(await world.eventTypes(call)).toContain("recording_incomplete");
    expect(world.errors).toHaveLength(1);
    await world.stop();
  });
});

describe("a recording at the limit of stored bytes", () => {
  const KIB = 1024;
  const LONG_TEXT = "x".repeat(200); // 10 s
  const incompleteEvents = async (world: World, call: Call) =>
    (await world.timeline(call)).filter(({ type }) => type === "recording_incomplete").map(({ data }) => data);
  const pickUp = async (world: World, call: Call): Promise<void> => {
    world.leg(call).placed();
    world.leg(call).answer();
    await world.system.settle();
  };

  test("ends for an instance's demo tokens, and the call continues", async () => {
    const world = await World.start({ limits: { storedBytesPerDemoInstance: 200 * KIB } });
    const instance = await world.activeInstance();
    const call = await recordedCall(world, instance, LONG_TEXT, { ...ALICE, demoInstanceId: instance.id });
    await pickUp(world, call);
    await world.system.advance(15_000);
    const { outcome, recordedMs } = await world.storedCall(call);
    expect(outcome).toMatchObject({ reason: "message_played", heardRatio: 1 });
    expect(recordedMs).toBeGreaterThan(2_000);
    expect(recordedMs).toBeLessThanOrEqual((200 * KIB) / 64);
    expect(await incompleteEvents(world, call)).toEqual([{ reason: "storage_quota", recorded_ms: recordedMs }]);
    expect(recordingOf(world, call).isFinished).toBe(true);
    // The rows for the call's end are also stored.
    expect(await world.storage.retention.storedBytes(instance.id)).toBeLessThan(210 * KIB);
    await world.stop();
  });

  test("ends a user's live recordings together", async () => {
    const world = await World.start({ limits: { storedBytesPerUser: 600 * KIB } });
    const first = await recordedCall(world, await world.activeInstance(), LONG_TEXT);
    const second = await recordedCall(world, await world.activeInstance(), LONG_TEXT);
    for (const call of [first, second]) await pickUp(world, call);
    await world.system.advance(15_000);
    let totalMs = 0;
    for (const call of [first, second]) {
      const { outcome, recordedMs } = await world.storedCall(call);
      expect(outcome?.heardRatio).toBe(1);
      expect(await incompleteEvents(world, call)).toEqual([{ reason: "storage_quota", recorded_ms: recordedMs }]);
      totalMs += recordedMs ?? 0;
    }
    expect(totalMs).toBeGreaterThan(6_000);
    expect(totalMs).toBeLessThanOrEqual((600 * KIB) / 64);
    await world.stop();
  });

  test("does not start at the limit, and starts again when there is room", async () => {
    const world = await World.start();
    const { storedBytes } = world.storage.retention;
    world.storage.retention.storedBytes = async () => Number.MAX_SAFE_INTEGER;
    const instance = await world.activeInstance();
    const call = await recordedCall(world, instance);
    await pickUp(world, call);
    await world.system.advance(10_000);
    expect(await world.storedCall(call)).toMatchObject({ outcome: { heardRatio: 1 } });
    expect(await incompleteEvents(world, call)).toMatchObject([{ reason: "storage_quota" }]);
    world.storage.retention.storedBytes = storedBytes;
    const next = await recordedCall(world, instance);
    await pickUp(world, next);
    await world.system.advance(10_000);
    expect((await world.storedCall(next)).recordedMs).toBeGreaterThanOrEqual(MESSAGE_MS);
    expect(await incompleteEvents(world, next)).toEqual([]);
    await world.stop();
  });

  test("counts only live recordings while the storage cannot be read", async () => {
    const world = await World.start();
    world.storage.retention.storedBytes = () => Promise.reject(new Error("no answer"));
    const call = await recordedCall(world, await world.activeInstance());
    await pickUp(world, call);
    await world.system.advance(10_000);
    expect((await world.storedCall(call)).recordedMs).toBeGreaterThanOrEqual(MESSAGE_MS);
    await world.stop();
  });
});

describe("a faulty recording store", () => {
  const fault = () => {
    throw new Error("the bucket is gone");
  };
  const faults: readonly (readonly [string, Partial<Record<keyof RecordingWriter, unknown>>, readonly string[]])[] = [
    ["finish rejects", { finish: () => Promise.reject(new Error("the bucket is gone")) }, []],
    ["finish throws synchronously", { finish: fault }, []],
    ["finish returns nothing", { finish: () => undefined }, []],
    ["finish hangs", { finish: () => new Promise(() => {}) }, []],
    ["write throws", { write: fault }, ["disk_failed"]],
    ["write and finish throw", { write: fault, finish: fault }, ["disk_failed"]],
    ["its length is not a number", { recordedMs: Number.NaN }, []],
  ];

  test.for(faults)("loses only the recording, never the call: %s", async ([, members, reasons]) => {
    const world = await World.start();
    const record = world.recordings.record.bind(world.recordings);
    world.recordings.record = (...args) => {
      const writer = record(...args);
      for (const [name, value] of Object.entries(members)) Object.defineProperty(writer, name, { value });
      return writer;
    };
    const call = await recordedCall(world, await world.activeInstance());
    const leg = world.leg(call);
    leg.placed();
    leg.answer();
    await world.system.advance(10_000);
    const { status, outcome } = await world.storedCall(call);
    expect([status, outcome?.reason, outcome?.heardRatio]).toEqual(["COMPLETED", "message_played", 1]);
    expect(leg.heard.filter((sample) => sample !== 0).length).toBeGreaterThan((RATE * MESSAGE_MS) / 1_100);
    const incompleteEvents = (await world.timeline(call)).filter(({ type }) => type === "recording_incomplete");
    expect(incompleteEvents.map(({ data }) => (data as { reason: string }).reason)).toEqual(reasons);
    await world.stop();
  });
});

describe("no recording is stored", () => {
  const refusal = { code: "recording_not_found" };

  test("for a call without recording", async () => {
    const world = await World.start();
    const { call } = await world.answeredCall(await world.activeInstance());
    await world.system.advance(5_000);
    expect((await world.storedCall(call)).recordedMs).toBeNull();
    expect(world.recordings.stored.size).toBe(0);
    await expect(world.app.calls.recording(ALICE, call.id)).rejects.toMatchObject(refusal);
    await expect(world.app.calls.eraseRecording(ALICE, call.id)).rejects.toMatchObject(refusal);
    await world.stop();
  });

  test("for an unanswered call", async () => {
    const world = await World.start();
    const call = await recordedCall(world, await world.activeInstance());
    world.leg(call).placed();
    world.leg(call).end("busy");
    await world.system.settle();
    expect(await world.storedCall(call)).toMatchObject({ status: "FAILED", recordedMs: 0 });
    await expect(world.app.calls.recording(ALICE, call.id)).rejects.toMatchObject(refusal);
    await world.stop();
  });
});

describe("a recording is deleted", () => {
  const refusal = { code: "recording_not_found" };
  const deletions = async (world: World, call: Call) =>
    (await world.timeline(call)).filter(({ type }) => type === "recording_deleted").map(({ data }) => data);

  test("on request, once the call has ended", async () => {
    const { world, call } = await answerCall();
    await world.system.advance(5_000);
    await world.app.calls.eraseRecording(ALICE, call.id);
    expect(world.recordings.stored.size).toBe(0);
    expect((await world.storedCall(call)).recordedMs).toBe(0);
    expect(await deletions(world, call)).toEqual([{ reason: "requested" }]);
    await expect(world.app.calls.recording(ALICE, call.id)).rejects.toMatchObject(refusal);
    await expect(world.app.calls.eraseRecording(ALICE, call.id)).rejects.toMatchObject(refusal);
    await world.stop();
  });

  test("on request during the call, which is no longer recorded", async () => {
    const { world, call } = await answerCall({}, "x".repeat(100));
    await world.system.advance(2_000);
    await world.app.calls.eraseRecording(ALICE, call.id);
    await world.system.advance(10_000);
    expect(world.recordings.stored.size).toBe(0);
    expect(await world.storedCall(call)).toMatchObject({ outcome: { reason: "message_played" }, recordedMs: 0 });
    expect(await deletions(world, call)).toEqual([{ reason: "requested" }]);
    await world.stop();
  });

  test.each(["waits", "rings"])("before it exists, while the call %s, and is never created", async (phase) => {
    const world = await World.start();
    const instance = phase === "waits" ? await world.newInstance() : await world.activeInstance();
    const call = await recordedCall(world, instance);
    if (phase === "rings") world.leg(call).placed();
    await world.system.settle();
    await world.app.calls.eraseRecording(ALICE, call.id);
    if (phase === "waits") {
      await world.app.instances.configure(ALICE, instance.id);
      await world.line(instance).scan();
      await world.system.settle();
      world.leg(call).placed();
    }
    (world.leg(call) as ScriptedLeg).answer();
    await world.system.advance(5_000);
    expect((await world.storedCall(call)).outcome?.reason).toBe("message_played");
    expect(world.recordings.stored.size).toBe(0);
    await world.stop();
  });

  test("with its call, and before it if recordings are kept for a shorter time", async () => {
    const { world, call } = await answerCall({ retentionDays: 0.5, recordingRetentionDays: 0.1 });
    await world.system.advance(5_000);
    const advanceHours = (count: number) => world.system.advance(count * 3_600_000);
    await advanceHours(2);
    expect(world.recordings.stored.size).toBe(1);
    await advanceHours(1.1);
    expect(world.recordings.stored.size).toBe(0);
    expect((await world.storedCall(call)).recordedMs).toBe(0);
    expect(await deletions(world, call)).toEqual([{ reason: "retention" }]);
    await advanceHours(10);
    expect(await world.storage.calls.get(call.id)).toBeUndefined();
    await world.stop();
  });

  test("with its call by default", async () => {
    const { world, call } = await answerCall({ retentionDays: 0.1 });
    await world.system.advance(5_000);
    await world.system.advance(3.5 * 3_600_000);
    expect(world.recordings.stored.size).toBe(0);
    expect(await world.storage.calls.get(call.id)).toBeUndefined();
    await world.stop();
  });
});

test("a crashed process's recording is kept by the next one", async () => {
  const { world, call } = await answerCall({}, "x".repeat(100));
  await world.system.advance(2_000);
  const next = await world.crashAndRestart();
  const storedCall = await next.storedCall(call);
  expect(storedCall.outcome?.reason).toBe("interrupted");
  expect(storedCall.recordedMs).toBeGreaterThan(1_500);
  expect((await next.app.calls.recording(ALICE, call.id)).durationMs).toBeCloseTo(storedCall.recordedMs ?? 0, 0);
  await next.stop();
});
