import { describe, expect, test } from "vitest";
import { Pitch } from "../../../src/audio/voice/pitch.ts";
import { noise, samplesOf, withRms } from "../../support/answers/sounds.ts";
import { random } from "../../support/random.ts";
import { babble, sum } from "../noise.ts";

/** Share of the 20 ms frames that sound like a voice. */
function voiceShare(samples: Int16Array, sampleRate: number, loudOnly = false): number {
  const pitch = new Pitch(sampleRate);
  const step = sampleRate / 50;
  let [frameCount, voiceCount] = [0, 0];
  for (let at = 0; at + step <= samples.length; at += step) {
    const frame = samples.subarray(at, at + step);
    pitch.push(frame);
    if (loudOnly && !frame.some((sample) => Math.abs(sample) > 3_000)) continue;
    frameCount++;
    if (pitch.isVoice) voiceCount++;
  }
  return voiceCount / frameCount;
}

const rumble = (kind: "white" | "pink" | "car", ms: number, rate: number, rms: number): Int16Array =>
  samplesOf(withRms(noise(kind, ms, rate, random(5)), rms));

describe.each([8_000, 16_000, 24_000, 48_000])("a pitch at %s Hz", (rate) => {
  test("is detected in most frames of a voice, even in car noise", () => {
    const voice = babble(6_000, rate, 3_000, 11);
    expect(voiceShare(voice, rate, true)).toBeGreaterThan(0.7);
    expect(voiceShare(sum(voice, rumble("car", 6_000, rate, 700)), rate, true)).toBeGreaterThan(0.7);
  });

  test.for(["white", "pink", "car"] as const)("is detected in hardly any %s noise", (kind) => {
    expect(voiceShare(rumble(kind, 6_000, rate, 3_000), rate)).toBeLessThan(0.01);
  });
});

test("samples may arrive in pieces of any size", () => {
  const voice = babble(1_000, 16_000, 3_000, 11);
  const [wholePitch, piecewisePitch] = [new Pitch(16_000), new Pitch(16_000)];
  let differences = 0;
  for (let at = 0; at + 320 <= voice.length; at += 320) {
    wholePitch.push(voice.subarray(at, at + 320));
    for (const [from, to] of [
      [0, 7],
      [7, 200],
      [200, 320],
    ] as const)
      piecewisePitch.push(voice.subarray(at + from, at + to));
    if (wholePitch.isVoice !== piecewisePitch.isVoice) differences++;
  }
  expect(differences).toBe(0);
});

test("only the end of a frame longer than the window counts", () => {
  const voice = babble(1_000, 8_000, 3_000, 11);
  const [wholePitch, framewisePitch] = [new Pitch(8_000), new Pitch(8_000)];
  wholePitch.push(voice);
  for (let at = 0; at < voice.length; at += 160) framewisePitch.push(voice.subarray(at, at + 160));
  expect(wholePitch.isVoice).toBe(framewisePitch.isVoice);
});
