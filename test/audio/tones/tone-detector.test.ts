import { describe, expect, test } from "vitest";
import { babble as voice } from "../../../adapters/telephony/simulator/voice.ts";
import { decodeMulaw, encodeMulaw } from "../../../src/audio/samples/g711-companding.ts";
import { concatPcm, rms } from "../../../src/audio/samples/pcm.ts";
import { dtmfTones } from "../../../src/audio/tones/dtmf.ts";
import { tone } from "../../../src/audio/tones/tone.ts";
import { ToneDetector } from "../../../src/audio/tones/tone-detector.ts";
import type { ToneBurst } from "../../../src/base/tone-burst.ts";
import { babble, sum, whiteNoise } from "../noise.ts";

function tonesIn(samples: Int16Array, sampleRate = 8_000, frameLength = sampleRate / 50): ToneBurst[] {
  const bursts: ToneBurst[] = [];
  const detector = new ToneDetector(sampleRate, (burst) => bursts.push(burst));
  for (let at = 0; at < samples.length; at += frameLength) detector.push(samples.subarray(at, at + frameLength));
  return bursts;
}

/** Single tones as long as a beep. */
function beepsIn(...args: Parameters<typeof tonesIn>): ToneBurst[] {
  return tonesIn(...args).filter(({ hz, otherHz, ms }) => otherHz === 0 && hz > 400 && ms >= 160 && ms <= 2_020);
}

describe.each([8_000, 16_000, 24_000, 48_000])("the beep detector at %i Hz", (sampleRate) => {
  const silence = (ms: number) => new Int16Array((sampleRate * ms) / 1000);
  // Higher rates are converted to 8 kHz first: the rest is the same.
  const [distances, seconds] = sampleRate === 8_000 ? [[10, 15, 20, 30], 60] : [[10], 20];

  test.each(distances)("finds a beep of any length and frequency at %i dB over noise", (snrDb) => {
    let [tones, missedCount, wrongPitchCount, lateCount] = [0, 0, 0, 0];
    for (const hz of [420, 480, 620, 800, 950, 1_000, 1_200, 1_400, 1_700, 2_000, 2_200])
      for (const ms of [200, 300, 500, 1_000]) {
        const beep = tone(hz, ms, sampleRate, 8_000);
        const signal = concatPcm([silence(613), beep, silence(300)]);
        const noise = whiteNoise(signal.length, rms(beep) / 10 ** (snrDb / 20), hz + ms + snrDb);
        const beeps = beepsIn(decodeMulaw(encodeMulaw(sum(signal, noise))), sampleRate);
        tones++;
        if (beeps.length !== 1) missedCount++;
        else if (Math.abs(beeps[0]!.hz - hz) > 0.01 * hz) wrongPitchCount++;
        else if (Math.abs(beeps[0]!.atMs - 613) > 60) lateCount++;
      }
    expect({ tones, missed: missedCount, wrongPitch: wrongPitchCount, late: lateCount }).toEqual({
      tones: 44,
      missed: 0,
      wrongPitch: 0,
      late: 0,
    });
  });

  test("finds no beep in noise of any level", () => {
    for (const level of [100, 1_000, 5_000, 15_000])
      expect(beepsIn(whiteNoise((sampleRate * seconds) / 2, level, level), sampleRate), `RMS ${level}`).toEqual([]);
  });

  test("finds no beep in simulated speech", () => {
    expect(beepsIn(babble(1_000 * seconds, sampleRate, 3_000, 1), sampleRate)).toEqual([]);
  });

  test("finds no beep in keys", () => {
    for (const toneMs of [60, 100, 250, 1_000])
      expect(beepsIn(dtmfTones("0123456789ABCD*#", { sampleRate, toneMs }), sampleRate), `${toneMs} ms`).toEqual([]);
  });

  test("finds no beep in ringing and dial tones", () => {
    for (const [a, b] of [
      [350, 440],
      [440, 480],
      [400, 450],
      [480, 620],
      [425, 400],
    ] as const)
      for (const ms of [400, 1_000, 2_000]) {
        const pair = sum(tone(a, ms, sampleRate, 8_000), tone(b, ms, sampleRate, 8_000));
        expect(beepsIn(concatPcm([silence(100), pair, silence(300)]), sampleRate), `${a}+${b} Hz, ${ms} ms`).toEqual(
          [],
        );
      }
  });

  test("ignores a tone that is out of band, too short or endless", () => {
    for (const [hz, ms] of [
      [350, 500],
      [2_500, 500],
      [3_300, 500],
      [1_000, 80],
      [1_000, 2_500],
    ] as const)
      expect(beepsIn(concatPcm([tone(hz, ms, sampleRate, 8_000), silence(300)]), sampleRate), `${hz} Hz`).toEqual([]);
    expect(beepsIn(tone(1_000, 1_000, sampleRate, 8_000), sampleRate), "still sounding").toEqual([]);
  });
});

test("a tone above the working band does not alias to a beep", () => {
  for (const hz of [5_000, 6_000, 7_000, 7_500])
    expect(beepsIn(concatPcm([tone(hz, 500, 16_000, 1_200), new Int16Array(8_000)]), 16_000), `${hz} Hz`).toEqual([]);
});

test("ten minutes of simulated speech have at most two beeps", () => {
  const beeps = Array.from({ length: 10 }, (_, seed) => beepsIn(babble(60_000, 8_000, 3_000, seed)));
  expect(beeps.flat().length).toBeLessThanOrEqual(2);
});

test("the beep detector accepts frames of any size", () => {
  const samples = concatPcm([new Int16Array(1_234), tone(1_000, 400, 16_000, 8_000), new Int16Array(4_000)]);
  const expected = beepsIn(samples, 16_000);
  expect(expected.length).toBe(1);
  for (const length of [1, 7, 80, 961, 100_000]) expect(beepsIn(samples, 16_000, length)).toEqual(expected);
});

test("the simulator's voicemail beeps once, at the right time", () => {
  const greeting = voice("Please leave a message after the tone.", 16_000);
  const signal = concatPcm([greeting, tone(1_000, 400, 16_000, 10_000), new Int16Array(16_000)]);
  const [beep, ...laterBeeps] = beepsIn(signal, 16_000);
  expect(laterBeeps).toEqual([]);
  expect(beep?.hz).toBeCloseTo(1_000, -1);
  expect(Math.abs(beep!.atMs - greeting.length / 16)).toBeLessThan(60);
});
