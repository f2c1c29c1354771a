import { describe, expect, test } from "vitest";
import { concatPcm, msToSamples } from "../../../src/audio/samples/pcm.ts";
import { tone, toneShare } from "../../../src/audio/tones/tone.ts";
import type { OnMachine } from "../../../src/domain/answering/answering-machine.ts";
import type { Call } from "../../../src/domain/calls/call.ts";
import type { ScriptedLeg } from "../../../src/testing/scripted-telephony.ts";
import { babble } from "../../audio/noise.ts";
import { worldTone } from "../../audio/tones/world-tones.ts";
import { ALICE, audioFile, MS_PER_CHARACTER, NUMBER, World } from "../../support/application.ts";

/** 40 characters: 2 s. */
const TEXT = "Your table for two is ready at eight pm.";
const MESSAGE_MS = TEXT.length * MS_PER_CHARACTER;

interface Scene {
  readonly world: World;
  readonly call: Call;
  readonly leg: ScriptedLeg;
}

async function answerCall(
  onMachine: OnMachine | undefined,
  message: object = { type: "FIXED_TTS", tts: { text: TEXT, voiceId: "en-US-1" } },
): Promise<Scene> {
  const world = await World.start();
  const { id: instanceId } = await world.activeInstance();
  const call = await world.app.calls.create(ALICE, {
    instanceId,
    target: { phoneNumber: NUMBER },
    ...message,
    ...(onMachine && { onMachine }),
  });
  await world.system.settle();
  const leg = world.leg(call);
  leg.placed();
  leg.answer();
  await world.system.settle();
  return { world, call, leg };
}

const speech = (ms: number) => babble(ms, 8_000, 3_000, 5);
const silence = (ms: number) => new Int16Array(msToSamples(ms, 8_000));
const beep = tone(1_000, 400, 8_000, 9_000);

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

describe("a call that a machine answers", () => {
  test("continues by default, and its outcome names the machine", async () => {
    const scene = await answerCall(undefined, { type: "FIXED_AUDIO", audio: { audioBase64: audioFile(9) } });
    scene.leg.say(speech(8_000));
    await scene.world.system.advance(10_000);
    const { outcome } = await scene.world.storedCall(scene.call);
    expect(outcome).toMatchObject({ reason: "message_played", answeredBy: "machine", heardMs: 9_000 });
    const event = (await scene.world.timeline(scene.call)).find(({ type }) => type === "answered_by");
    expect(event?.data).toMatchObject({ answered_by: "machine", reason: "long_greeting" });
    await scene.world.stop();
  });

  test("ends COMPLETED/machine_hung_up on request", async () => {
    const scene = await answerCall("hang_up");
    scene.leg.say(concatPcm([speech(3_000), silence(500), beep]));
    await scene.world.system.advance(4_200);
    expect(await scene.world.storedCall(scene.call)).toMatchObject({
      status: "COMPLETED",
      outcome: { reason: "machine_hung_up", answeredBy: "machine" },
    });
    await scene.world.stop();
  });

  test.each([
    ["a text", undefined, MESSAGE_MS, 440],
    ["a file", { type: "FIXED_AUDIO", audio: { audioBase64: audioFile(3) } }, 3_000, 880],
  ] as const)("hears all of %s after its beep, and only that counts as heard", async (_, message, ms, hz) => {
    const scene = await answerCall("leave_message", message);
    scene.leg.say(concatPcm([speech(9_000), silence(500), beep]));
    await scene.world.system.advance(20_000);
    const { outcome } = await scene.world.storedCall(scene.call);
    expect(outcome).toMatchObject({ reason: "message_played", answeredBy: "machine", heardMs: ms, heardRatio: 1 });
    const heard = toneIntervals(scene, hz);
    expect(heard).toHaveLength(2);
    expect(heard[0]).toEqual([0, ms]);
    expect(heard[1]?.[0]).toBeGreaterThanOrEqual(9_900);
    expect(heard[1]?.[0]).toBeLessThan(10_100);
    expect(heard[1]?.[1]).toBe(ms);
    const eventTypes = await scene.world.eventTypes(scene.call);
    expect(eventTypes).toContain("leaving_message");
    expect(eventTypes).not.toContain("message_delayed");
    await scene.world.stop();
  });

  test("plays its message after a long silence if the machine does not beep", async () => {
    const scene = await answerCall("leave_message");
    scene.leg.say(speech(7_000));
    await scene.world.system.advance(14_000);
    const [, second] = toneIntervals(scene);
    expect(second?.[0]).toBeGreaterThanOrEqual(9_900);
    expect(second?.[0]).toBeLessThan(10_500);
    expect((await scene.world.storedCall(scene.call)).outcome).toMatchObject({ heardMs: MESSAGE_MS, heardRatio: 1 });
    await scene.world.stop();
  });

  test("counts the message as unheard if the machine hangs up before its beep", async () => {
    const scene = await answerCall("leave_message");
    scene.leg.say(speech(9_000));
    await scene.world.system.advance(8_000);
    scene.leg.end("callee_hung_up", null);
    await scene.world.system.advance(1_000);
    expect((await scene.world.storedCall(scene.call)).outcome).toMatchObject({
      reason: "callee_hung_up",
      answeredBy: "machine",
      heardMs: 0,
      heardRatio: 0,
    });
    await scene.world.stop();
  });
});

describe("a call that a person answers", () => {
  test.each(["hang_up", "leave_message", "continue"] as const)(
    "is heard once, with onMachine %s",
    async (onMachine) => {
      const scene = await answerCall(onMachine);
      scene.leg.say(concatPcm([silence(300), speech(600)]));
      await scene.world.system.advance(8_000);
      expect((await scene.world.storedCall(scene.call)).outcome).toMatchObject({
        reason: "message_played",
        answeredBy: "human",
        heardMs: MESSAGE_MS,
        heardRatio: 1,
      });
      expect(toneIntervals(scene)).toEqual([[0, MESSAGE_MS]]);
      await scene.world.stop();
    },
  );

  test("plays the message once to a silent callee, who stays unknown", async () => {
    const scene = await answerCall("leave_message");
    await scene.world.system.advance(12_000);
    expect((await scene.world.storedCall(scene.call)).outcome).toMatchObject({
      reason: "message_played",
      answeredBy: "unknown",
      heardMs: MESSAGE_MS,
    });
    await scene.world.stop();
  });
});

describe("a call that a fax machine or a network tone answers", () => {
  const tones = (pattern: string, ms: number) =>
    worldTone({ tone: pattern }, ms, { sampleRate: 8_000, levelDb: -15, detune: 0 });
  const file = { type: "FIXED_AUDIO", audio: { audioBase64: audioFile(20) } };

  test.each([
    ["a fax machine that answers", "0/500,2100/3000,0/9000", "fax", "a fax machine or a modem answered (2100 Hz)"],
    ["a fax machine that calls", "0/300,1100/500,0/2700", "fax", "a fax machine or a modem answered (1100 Hz)"],
    ["a busy tone", "425/500,0/500", "machine", "the network played a busy or reorder tone (425 Hz)"],
    ["a reorder tone", "480+620/250,0/250", "machine", "the network played a busy or reorder tone (480, 620 Hz)"],
    [
      "a special information tone",
      "950/330,1400/330,1800/330,0/5000",
      "machine",
      "the network played a special information tone (950, 1400, 1800 Hz)",
    ],
    [
      "a number unobtainable tone",
      "400/9000",
      "machine",
      "the network played a continuous tone, that of an unobtainable number or a dial tone (400 Hz)",
    ],
  ])("ends with %s, and counts as unheard, whatever onMachine is", async (_, pattern, answeredBy, detail) => {
    for (const onMachine of [undefined, "leave_message", "hang_up"] as const) {
      const scene = await answerCall(onMachine, file);
      scene.leg.say(tones(pattern, 10_000));
      await scene.world.system.advance(11_000);
      expect((await scene.world.storedCall(scene.call)).outcome).toMatchObject({
        reason: "machine_hung_up",
        answeredBy,
        detail,
        heardMs: 0,
        heardRatio: 0,
      });
      const [event] = (await scene.world.timeline(scene.call)).filter(({ type }) => type === "answered_by").slice(-1);
      expect(event?.data).toMatchObject({ reason: answeredBy === "fax" ? "fax_tone" : "network_tone" });
      await scene.world.stop();
    }
  });

  test("does not end as played during a tone that may be a busy tone", async () => {
    const scene = await answerCall(undefined);
    scene.leg.say(tones("425/500,0/500", 10_000));
    await scene.world.system.advance(6_000);
    expect((await scene.world.storedCall(scene.call)).outcome?.reason).toBe("machine_hung_up");
    await scene.world.stop();
  });

  test("stops behind a ringing switchboard, and restarts once a person answers", async () => {
    const scene = await answerCall(undefined, { type: "FIXED_AUDIO", audio: { audioBase64: audioFile(3) } });
    scene.leg.say(concatPcm([tones("425/1000,0/4000", 6_000), silence(500), speech(600)]));
    await scene.world.system.advance(15_000);
    expect((await scene.world.storedCall(scene.call)).outcome).toMatchObject({
      reason: "message_played",
      answeredBy: "human",
      heardMs: 3_000,
      heardRatio: 1,
    });
    const [first, second, ...others] = toneIntervals(scene, 880);
    expect(others).toEqual([]);
    expect(first?.[1], "stops with the first ring").toBeLessThan(1_200);
    expect(second?.[0]).toBeGreaterThanOrEqual(7_100);
    expect(second?.[0]).toBeLessThan(8_200);
    expect(second?.[1]).toBe(3_000);
    expect(await scene.world.eventTypes(scene.call)).not.toContain("beep");
    await scene.world.stop();
  });

  test("is unheard behind switchboards that ring without an answer", async () => {
    const scene = await answerCall(undefined);
    scene.leg.say(tones("425/1000,0/4000", 70_000));
    await scene.world.system.advance(65_000);
    expect((await scene.world.storedCall(scene.call)).outcome).toMatchObject({
      reason: "machine_hung_up",
      detail: "it rang behind a switchboard, and no person answered within 60 s",
      heardMs: 0,
    });
    await scene.world.stop();
  });

  test("ends as hung up by the callee once a person has spoken", async () => {
    const scene = await answerCall(undefined, file);
    scene.leg.say(concatPcm([speech(700), silence(2_000), tones("425/500,0/500", 9_000)]));
    await scene.world.system.advance(11_000);
    expect((await scene.world.storedCall(scene.call)).outcome).toMatchObject({
      reason: "callee_hung_up",
      answeredBy: "human",
      detail: "the network played a busy or reorder tone (425 Hz)",
    });
    await scene.world.stop();
  });
});
