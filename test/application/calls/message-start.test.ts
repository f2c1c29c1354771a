import { describe, expect, test } from "vitest";
import { scriptedAgent } from "../../../adapters/agent/scripted/scripted-agent.ts";
import { concatPcm, msToSamples } from "../../../src/audio/samples/pcm.ts";
import { DtmfDetector } from "../../../src/audio/tones/dtmf.ts";
import { tone, toneShare } from "../../../src/audio/tones/tone.ts";
import type { Call } from "../../../src/domain/calls/call.ts";
import { FIRST_WORD_PAUSE_MS, FIRST_WORD_WAIT_MS, MAX_FIRST_WORD_MS } from "../../../src/domain/calls/message-start.ts";
import { Refusal } from "../../../src/domain/refusal.ts";
import type { ScriptedLeg } from "../../../src/testing/scripted-telephony.ts";
import { babble } from "../../audio/noise.ts";
import { ALICE, audioFile, MS_PER_CHARACTER, NUMBER, World, type WorldOptions } from "../../support/application.ts";

import { attach, RecordingClient } from "../../support/recording-client.ts";

const TEXT = "Your table for two is ready at eight pm.";
const MESSAGE_MS = TEXT.length * MS_PER_CHARACTER;
const TTS = { type: "FIXED_TTS", tts: { text: TEXT, voiceId: "en-US-1" } } as const;

interface Scene {
  readonly world: World;
  readonly call: Call;
  readonly leg: ScriptedLeg;
}

async function answerCall(message: object, extension?: string, options: WorldOptions = {}): Promise<Scene> {
  const world = await World.start(options);
  const { id: instanceId } = await world.activeInstance();
  const target = { phoneNumber: NUMBER, ...(extension !== undefined && { extension }) };
  const call = await world.app.calls.create(ALICE, { instanceId, target, ...message } as never);
  await world.system.settle();
  const leg = world.leg(call);
  leg.placed();
  leg.answer();
  await world.system.settle();
  return { world, call, leg };
}

const speech = (ms: number) => babble(ms, 8_000, 3_000, 5);
const silence = (ms: number) => new Int16Array(msToSamples(ms, 8_000));

/** Intervals of the message's tone that the callee heard: start and length, ms. */
function toneIntervals({ leg }: Scene, hz = 440): [number, number][] {
  const intervals: [number, number][] = [];
  const step = msToSamples(20, leg.sampleRate);
  for (let at = 0; at + step <= leg.heard.length; at += step) {
    if (toneShare(leg.heard.subarray(at, at + step), hz, leg.sampleRate) < 0.8) continue;
    const ms = (at / step) * 20;
    const last = intervals.at(-1);
    if (last && last[0] + last[1] === ms) last[1] += 20;
    else intervals.push([ms, 20]);
  }
  return intervals;
}

/** First sound that the callee heard, ms after the answer. */
const firstSoundAt = ({ leg }: Scene): number =>
  (leg.heard.findIndex((sample) => sample !== 0) * 1_000) / leg.sampleRate;

/** Keys that the callee heard as tones, with their times, ms. */
function keysIn({ leg }: Scene): { digits: string; times: number[] } {
  const keys = { digits: "", times: [] as number[] };
  const detector = new DtmfDetector(leg.sampleRate, (digit, atMs) => {
    keys.digits += digit;
    keys.times.push(atMs);
  });
  const step = msToSamples(20, leg.sampleRate);
  for (let at = 0; at + step <= leg.heard.length; at += step) detector.push(leg.heard.subarray(at, at + step));
  return keys;
}

async function expectFullMessage(scene: Scene, messageMs: number): Promise<void> {
  const { outcome } = await scene.world.storedCall(scene.call);
  expect(outcome).toMatchObject({ reason: "message_played", heardMs: messageMs, heardRatio: 1 });
  expect(await scene.world.eventTypes(scene.call)).not.toContain("message_delayed");
}

describe("a pause before the message", () => {
  test.each([
    ["a text", TTS, MESSAGE_MS, 440],
    ["a file", { type: "FIXED_AUDIO", audio: { audioBase64: audioFile(3) } }, 3_000, 880],
  ] as const)("is silence, and all of %s follows", async (_, message, ms, hz) => {
    const scene = await answerCall({ ...message, startDelayMs: 1_500 });
    await scene.world.system.advance(8_000);
    const intervals = toneIntervals(scene, hz);
    expect(intervals.map(([, length]) => length)).toEqual([ms]);
    expect(firstSoundAt(scene)).toBeGreaterThanOrEqual(1_500);
    expect(firstSoundAt(scene)).toBeLessThanOrEqual(1_560);
    await expectFullMessage(scene, ms);
    await scene.world.stop();
  });

  test("counts no audio as heard in a call that ends within it", async () => {
    const scene = await answerCall({ ...TTS, startDelayMs: 3_000 });
    await scene.world.system.advance(2_000);
    scene.leg.end("callee_hung_up");
    await scene.world.system.settle();
    expect((await scene.world.storedCall(scene.call)).outcome).toMatchObject({
      reason: "callee_hung_up",
      heardMs: 0,
      heardRatio: 0,
    });
    await scene.world.stop();
  });
});

describe("a message that waits for the first word", () => {
  const message = { ...TTS, startOn: "first_word" };

  test.each([400, 900, 2_500])("starts when a word of %i ms has ended, and is heard in full", async (ms) => {
    const scene = await answerCall(message);
    const greeting = concatPcm([silence(600), speech(ms)]);
    scene.leg.say(greeting);
    await scene.world.system.advance(12_000);
    const wordEnd = greeting.findLastIndex((sample) => Math.abs(sample) > 500) / 8;
    expect(firstSoundAt(scene)).toBeGreaterThanOrEqual(wordEnd + FIRST_WORD_PAUSE_MS - 100);
    expect(firstSoundAt(scene)).toBeLessThanOrEqual(wordEnd + FIRST_WORD_PAUSE_MS + 200);
    expect(toneIntervals(scene).map(([, length]) => length)).toEqual([MESSAGE_MS]);
    await expectFullMessage(scene, MESSAGE_MS);
    await scene.world.stop();
  });

  test("adds a requested pause", async () => {
    const scene = await answerCall({ ...message, startDelayMs: 1_000 });
    scene.leg.say(concatPcm([silence(600), speech(600)]));
    await scene.world.system.advance(12_000);
    expect(firstSoundAt(scene)).toBeGreaterThanOrEqual(2_600);
    expect(firstSoundAt(scene)).toBeLessThanOrEqual(3_100);
    await expectFullMessage(scene, MESSAGE_MS);
    await scene.world.stop();
  });

  test("starts without a word after five seconds", async () => {
    const scene = await answerCall(message);
    await scene.world.system.advance(12_000);
    expect(firstSoundAt(scene)).toBeGreaterThanOrEqual(FIRST_WORD_WAIT_MS);
    expect(firstSoundAt(scene)).toBeLessThanOrEqual(FIRST_WORD_WAIT_MS + 60);
    await expectFullMessage(scene, MESSAGE_MS);
    await scene.world.stop();
  });

  test("interrupts a callee who does not stop speaking", async () => {
    const scene = await answerCall(message);
    scene.leg.say(speech(20_000));
    await scene.world.system.advance(25_000);
    expect(firstSoundAt(scene)).toBeGreaterThanOrEqual(MAX_FIRST_WORD_MS);
    expect(firstSoundAt(scene)).toBeLessThanOrEqual(MAX_FIRST_WORD_MS + 1_000);
    await scene.world.stop();
  });

  test("is left in full after a machine's beep", async () => {
    const scene = await answerCall({ ...message, onMachine: "leave_message" });
    scene.leg.say(concatPcm([speech(9_000), silence(500), tone(1_000, 400, 8_000, 9_000)]));
    await scene.world.system.advance(20_000);
    const intervals = toneIntervals(scene);
    expect(intervals.map(([, length]) => length)).toEqual([MESSAGE_MS]);
    expect(intervals[0]?.[0]).toBeGreaterThanOrEqual(9_900);
    expect(intervals[0]?.[0]).toBeLessThan(10_100);
    await expectFullMessage(scene, MESSAGE_MS);
    await scene.world.stop();
  });
});

describe("an extension", () => {
  test("is heard as ordered tones after its pauses, then the entire message", async () => {
    const scene = await answerCall(TTS, ",,12w*9");
    await scene.world.system.advance(14_000);
    const keys = keysIn(scene);
    expect(keys.digits).toBe("12*9");
    expect(keys.times[0]).toBeGreaterThanOrEqual(2_000);
    expect(keys.times[0]).toBeLessThanOrEqual(2_100);
    expect((keys.times[2] ?? 0) - (keys.times[1] ?? 0)).toBeGreaterThanOrEqual(500);
    const [message] = toneIntervals(scene);
    expect(message?.[1]).toBe(MESSAGE_MS);
    expect(message?.[0]).toBeGreaterThan(keys.times[3] ?? Infinity);
    await expectFullMessage(scene, MESSAGE_MS);
    const event = (await scene.world.timeline(scene.call)).find(({ type }) => type === "extension_dialled");
    expect(event?.data).toEqual({ extension: ",,12w*9", in_band: true });
    await scene.world.stop();
  });

  test.each([
    ["accepts keys", undefined, false],
    ["refuses keys", new Error("488"), true],
  ])("is sent as keys or tones on a network that %s", async (_, refusal, inBand) => {
    const world = await World.start();
    const { id: instanceId } = await world.activeInstance();
    const target = { phoneNumber: NUMBER, extension: "1w23" };
    const call = await world.app.calls.create(ALICE, { instanceId, target, ...TTS });
    await world.system.settle();
    const leg = world.leg(call);
    const sentKeys: string[] = [];
    Object.assign(leg, {
      sendDtmf: async (digits: string) => {
        if (refusal) throw refusal;
        sentKeys.push(digits);
      },
    });
    leg.placed();
    leg.answer();
    await world.system.advance(10_000);
    const scene = { world, call, leg };
    expect(sentKeys).toEqual(refusal ? [] : ["1", "23"]);
    expect(keysIn(scene).digits).toBe(refusal ? "123" : "");
    expect(toneIntervals(scene).map(([, length]) => length)).toEqual([MESSAGE_MS]);
    await expectFullMessage(scene, MESSAGE_MS);
    const event = (await world.timeline(call)).find(({ type }) => type === "extension_dialled");
    expect(event?.data).toEqual({ extension: "1w23", in_band: inBand });
    await world.stop();
  });

  test("waits for a peer that holds the call for minutes, and dials each key once", async () => {
    const world = await World.start();
    const { id: instanceId } = await world.activeInstance();
    const target = { phoneNumber: NUMBER, extension: "12" };
    const call = await world.app.calls.create(ALICE, { instanceId, target, ...TTS });
    await world.system.settle();
    const leg = world.leg(call);
    const sentKeys: string[] = [];
    const sendDtmf = (digits: string) =>
      new Promise<void>((resolve) => {
        leg.hold();
        world.system.after(150_000, () => {
          sentKeys.push(digits);
          leg.resume();
          resolve();
        });
      });
    Object.assign(leg, { sendDtmf });
    leg.placed();
    leg.answer();
    await world.system.advance(160_000);
    const scene = { world, call, leg };
    expect([sentKeys, keysIn(scene).digits]).toEqual([["12"], ""]);
    await expectFullMessage(scene, MESSAGE_MS);
    await world.stop();
  });

  test.each([
    ["North America", [440, 480], 2_000, 4_000],
    ["most of Europe", [425], 1_000, 4_000],
  ])("does not mistake the ringing after it for an answer, as in %s", async (_, hz, onMs, offMs) => {
    const scene = await answerCall({ ...TTS, startOn: "first_word" }, "12");
    const tones = hz.map((frequency) => tone(frequency, onMs, 8_000, 3_000));
    const ring = concatPcm([Int16Array.from(tones[0]!, (sample, i) => sample + (tones[1]?.[i] ?? 0)), silence(offMs)]);
    scene.leg.say(concatPcm([silence(1_000), ring, ring, speech(700)]));
    await scene.world.system.advance(30_000);
    const answeredAt = 1_000 + 2 * (onMs + offMs);
    const [message] = toneIntervals(scene);
    expect(message?.[0]).toBeGreaterThan(answeredAt + 400);
    expect(message?.[0]).toBeLessThan(answeredAt + 2_000);
    await expectFullMessage(scene, MESSAGE_MS);
    await scene.world.stop();
  });

  test("precedes an agent's first words", async () => {
    const agent = { instructions: ["Say: Your table for two is ready."] };
    const scene = await answerCall({ type: "DYNAMIC_AGENT", agent }, ",12", { agent: scriptedAgent() });
    await scene.world.system.advance(12_000);
    const keys = keysIn(scene);
    expect(keys.digits).toBe("12");
    const [words] = toneIntervals(scene);
    expect(words?.[0]).toBeGreaterThan(keys.times[1] ?? Infinity);
    expect((await scene.world.storedCall(scene.call)).outcome).toMatchObject({ reason: "agent_finished" });
    await scene.world.stop();
  });

  test("precedes a stream's audio, which is heard in full after it", async () => {
    const scene = await answerCall({ type: "DYNAMIC_STREAM" }, ",12", { streamPreview: true });
    const client = await attach(scene.world, scene.call, new RecordingClient());
    client.write(tone(440, 1_000, 8_000, 9_000), 8_000);
    await scene.world.system.advance(4_000);
    const keys = keysIn(scene);
    expect(keys.digits).toBe("12");
    const [audio] = toneIntervals(scene);
    expect(audio?.[0]).toBeGreaterThan(keys.times[1] ?? Infinity);
    expect(audio?.[1]).toBe(1_000);
    await scene.world.stop();
  });

  test.each([
    [{ ...TTS, onMachine: "leave_message" }, "/onMachine"],
    [{ ...TTS, onScreening: "hang_up" }, "/onScreening"],
    [{ type: "DYNAMIC_AGENT", agent: { instructions: ["say: Hello."], onMachine: "hang_up" } }, "/agent/onMachine"],
  ])("is refused together with a machine policy (%#)", async (message, pointer) => {
    const error = await answerCall(message, "12").catch((refusal: unknown) => refusal);
    expect(error).toBeInstanceOf(Refusal);
    expect(error).toMatchObject({ errors: [{ pointer, code: "value_invalid" }] });
  });
});
