import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Capture } from "../../../../adapters/console/app/audio/capture.ts";
import { LevelMeter } from "../../../../adapters/console/app/audio/level-meter.ts";
import { Playback } from "../../../../adapters/console/app/audio/playback.ts";
import { concatPcm } from "../../../../src/audio/samples/pcm.ts";
import { tone, toneShare } from "../../../../src/audio/tones/tone.ts";

const CALL_RATE = 16_000;
const BUFFERING = { targetMs: 60, maxMs: 300, spareMs: 40 };
const DEVICE_RATES = [16_000, 44_100, 48_000, 96_000];

const floats = (samples: Int16Array): Float32Array => Float32Array.from(samples, (sample) => sample / 32_768);
const pcm = (samples: Float32Array): Int16Array => Int16Array.from(samples, (sample) => sample * 32_767);

/** Cuts samples into pieces of this length. */
function* pieces<T extends Int16Array | Float32Array>(samples: T, length: number): Generator<T> {
  for (let at = 0; at + length <= samples.length; at += length) yield samples.subarray(at, at + length) as T;
}

describe.each(DEVICE_RATES)("a device at %i Hz", (deviceRate) => {
  /** The loudspeaker's output while the caller's frames arrive in time. */
  function playedAudio(samples: Int16Array): Float32Array {
    const playback = new Playback(CALL_RATE, deviceRate, BUFFERING);
    const output = new Float32Array((samples.length * deviceRate) / CALL_RATE);
    let at = 0;
    let ms = 0;
    for (const frame of pieces(samples, 320)) {
      playback.push(frame);
      ms += 20;
      for (; at + 128 <= (ms * deviceRate) / 1_000; at += 128) playback.read(output.subarray(at, at + 128));
    }
    return output.subarray(0, at);
  }

  test("plays the caller's tone after a short delay, without a gap", () => {
    const output = pcm(playedAudio(tone(1_000, 1_000, CALL_RATE, 10_000)));
    const steadyOutput = output.subarray(deviceRate * 0.2);
    expect(toneShare(steadyOutput, 1_000, deviceRate)).toBeGreaterThan(0.999);
    expect(output.subarray(0, deviceRate * 0.03).every((sample) => sample === 0)).toBe(true);
    expect(Math.max(...steadyOutput)).toBeGreaterThan(9_900);
  });

  test("sends the microphone's tone in 20 ms frames", () => {
    const frames: Int16Array[] = [];
    const capture = new Capture(deviceRate, CALL_RATE, (frame) => frames.push(frame));
    for (const block of pieces(floats(tone(1_000, 1_000, deviceRate, 10_000)), 128)) capture.push(block);
    expect(frames.length).toBeGreaterThanOrEqual(48);
    expect(frames.every((frame) => frame.length === 320)).toBe(true);
    expect(toneShare(concatPcm(frames).subarray(640), 1_000, CALL_RATE)).toBeGreaterThan(0.999);
  });
});

describe("the playback", () => {
  test("drops the oldest audio of a burst", () => {
    const playback = new Playback(CALL_RATE, CALL_RATE, BUFFERING);
    for (let frame = 0; frame < 100; frame++) playback.push(new Int16Array(320).fill(100 * frame));
    const output = new Float32Array(320);
    playback.read(output);
    expect(output[0]! * 32_768).toBeGreaterThanOrEqual(8_500);
  });

  test("keeps the end of an overlong piece", () => {
    const playback = new Playback(CALL_RATE, CALL_RATE, { ...BUFFERING, spareMs: 0 });
    playback.push(Int16Array.from({ length: 5_000 }, (_, i) => i));
    const output = new Float32Array(3_200);
    playback.read(output);
    expect([output[0]! * 32_768, output.at(-1)! * 32_768]).toEqual([1_800, 4_999]);
  });

  test("accepts pieces and blocks of any length", () => {
    const length = fc.nat(4_000);
    fc.assert(
      fc.property(fc.constantFrom(...DEVICE_RATES), fc.array(fc.tuple(length, length)), (deviceRate, steps) => {
        const playback = new Playback(CALL_RATE, deviceRate, BUFFERING);
        for (const [pushedLength, outputLength] of steps) {
          playback.push(new Int16Array(pushedLength).fill(5));
          const output = new Float32Array(outputLength).fill(9);
          playback.read(output);
          expect(output.every((sample) => Math.abs(sample) <= 1)).toBe(true);
        }
      }),
      { numRuns: 30 },
    );
  });
});

test("the capture accepts blocks of any length, and clips", () => {
  const block = fc.nat(5_000).map((length) => new Float32Array(length).fill(3));
  fc.assert(
    fc.property(fc.constantFrom(...DEVICE_RATES), fc.array(block), (deviceRate, blocks) => {
      const frames: Int16Array[] = [];
      const capture = new Capture(deviceRate, CALL_RATE, (frame) => frames.push(frame));
      let samples = 0;
      for (const pushedBlock of blocks) {
        capture.push(pushedBlock);
        samples += pushedBlock.length;
      }
      const expected = (samples * CALL_RATE) / deviceRate / 320;
      expect(frames.length).toBeLessThanOrEqual(expected);
      expect(frames.length).toBeGreaterThan(expected - 1.5);
    }),
    { numRuns: 30 },
  );
});

describe("the level", () => {
  const levelOf = (samples: Float32Array): number => {
    const meter = new LevelMeter(1_600);
    for (const block of pieces(samples, 128)) meter.push(block);
    return meter.level;
  };

  test.each([
    [32_767, 95],
    [3_277, 62],
    [328, 28],
    [30, 0],
  ])("of a tone with a peak of %i is %i of 100", (amplitude, level) => {
    expect(levelOf(floats(tone(1_000, 200, CALL_RATE, amplitude)))).toBe(level);
  });

  test("of silence is 0, and it falls again within a window", () => {
    expect(levelOf(new Float32Array(3_200))).toBe(0);
    const meter = new LevelMeter(1_600);
    meter.push(new Float32Array(1_600).fill(0.5));
    expect(meter.level).toBe(90);
    meter.push(new Float32Array(1_600));
    expect(meter.level).toBe(0);
  });

  test("of NaN is 0", () => {
    expect(levelOf(new Float32Array(1_600).fill(Number.NaN))).toBe(0);
  });
});
