import { describe, expect, test, vi } from "vitest";
import { toneShare } from "../../../src/audio/tones/tone.ts";
import type { Call } from "../../../src/domain/calls/call.ts";
import type { Instance } from "../../../src/domain/instances/instance.ts";
import type { PcmChunk } from "../../../src/ports/media.ts";
import { type Voice, VoiceUnavailable } from "../../../src/ports/speech.ts";
import { StorageUnavailable } from "../../../src/ports/storage.ts";
import type { ScriptedLine } from "../../../src/testing/scripted-telephony.ts";
import { ALICE, audioFile, BOB, NUMBER, ToneSpeech, World, type WorldOptions } from "../../support/application.ts";

const FIFO: WorldOptions = { policy: { kind: "fifo", depth: 5 } };

/** Speech that records the abandoned texts. */
class WatchedSpeech extends ToneSpeech {
  readonly abandonedTexts: string[] = [];

  override async *speak(text: string, voiceId: string, signal: AbortSignal): AsyncGenerator<PcmChunk> {
    signal.addEventListener("abort", () => this.abandonedTexts.push(text));
    yield* super.speak(text, voiceId, signal);
  }
}

/** A world whose speech waits for `speak`. */
async function silentWorld(options: WorldOptions = {}) {
  const speech = new WatchedSpeech();
  let speak = () => {};
  speech.gate = new Promise<void>((resolve) => {
    speak = resolve;
  });
  const world = await World.start({ ...options, speech: () => speech });
  return { world, speech, speak };
}

const playFile = (world: World, instance: Instance, seconds = 2) =>
  world.app.calls.create(ALICE, {
    instanceId: instance.id,
    type: "FIXED_AUDIO",
    target: { phoneNumber: NUMBER },
    audio: { audioBase64: audioFile(seconds) },
  });

describe("a message", () => {
  test("is prepared before claim and dial", async () => {
    const { world, speak } = await silentWorld();
    const call = await world.call(await world.activeInstance());
    await world.system.advance(10_000);
    expect(await world.storedCall(call)).toMatchObject({ status: "QUEUED", owner: null, dialingAt: null });
    expect(world.network.legs).toHaveLength(0);
    speak();
    await world.system.settle();
    expect(world.leg(call).live).toBe(true);
    expect((await world.storedCall(call)).dialingAt).toBe(world.system.now());
    await world.stop();
  });

  test("fails its call if the voice is not found in time", async () => {
    const speech = new ToneSpeech();
    const world = await World.start({ ...FIFO, timings: { messagePreparationMs: 9_000 }, speech: () => speech });
    const instance = await world.activeInstance();
    const neverSettles = () => new Promise<never>(() => {});
    const voice = vi.spyOn(speech, "voice");
    voice
      .mockImplementationOnce(() => ToneSpeech.prototype.voice.call(speech, "en-US-1"))
      .mockImplementationOnce(neverSettles);
    const call = await world.call(instance);
    const next = await world.call(instance);
    await world.system.advance(8_999);
    expect((await world.storedCall(call)).status).toBe("QUEUED");
    await world.system.advance(1);
    expect(await world.storedCall(call)).toMatchObject({
      status: "FAILED",
      outcome: { reason: "speech_failed", detail: 'the voice "en-US-1" was not found within 9000 ms' },
    });
    expect(world.leg(next).live).toBe(true);
    await world.stop();
  });

  test.each([
    ["by default", {}, 14_900],
    ["as configured", { messagePreparationMs: 60_000 }, 59_900],
  ])("waits for its voice as long as for its sound, %s", async (_, timings, ms) => {
    const speech = new ToneSpeech();
    const world = await World.start({ timings, speech: () => speech });
    const instance = await world.activeInstance();
    const voice = await speech.voice("en-US-1");
    vi.spyOn(speech, "voice")
      .mockResolvedValueOnce(voice)
      .mockImplementationOnce(() => new Promise((resolve) => void world.system.after(ms, () => resolve(voice))));
    const call = await world.call(instance);
    await world.system.advance(ms - 1);
    expect((await world.storedCall(call)).status).toBe("QUEUED");
    await world.system.advance(1);
    expect(world.leg(call).live).toBe(true);
    await world.stop();
  });

  test("waits for its voice with many others, as when a trunk recovers", async () => {
    const MANY_CALLS = 250;
    const speech = new ToneSpeech();
    const world = await World.start({ limits: { instancesPerUser: MANY_CALLS }, speech: () => speech });
    const calls: Call[] = [];
    const lines: ScriptedLine[] = [];
    for (let n = 0; n < MANY_CALLS; n++) {
      const instance = await world.activeInstance();
      lines.push(world.line(instance));
      world.line(instance).goOffline();
      calls.push(await world.call(instance));
    }
    const foundVoice = await speech.voice("en-US-1");
    let find = () => {};
    const finding = new Promise<Voice>((resolve) => {
      find = () => resolve(foundVoice);
    });
    const voice = vi.spyOn(speech, "voice").mockReturnValue(finding);
    for (const line of lines) line.goOnline();
    await world.system.settle();
    expect(voice).toHaveBeenCalledTimes(MANY_CALLS);
    find();
    await world.system.settle();
    expect(calls.filter((call) => !world.network.legs.some(({ callId }) => callId === call.id))).toEqual([]);
    await world.stop();
  });

  test("is dialled without a timer if it is ready", async () => {
    const world = await World.start();
    const instance = await world.activeInstance();
    const before = world.system.monotonic();
    await world.call(instance);
    expect(world.network.legs).toHaveLength(1);
    expect(world.system.monotonic()).toBe(before);
    await world.stop();
  });

  test("is dialled with its first second ready, and heard to its end", async () => {
    const world = await World.start();
    const instance = await world.activeInstance();
    let resume = () => {};
    world.speech.pause = new Promise<void>((resolve) => {
      resume = resolve;
    });
    const shortCall = await world.call(instance, "a".repeat(30));
    expect(world.network.legs).toHaveLength(0);
    await world.app.calls.hangUp(ALICE, shortCall.id);
    const call = await world.call(instance, "a".repeat(40));
    const leg = world.leg(call);
    leg.placed();
    await world.system.advance(500);
    resume();
    leg.answer();
    await world.system.advance(4_000);
    expect((await world.storedCall(call)).outcome).toMatchObject({ reason: "message_played", heardMs: 2_000 });
    expect(toneShare(leg.heard.subarray(0, 16_000), 440, 8_000)).toBeGreaterThan(0.99);
    expect(await world.eventTypes(call)).not.toContain("message_delayed");
    await world.stop();
  });

  test("fails its call without ringing if late", async () => {
    const { world, speech, speak } = await silentWorld({ ...FIFO, timings: { messagePreparationMs: 3_000 } });
    const instance = await world.activeInstance();
    const call = await world.call(instance, "first");
    const next = await world.call(instance, "second");
    await world.system.advance(2_999);
    expect(speech.receivedTexts).toEqual(["first"]);
    await world.system.advance(1);
    expect(await world.storedCall(call)).toMatchObject({
      status: "FAILED",
      outcome: { reason: "speech_failed", detail: expect.stringContaining("3000 ms"), heardMs: 0, durationMs: 0 },
    });
    expect(await world.eventTypes(call)).toEqual(["queued", "failed"]);
    expect(speech.abandonedTexts).toEqual(["first"]);
    speech.gate = undefined;
    speak();
    await world.system.settle();
    expect(world.network.legs.map(({ callId }) => callId)).toEqual([next.id]);
    await world.stop();
  });

  test("waits 15 seconds by default", async () => {
    const { world } = await silentWorld();
    const call = await world.call(await world.activeInstance());
    await world.system.advance(14_999);
    expect((await world.storedCall(call)).status).toBe("QUEUED");
    await world.system.advance(1);
    expect((await world.storedCall(call)).outcome?.reason).toBe("speech_failed");
    await world.stop();
  });

  test("is not late if it waits for its turn at the engine", async () => {
    const { world, speech, speak } = await silentWorld();
    const aliceCalls = [];
    for (let n = 0; n < 2; n++) aliceCalls.push(await world.call(await world.activeInstance(), `of Alice ${n}`));
    const call = await world.call(await world.activeInstance(BOB), "of Bob", BOB);
    await world.system.advance(15_000);
    for (const lateCall of aliceCalls) expect((await world.storedCall(lateCall)).outcome?.reason).toBe("speech_failed");
    expect(speech.receivedTexts.at(-1)).toBe("of Bob");
    await world.system.advance(10_000);
    speak();
    await world.system.settle();
    expect(world.leg(call).live).toBe(true);
    await world.stop();
  });

  test("fails its call at once, without dialling, if its voice no longer exists", async () => {
    const world = await World.start();
    const instance = await world.activeInstance();
    world.speech.fault = new VoiceUnavailable("the voice en-US-1 is gone");
    const call = await world.call(instance);
    expect((await world.storedCall(call)).outcome).toMatchObject({
      reason: "speech_failed",
      detail: "the voice en-US-1 is gone",
    });
    expect(world.network.legs).toHaveLength(0);
    await world.stop();
  });

  test("fails its call once the storage is back if its preparation failed", async () => {
    const world = await World.start();
    const instance = await world.activeInstance();
    world.speech.fault = new Error("the engine crashed");
    world.storage.before = (operation) => {
      if (operation === "calls.update") throw new StorageUnavailable("the disk is full");
    };
    const call = await world.call(instance);
    await world.system.advance(3_000);
    expect((await world.storedCall(call)).status).toBe("QUEUED");
    world.storage.before = () => {};
    await world.system.advance(5_000);
    expect((await world.storedCall(call)).outcome?.reason).toBe("speech_failed");
    await world.stop();
  });

  test("is rendered no further than its beginning before the call is claimed", async () => {
    const speech = new WatchedSpeech();
    const world = await World.start({ speech: () => speech });
    const instance = await world.activeInstance();
    const release = world.holdClaim();
    await world.call(instance, "This is a sentence of about fifty letters, I think. ".repeat(40));
    await world.system.advance(5_000);
    expect(speech.receivedTexts).toHaveLength(1);
    release();
    await world.system.settle();
    expect(speech.receivedTexts.length).toBeGreaterThan(5);
    await world.stop();
  });

  test("is not awaited if it is a live stream", async () => {
    const { world } = await silentWorld({ streamPreview: true });
    const instance = await world.activeInstance();
    await world.app.calls.create(ALICE, {
      instanceId: instance.id,
      type: "DYNAMIC_STREAM",
      target: { phoneNumber: NUMBER },
    });
    await world.system.settle();
    expect(world.network.legs).toHaveLength(1);
    await world.stop();
  });
});

describe("a preparation is abandoned", () => {
  test.each([
    ["a DELETE of the call", "terminated"],
    ["the instance's deletion", "instance_deleted"],
  ])("by %s, which does not wait for the engine", async (cause, reason) => {
    const { world, speech } = await silentWorld();
    const instance = await world.activeInstance();
    const call = await world.call(instance, "first");
    if (reason === "terminated") await world.app.calls.hangUp(ALICE, call.id);
    else await world.app.instances.delete(ALICE, instance.id);
    expect((await world.storedCall(call)).outcome, cause).toMatchObject({ reason });
    expect(speech.abandonedTexts).toEqual(["first"]);
    await world.system.advance(20_000);
    expect(world.network.legs).toHaveLength(0);
    await world.stop();
  });

  test("and frees its place at the engine for another user", async () => {
    const { world, speech } = await silentWorld();
    const calls = [];
    for (let n = 0; n < 2; n++) calls.push(await world.call(await world.activeInstance(), `of Alice ${n}`));
    await world.call(await world.activeInstance(BOB), "of Bob", BOB);
    expect(speech.receivedTexts).toEqual(["of Alice 0", "of Alice 1"]);
    await world.app.calls.hangUp(ALICE, calls[1]!.id);
    await world.system.settle();
    expect(speech.receivedTexts).toEqual(["of Alice 0", "of Alice 1", "of Bob"]);
    await world.stop();
  });

  test("when the line is lost, and restarts when it returns", async () => {
    const { world, speech, speak } = await silentWorld();
    const instance = await world.activeInstance();
    const call = await world.call(instance, "first");
    world.line(instance).goOffline();
    await world.system.settle();
    expect(speech.abandonedTexts).toEqual(["first"]);
    await world.system.advance(20_000);
    expect((await world.storedCall(call)).status).toBe("QUEUED");
    world.line(instance).goOnline();
    speak();
    await world.system.settle();
    expect(world.leg(call).live).toBe(true);
    await world.stop();
  });

  test("when the server stops; its call waits for the next start", async () => {
    const { world, speech } = await silentWorld();
    const call = await world.call(await world.activeInstance(), "first");
    await world.app.stop(0);
    expect(speech.abandonedTexts).toEqual(["first"]);
    expect(await world.storedCall(call)).toMatchObject({ status: "QUEUED", owner: null });
    expect(world.system.waiting).toBe(0);
  });

  test("when another call is claimed instead, which is then prepared and dialled", async () => {
    const speech = new WatchedSpeech();
    const world = await World.start({ ...FIFO, speech: () => speech });
    const instance = await world.activeInstance();
    const release = world.holdClaim();
    const first = await world.call(instance, "first");
    const second = await world.call(instance, "second");
    const { version } = await world.storedCall(first);
    await world.storage.calls.update(first.id, version, { status: "FAILED", endedAt: world.system.now() }, []);
    release();
    await world.system.settle();
    expect(speech.receivedTexts).toEqual(["first", "second"]);
    expect(world.network.legs.map(({ callId }) => callId)).toEqual([second.id]);
    await world.stop();
  });
});

describe("an audio file", () => {
  test("is read and decoded before its call is claimed, and not read again", async () => {
    const world = await World.start();
    const instance = await world.activeInstance();
    const operations: string[] = [];
    world.storage.before = (operation) => void operations.push(operation);
    const call = await playFile(world, instance);
    await world.system.settle();
    world.leg(call).placed();
    world.leg(call).answer();
    await world.system.advance(4_000);
    expect((await world.storedCall(call)).outcome).toMatchObject({ reason: "message_played", heardMs: 2_000 });
    const reads = operations.filter((operation) => /calls\.(audio|claimNext)/.test(operation));
    expect(reads).toEqual(["calls.audio", "calls.claimNext"]);
    await world.stop();
  });

  test("is awaited while the storage is unavailable, and no phone rings", async () => {
    const world = await World.start();
    const instance = await world.activeInstance();
    world.storage.before = (operation) => {
      if (operation === "calls.audio") throw new StorageUnavailable("the database is gone");
    };
    const call = await playFile(world, instance);
    await world.system.advance(20_000);
    expect(await world.storedCall(call)).toMatchObject({ status: "QUEUED", dialingAt: null });
    expect(world.network.legs).toHaveLength(0);
    world.storage.before = () => {};
    await world.system.advance(1_000);
    expect(world.leg(call).live).toBe(true);
    await world.stop();
  });

  test("is played at its leg's rate, whatever rate was expected", async () => {
    const world = await World.start({ sampleRate: 16_000 });
    const call = await playFile(world, await world.activeInstance());
    await world.system.settle();
    const leg = world.leg(call);
    leg.placed();
    leg.answer();
    await world.system.advance(4_000);
    expect((await world.storedCall(call)).outcome).toMatchObject({ reason: "message_played", heardMs: 2_000 });
    expect(toneShare(leg.heard.subarray(0, 32_000), 880, 16_000)).toBeGreaterThan(0.99);
    await world.stop();
  });
});
