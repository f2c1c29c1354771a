import { describe, expect, test } from "vitest";
import { concatPcm, peak } from "../../../src/audio/samples/pcm.ts";
import { Resampler, resample } from "../../../src/audio/samples/resample.ts";
import { tone, toneShare } from "../../../src/audio/tones/tone.ts";
import { random } from "../../support/random.ts";
import { whiteNoise } from "../noise.ts";

const AMPLITUDE = 20_000;
const RATES = [8000, 16_000, 22_050, 24_000, 44_100, 48_000];
const conversions = RATES.flatMap((from) => [8000, 16_000].filter((to) => to !== from).map((to) => ({ from, to })));

/** Signal-to-error ratio of a converted tone against the same tone generated at the target rate, dB; ends excluded. */
function snr(hz: number, from: number, to: number): number {
  const output = resample(tone(hz, 500, from, AMPLITUDE), from, to);
  const expected = tone(hz, 500, to, AMPLITUDE);
  // The level may differ by the filter's pass band; the residual after the best gain is error.
  let product = 0;
  let energy = 0;
  const edge = Math.round(to * 0.02);
  for (let i = edge; i < expected.length - edge; i++) {
    product += output[i]! * expected[i]!;
    energy += expected[i]! * expected[i]!;
  }
  const gain = product / energy;
  let error = 0;
  for (let i = edge; i < expected.length - edge; i++) error += (output[i]! - gain * expected[i]!) ** 2;
  return 10 * Math.log10((gain * gain * energy) / error);
}

function gainDb(hz: number, from: number, to: number): number {
  const output = resample(tone(hz, 500, from, AMPLITUDE), from, to);
  return 20 * Math.log10(peak(output.subarray(to / 50, output.length - to / 50)) / AMPLITUDE);
}

describe.each(conversions)("resampling from $from to $to Hz", ({ from, to }) => {
  test("keeps the phase of a tone near 1 kHz, with 85 dB SNR", () => {
    expect(snr(1013, from, to)).toBeGreaterThan(85);
  });

  test("keeps a 3 kHz tone at 80 dB SNR", () => {
    expect(snr(2989, from, to)).toBeGreaterThan(80);
  });

  test("attenuates 3.4 kHz only a little", () => {
    expect(gainDb(3400, from, to)).toBeGreaterThan(-1.3);
    expect(gainDb(3400, from, to)).toBeLessThan(0.1);
  });

  test("keeps the duration, rounded to a sample", () => {
    for (const length of [0, 1, 2, 7, 160, 441, 882, 1234, 9999]) {
      expect(resample(new Int16Array(length), from, to).length, `${length} samples`).toBe(
        Math.round((length * to) / from),
      );
    }
  });

  test("yields the same samples for pieces of any size", () => {
    const input = whiteNoise(20_000, 5000, from + to);
    const expected = resample(input, from, to);
    const next = random(7);
    const resampler = new Resampler(from, to);
    const pieces: Int16Array[] = [];
    for (let at = 0; at < input.length; ) {
      const size = Math.floor(next() * 900);
      pieces.push(resampler.push(input.subarray(at, at + size)));
      at += size;
    }
    pieces.push(resampler.flush());
    expect(concatPcm(pieces)).toEqual(expected);
  });

  test("continues after skipped samples as if they had been converted", () => {
    const input = whiteNoise(20_000, 5000, from + to);
    const next = random(9);
    const converting = new Resampler(from, to, 512);
    const skipping = new Resampler(from, to, 512);
    for (let at = 0; at < input.length; ) {
      const size = Math.floor(next() ** 3 * 2_000);
      const piece = input.subarray(at, at + size);
      const output = converting.push(piece);
      if (next() < 0.5) skipping.skip(piece);
      else expect(skipping.push(piece)).toEqual(output);
      at += size;
    }
    expect(skipping.flush()).toEqual(converting.flush());
  });
});

test.each(conversions.filter(({ from, to }) => from > to))(
  "resampling from $from down to $to Hz attenuates aliases by 75 dB",
  ({ from, to }) => {
    for (const hz of [0.55, 0.62, 0.7].map((share) => share * to).filter((hz) => hz < from / 2)) {
      expect(gainDb(hz, from, to), `${hz} Hz`).toBeLessThan(-75);
    }
  },
);

test.each([
  { from: 8000, to: 16_000, hz: 1000 },
  { from: 8000, to: 16_000, hz: 3000 },
  { from: 8000, to: 24_000, hz: 3000 },
  { from: 8000, to: 48_000, hz: 2000 },
  { from: 16_000, to: 48_000, hz: 6000 },
])("resampling from $from up to $to Hz adds no image of a $hz Hz tone", ({ from, to, hz }) => {
  const wideband = resample(tone(hz, 500, from, AMPLITUDE), from, to);
  expect(toneShare(wideband.subarray(to / 50, -to / 50), hz, to)).toBeGreaterThan(0.999_999);
  expect(toneShare(wideband.subarray(to / 50, -to / 50), from - hz, to)).toBeLessThan(10 ** -7.5);
});

test("equal rates return the input itself", () => {
  const input = tone(440, 20, 8000, 1000);
  expect(resample(input, 8000, 8000)).toBe(input);
  const resampler = new Resampler(16_000, 16_000);
  expect(resampler.push(input)).toBe(input);
  expect(resampler.flush().length).toBe(0);
});

test("a flushed resampler starts a new stream", () => {
  const input = tone(440, 50, 24_000, 9000);
  const resampler = new Resampler(24_000, 8000);
  const first = concatPcm([resampler.push(input), resampler.flush()]);
  const second = concatPcm([resampler.push(input), resampler.flush()]);
  expect(second).toEqual(first);
});

test("a constant level stays constant, and full scale does not wrap", () => {
  const level = resample(new Int16Array(4410).fill(12_345), 44_100, 16_000);
  for (const sample of level.subarray(100, -100)) expect(Math.abs(sample - 12_345)).toBeLessThanOrEqual(1);
  const square = Int16Array.from({ length: 4800 }, (_, i) => (i % 96 < 48 ? 32767 : -32768));
  const narrowband = resample(square, 48_000, 8000);
  for (let i = 20; i < narrowband.length - 20; i++) {
    if (i % 16 > 2 && i % 16 < 6) expect(narrowband[i]).toBeGreaterThan(20_000);
  }
});

test("a streaming resampler holds back at most 16 samples of the lower rate", () => {
  for (const { from, to } of conversions) {
    const resampler = new Resampler(from, to);
    const outputCount = resampler.push(new Int16Array(from)).length;
    expect(to - outputCount, `${from} to ${to}`).toBeLessThanOrEqual(Math.ceil((17 * to) / Math.min(from, to)));
  }
});

test.each([
  { from: 11_111, to: 16_000, db: 60 },
  { from: 4001, to: 8000, db: 55 },
  { from: 44_099, to: 8000, db: 70 },
  { from: 191_999, to: 16_000, db: 70 },
  { from: 8000, to: 44_100, db: 85 },
])("the odd ratio $from to $to Hz keeps pitch and length", ({ from, to, db }) => {
  expect(snr(1013, from, to)).toBeGreaterThan(db);
  expect(resample(new Int16Array(from), from, to).length).toBe(to);
});

test.each([0, -8000, 8000.5, Number.NaN, 3999, 192_001])("a rate of %s Hz is refused", (rate) => {
  expect(() => new Resampler(rate, 8000)).toThrow(RangeError);
  expect(() => new Resampler(8000, rate)).toThrow(RangeError);
});
