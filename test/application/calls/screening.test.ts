import { describe, expect, test } from "vitest";
import { concatPcm, msToSamples } from "../../../src/audio/samples/pcm.ts";
import { tone, toneShare } from "../../../src/audio/tones/tone.ts";
import type { Call } from "../../../src/domain/calls/call.ts";
import type { Refusal } from "../../../src/domain/refusal.ts";
import type { ScriptedLeg } from "../../../src/testing/scripted-telephony.ts";
import { babble } from "../../audio/noise.ts";
import { ALICE, audioFile, MS_PER_CHARACTER, NUMBER, World } from "../../support/application.ts";
import { MeasuringTranscription } from "../../support/measuring-transcription.ts";
import { refusal } from "../../support/refusal.ts";

const PROMPT = "Hi, if you record your name and reason for calling, I'll see if this person is available.";
const INTRODUCTION_TEXT = "This is Acme.";
const INTRODUCTION = { say: INTRODUCTION_TEXT, voiceId: "en-US-1" };
/** The message is a tone of 880 Hz, the introduction a tone of 440 Hz. */
const MESSAGE_MS = 3_000;

interface Scene {
  readonly world: World;
  readonly call: Call;
  readonly leg: ScriptedLeg;
}

/** A call whose callee speaks these words, one text per utterance. */
async function answerCall(onScreening: unknown, texts: string[], options: object = {}): Promise<Scene> {
  const transcription = new MeasuringTranscription();
  transcription.understand = () => texts.shift() ?? "";
  const world = await World.start({ transcription });
  const { id: instanceId } = await world.activeInstance();
  const call = await world.app.calls.create(ALICE, {
    instanceId,
    type: "FIXED_AUDIO",
    target: { phoneNumber: NUMBER },
    audio: { audioBase64: audioFile(MESSAGE_MS / 1_000) },
    onScreening,
    ...options,
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

/** Intervals of a tone that the callee heard: start and length, ms. */
function toneIntervals({ leg }: Scene, hz: number): [number, number][] {
  const intervals: [number, number][] = [];
  const step = msToSamples(20, leg.sampleRate);
  for (let at = 0; at + step <= leg.heard.length; at += step) {
    if (toneShare(leg.heard.subarray(at, at + step), hz, leg.sampleRate) < 0.6) continue;
    const ms = (at / step) * 20;
    const last = intervals.at(-1);
    if (last && last[0] + last[1] === ms) last[1] += 20;
    else intervals.push([ms, 20]);
  }
  return intervals;
}

describe("a call that a screening assistant answers", () => {
  test("gives its name and reason, waits for the person, and then starts its message", async () => {
    const scene = await answerCall(INTRODUCTION, [PROMPT, "Thanks, please stay on the line.", "Hello, this is Anna."]);
    const { world, call, leg } = scene;
    leg.say(concatPcm([speech(4_000), silence(3_000), speech(1_000), silence(8_000), speech(900)]));
    await world.system.advance(30_000);
    const { outcome } = await world.storedCall(call);
    expect(outcome).toMatchObject({
      reason: "message_played",
      answeredBy: "human",
      heardMs: MESSAGE_MS,
      heardRatio: 1,
    });
    const [introduction, ...laterTones] = toneIntervals(scene, 440);
    expect(laterTones).toEqual([]);
    expect(introduction?.[0]).toBeGreaterThanOrEqual(4_500);
    expect(introduction?.[0]).toBeLessThan(6_500);
    expect(introduction?.[1]).toBeCloseTo(INTRODUCTION_TEXT.length * MS_PER_CHARACTER, -2);
    const message = toneIntervals(scene, 880).at(-1);
    expect(message?.[0]).toBeGreaterThanOrEqual(16_900);
    expect(message?.[1]).toBe(MESSAGE_MS);
    const verdicts = (await world.timeline(call)).filter(({ type }) => type === "answered_by");
    expect(verdicts.map(({ data }) => data).slice(-2)).toMatchObject([
      { answered_by: "screening", reason: "words" },
      { answered_by: "human", reason: "words" },
    ]);
    await world.stop();
  });

  test("ends as unheard if no person answers", async () => {
    const { world, call, leg } = await answerCall(INTRODUCTION, [PROMPT]);
    leg.say(speech(4_000));
    await world.system.advance(70_000);
    expect((await world.storedCall(call)).outcome).toMatchObject({
      reason: "machine_hung_up",
      answeredBy: "screening",
      detail: "a call-screening assistant answered, and no person took the call within 60 s",
      heardMs: 0,
      heardRatio: 0,
    });
    await world.stop();
  });

  test("ends at once on request", async () => {
    const { world, call, leg } = await answerCall("hang_up", [PROMPT]);
    leg.say(speech(2_000));
    await world.system.advance(4_000);
    expect((await world.storedCall(call)).outcome).toMatchObject({
      reason: "machine_hung_up",
      answeredBy: "screening",
      detail: "a call-screening assistant answered",
    });
    await world.stop();
  });

  test("leaves its message if the assistant forwards it to a voicemail box", async () => {
    const words = [PROMPT, "The person is not available. Please leave a message after the tone."];
    const scene = await answerCall(INTRODUCTION, words, { onMachine: "leave_message" });
    const { world, call, leg } = scene;
    const beep = tone(1_000, 400, 8_000, 9_000);
    leg.say(concatPcm([speech(4_000), silence(5_000), speech(2_000), silence(1_500), beep]));
    await world.system.advance(25_000);
    expect((await world.storedCall(call)).outcome).toMatchObject({
      reason: "message_played",
      answeredBy: "machine",
      heardMs: MESSAGE_MS,
    });
    expect(toneIntervals(scene, 880).at(-1)?.[0]).toBeGreaterThanOrEqual(12_800);
    await world.stop();
  });

  test("introduces itself to an assistant whose long prompt resembles a machine's greeting", async () => {
    const words = [PROMPT, "Hello, this is Anna."];
    const scene = await answerCall(INTRODUCTION, words, { onMachine: "leave_message" });
    const { world, call, leg } = scene;
    leg.say(concatPcm([speech(8_000), silence(8_000), speech(900)]));
    await world.system.advance(25_000);
    const verdicts = (await world.timeline(call)).filter(({ type }) => type === "answered_by");
    expect(verdicts.map(({ data }) => data)).toMatchObject([
      { answered_by: "machine", reason: "long_greeting" },
      { answered_by: "screening" },
      { answered_by: "human" },
    ]);
    expect(toneIntervals(scene, 440)).toHaveLength(1);
    expect((await world.storedCall(call)).outcome).toMatchObject({ reason: "message_played", heardMs: MESSAGE_MS });
    await world.stop();
  });

  test("leaves its message after a long prompt and a voicemail box without a beep", async () => {
    const words = [PROMPT, "The person is not available. Please leave a message after the tone."];
    const { world, call, leg } = await answerCall(INTRODUCTION, words, { onMachine: "leave_message" });
    leg.say(concatPcm([speech(8_000), silence(8_000), speech(2_000)]));
    await world.system.advance(40_000);
    const leavingEvent = (await world.timeline(call)).find(({ type }) => type === "leaving_message");
    expect(leavingEvent?.data).toEqual({ after: "silence" });
    expect((await world.storedCall(call)).outcome).toMatchObject({ reason: "message_played", answeredBy: "machine" });
    await world.stop();
  });

  test("speaks to a person immediately", async () => {
    const scene = await answerCall(INTRODUCTION, ["Hello?"]);
    scene.leg.say(concatPcm([silence(300), speech(600)]));
    await scene.world.system.advance(9_000);
    expect((await scene.world.storedCall(scene.call)).outcome).toMatchObject({
      reason: "message_played",
      answeredBy: "human",
    });
    expect(toneIntervals(scene, 880)).toEqual([[0, MESSAGE_MS]]);
    expect(toneIntervals(scene, 440)).toEqual([]);
    await scene.world.stop();
  });
});

test("a call screening policy needs a transcription engine, and a voice that exists", async () => {
  const create = async (world: World, onScreening: unknown) => {
    const { id: instanceId } = await world.activeInstance();
    const audio = { audioBase64: audioFile(1) };
    const body = { instanceId, type: "FIXED_AUDIO", target: { phoneNumber: NUMBER }, audio, onScreening };
    return (await refusal(world.app.calls.create(ALICE, body))) as Refusal;
  };
  const worldWithoutEngine = await World.start();
  expect((await create(worldWithoutEngine, INTRODUCTION)).errors).toMatchObject([
    { pointer: "/onScreening", code: "value_invalid" },
  ]);
  await worldWithoutEngine.stop();
  const world = await World.start({ transcription: new MeasuringTranscription() });
  for (const [policy, pointer] of [
    ["wait", "/onScreening"],
    [{ say: INTRODUCTION_TEXT }, "/onScreening/voiceId"],
    [{ say: "…", voiceId: "en-US-1" }, "/onScreening/say"],
    [{ say: INTRODUCTION_TEXT, voiceId: "xx-XX-9" }, "/onScreening/voiceId"],
  ] as const)
    expect((await create(world, policy)).errors, JSON.stringify(policy)).toMatchObject([{ pointer }]);
  await world.stop();
});
