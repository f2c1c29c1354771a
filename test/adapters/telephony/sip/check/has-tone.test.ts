import { expect, test } from "vitest";
import { hasTone } from "../../../../../adapters/telephony/sip/check/call-step.ts";
import { concatPcm } from "../../../../../src/audio/samples/pcm.ts";
import { tone } from "../../../../../src/audio/tones/tone.ts";

const RATE = 8_000;
const part = (hz: number, ms: number): Int16Array => tone(hz, ms, RATE, 8_000);

test("a tone is found although its phase jumps every 300 ms", () => {
  const pieces = Array.from({ length: 5 }, (_, i) => part(440, 300).subarray(7 * i));
  expect(hasTone(concatPcm(pieces), 440, RATE)).toBe(true);
});

test("a tone with a gap is found; another tone and silence are not", () => {
  expect(hasTone(concatPcm([part(440, 700), new Int16Array(2_400), part(440, 500)]), 440, RATE)).toBe(true);
  expect(hasTone(part(1_000, 1_500), 440, RATE)).toBe(false);
  expect(hasTone(new Int16Array(12_000), 440, RATE)).toBe(false);
  expect(hasTone(new Int16Array(0), 440, RATE)).toBe(false);
});
