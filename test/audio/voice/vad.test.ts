import { describe, expect, test } from "vitest";
import { concatPcm, rms } from "../../../src/audio/samples/pcm.ts";
import { tone } from "../../../src/audio/tones/tone.ts";
import { VAD_HANG_OVER_MS, Vad } from "../../../src/audio/voice/vad.ts";
import { babble, sum, whiteNoise } from "../noise.ts";

/** One decision for each frame. */
function decide(samples: Int16Array, sampleRate: number, frameMs = 20): boolean[] {
  const vad = new Vad(sampleRate);
  const length = (frameMs * sampleRate) / 1000;
  const decisions: boolean[] = [];
  for (let at = 0; at + length <= samples.length; at += length) {
    decisions.push(vad.push(samples.subarray(at, at + length)));
  }
  return decisions;
}

function share(decisions: readonly boolean[]): number {
  return decisions.filter(Boolean).length / decisions.length;
}

describe.each([8000, 16_000])("voice activity at %i Hz", (sampleRate) => {
  test("steady noise of any level is never speech", () => {
    for (const level of [0, 5, 30, 100, 145, 160, 500, 2000, 8000]) {
      expect(decide(whiteNoise(sampleRate * 30, level, level + 1), sampleRate), `RMS ${level}`).not.toContain(true);
    }
  });

  test("a steady hum is never speech", () => {
    expect(decide(tone(100, 10_000, sampleRate, 3000), sampleRate)).not.toContain(true);
  });

  test.each([
    { snrDb: 40, hits: 0.95 },
    { snrDb: 20, hits: 0.85 },
    { snrDb: 15, hits: 0.8 },
    { snrDb: 10, hits: 0.65 },
  ])("speech $snrDb dB over noise is detected, and the noise before it is not", ({ snrDb, hits: minimumHits }) => {
    const speech = concatPcm([new Int16Array(sampleRate * 5), babble(20_000, sampleRate, 2500, 5)]);
    const noise = whiteNoise(speech.length, 2500 / 10 ** (snrDb / 20), snrDb);
    const decisions = decide(sum(speech, noise), sampleRate);
    expect(decisions.slice(0, 249)).not.toContain(true);
    const voicedDecisions = decisions.filter((_, i) => {
      const frame = speech.subarray((i * sampleRate) / 50, ((i + 1) * sampleRate) / 50);
      return rms(frame) > 800;
    });
    expect(share(voicedDecisions)).toBeGreaterThan(minimumHits);
  });
});

test("noise that becomes louder counts as speech for at most two seconds", () => {
  const decisions = decide(concatPcm([whiteNoise(40_000, 100, 1), whiteNoise(80_000, 1000, 2)]), 8000);
  expect(decisions.slice(0, 250)).not.toContain(true);
  expect(decisions.slice(250 + 100 + 7)).not.toContain(true);
});

test("speech starts with its first frame and ends after the hang-over", () => {
  const decisions = decide(concatPcm([new Int16Array(8000), tone(300, 200, 8000, 8000), new Int16Array(8000)]), 8000);
  const first = decisions.indexOf(true);
  expect(first).toBe(50);
  expect(decisions.lastIndexOf(true) - first + 1).toBe(10 + VAD_HANG_OVER_MS / 20);
});

test("a 60 ms frame is speech if any third of it is", () => {
  const samples = concatPcm([new Int16Array(9600), tone(300, 20, 8000, 8000), new Int16Array(9600)]);
  expect(decide(samples, 8000, 60).map(Number).join("")).toBe(`${"0".repeat(20)}111${"0".repeat(17)}`);
});

test("10 ms frames repeat the last decision until 20 ms are complete", () => {
  const decisions = decide(concatPcm([new Int16Array(8000), tone(300, 100, 8000, 8000)]), 8000, 10);
  expect(decisions.indexOf(true)).toBe(101);
  expect(decisions.slice(101)).not.toContain(false);
});
