import { expect, test } from "vitest";
import { tone } from "../../../src/audio/tones/tone.ts";
import { Steadiness } from "../../../src/audio/voice/steadiness.ts";
import { babble, sum } from "../noise.ts";

const RATE = 8_000;

function isSteady(samples: Int16Array, frame: number): boolean {
  const steadiness = new Steadiness(RATE);
  for (let at = 0; at < samples.length; at += frame) steadiness.push(samples.subarray(at, at + frame));
  return steadiness.isSteady;
}

test.each([160, 480, 97])("a ringing tone is steady, and speech is not, in frames of %i samples", (frame) => {
  expect(isSteady(sum(tone(440, 1_500, RATE, 6_000), tone(480, 1_500, RATE, 6_000)), frame)).toBe(true);
  expect(isSteady(babble(1_500, RATE, 3_000, 1), frame)).toBe(false);
});

test("no sound is steady before enough of it has been heard", () => {
  expect(isSteady(tone(440, 280, RATE, 6_000), 160)).toBe(false);
});
