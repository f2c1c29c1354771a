import { describe, expect, test } from "vitest";
import { concatPcm, msToSamples } from "../../../src/audio/pcm.ts";
import { tone, toneShare } from "../../../src/audio/tone.ts";
import type { OnMachine } from "../../../src/domain/answering-machine.ts";
import type { Call } from "../../../src/domain/call.ts";
import type { ScriptedLeg } from "../../../src/testing/scripted-telephony.ts";
import { babble } from "../../audio/noise.ts";
import { ALICE, audioFile, MS_PER_CHARACTER, NUMBER, World } from "../../support/application.ts";

/** 40 characters: 2 s. */
const TEXT = "Your table for two is ready at eight pm.";
const MESSAGE_MS = TEXT.length * MS_PER_CHARACTER;

interface Scene {
  readonly world: World;
  readonly call: Call;
  readonly leg: ScriptedLeg;
}

async function answered(
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
const quiet = (ms: number) => new Int16Array(msToSamples(ms, 8_000));
const beep = tone(1_000, 400, 8_000, 9_000);

/** The stretches of the message's tone that the callee heard: from and length, ms. */
function toneAt({ leg }: Scene, hz = 440): [number, number][] {
  const stretches: [number, number][] = [];
  const step = msToSamples(20, leg.sampleRate);
  for (let at = 0; at + step <= leg.heard.length; at += step) {
    if (toneShare(leg.heard.subarray(at, at + step), hz, leg.sampleRate) < 0.8) continue;
    const ms = (at / step) * 20;
    const last = stretches.at(-1);
    if (last && last[0] + last[1] === ms) last[1] += 20;
    else stretches.push([ms, 20]);
  }
  return stretches;
}

describe("a call that a machine answers", () => {
  test("goes on by default, and its outcome names the machine", async () => {
    const scene = await answered(undefined, { type: "FIXED_AUDIO", audio: { audioBase64: audioFile(9) } });
    scene.leg.say(speech(8_000));
    await scene.world.system.advance(10_000);
    const { outcome } = await scene.world.stored(scene.call);
    expect(outcome).toMatchObject({ reason: "message_played", answeredBy: "machine", heardMs: 9_000 });
    const event = (await scene.world.timeline(scene.call)).find(({ type }) => type === "answered_by");
    expect(event?.data).toMatchObject({ answered_by: "machine", reason: "long_greeting" });
    await scene.world.stop();
  });

  test("ends COMPLETED/machine_hung_up if that is asked for", async () => {
    const scene = await answered("hang_up");
    scene.leg.say(concatPcm([speech(3_000), quiet(500), beep]));
    await scene.world.system.advance(4_200);
    expect(await scene.world.stored(scene.call)).toMatchObject({
      status: "COMPLETED",
      outcome: { reason: "machine_hung_up", answeredBy: "machine" },
    });
    await scene.world.stop();
  });

  test.each([
    ["a text", undefined, MESSAGE_MS, 440],
    ["a file", { type: "FIXED_AUDIO", audio: { audioBase64: audioFile(3) } }, 3_000, 880],
  ] as const)("hears %s whole behind its beep, and that is what counts as heard", async (_, message, ms, hz) => {
    const scene = await answered("leave_message", message);
    scene.leg.say(concatPcm([speech(9_000), quiet(500), beep]));
    await scene.world.system.advance(20_000);
    const { outcome } = await scene.world.stored(scene.call);
    expect(outcome).toMatchObject({ reason: "message_played", answeredBy: "machine", heardMs: ms, heardRatio: 1 });
    const heard = toneAt(scene, hz);
    expect(heard).toHaveLength(2);
    expect(heard[0]).toEqual([0, ms]);
    expect(heard[1]?.[0]).toBeGreaterThanOrEqual(9_900);
    expect(heard[1]?.[0]).toBeLessThan(10_100);
    expect(heard[1]?.[1]).toBe(ms);
    const story = await scene.world.story(scene.call);
    expect(story).toContain("leaving_message");
    expect(story).not.toContain("message_delayed");
    await scene.world.stop();
  });

  test("hears the message after a long silence if it does not beep", async () => {
    const scene = await answered("leave_message");
    scene.leg.say(speech(7_000));
    await scene.world.system.advance(14_000);
    const [, second] = toneAt(scene);
    expect(second?.[0]).toBeGreaterThanOrEqual(9_900);
    expect(second?.[0]).toBeLessThan(10_500);
    expect((await scene.world.stored(scene.call)).outcome).toMatchObject({ heardMs: MESSAGE_MS, heardRatio: 1 });
    await scene.world.stop();
  });

  test("that hangs up before its beep has heard nothing of the message", async () => {
    const scene = await answered("leave_message");
    scene.leg.say(speech(9_000));
    await scene.world.system.advance(8_000);
    scene.leg.end("callee_hung_up", null);
    await scene.world.system.advance(1_000);
    expect((await scene.world.stored(scene.call)).outcome).toMatchObject({
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
      const scene = await answered(onMachine);
      scene.leg.say(concatPcm([quiet(300), speech(600)]));
      await scene.world.system.advance(8_000);
      expect((await scene.world.stored(scene.call)).outcome).toMatchObject({
        reason: "message_played",
        answeredBy: "human",
        heardMs: MESSAGE_MS,
        heardRatio: 1,
      });
      expect(toneAt(scene)).toEqual([[0, MESSAGE_MS]]);
      await scene.world.stop();
    },
  );

  test("who stays silent hears the message once, and the call ends as that of nobody known", async () => {
    const scene = await answered("leave_message");
    await scene.world.system.advance(12_000);
    expect((await scene.world.stored(scene.call)).outcome).toMatchObject({
      reason: "message_played",
      answeredBy: "unknown",
      heardMs: MESSAGE_MS,
    });
    await scene.world.stop();
  });
});
