import { expect, test } from "vitest";
import { levelsOf, SILENT_LEVELS } from "../../../adapters/console/app/pages/call/levels.ts";
import { tone } from "../../../src/audio/tones/tone.ts";

/** Two channels, interleaved. */
function interleave(left: Int16Array, right: Int16Array): Int16Array {
  return Int16Array.from({ length: 2 * left.length }, (_, i) => (i % 2 === 0 ? left : right)[i >> 1]!);
}

const LOUD_TONE = tone(440, 20, 16_000, 30_000);
const FAINT_TONE = tone(440, 20, 16_000, 300);
const NO_SOUND = new Int16Array(LOUD_TONE.length);

test("each side has a separate level", () => {
  const { callee, played } = levelsOf(interleave(LOUD_TONE, FAINT_TONE), SILENT_LEVELS);
  expect(callee).toBeGreaterThan(0.9);
  expect(played).toBeGreaterThan(0.1);
  expect(played).toBeLessThan(0.4);
  expect(levelsOf(interleave(NO_SOUND, NO_SOUND), SILENT_LEVELS)).toEqual(SILENT_LEVELS);
  expect(levelsOf(new Int16Array(0), SILENT_LEVELS)).toEqual(SILENT_LEVELS);
});

test("a level rises at once and falls slowly", () => {
  const loudLevels = levelsOf(interleave(LOUD_TONE, NO_SOUND), SILENT_LEVELS);
  const after = levelsOf(interleave(NO_SOUND, NO_SOUND), loudLevels);
  expect(after.callee).toBeCloseTo(0.8 * loudLevels.callee, 10);
  expect(levelsOf(interleave(LOUD_TONE, NO_SOUND), after)).toEqual(loudLevels);
});
