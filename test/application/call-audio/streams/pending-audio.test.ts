import * as fc from "fast-check";
import { expect, test } from "vitest";
import { PendingAudio } from "../../../../src/application/call-audio/streams/pending-audio.ts";
import { fuzz } from "../../../support/fuzz.ts";

const RATES = [8_000, 16_000, 44_100] as const;
/** A mark in a list of expectations; a sample is its rate and its value. */
const MARK = -1;
const sampleOf = (rate: number, value: number) => rate * 65_536 + value;

const step = fc.oneof(
  fc.record({ write: fc.integer({ min: 0, max: 3_000 }), rate: fc.constantFrom(...RATES) }),
  fc.record({ take: fc.integer({ min: 1, max: 3_000 }) }),
  fc.constant("mark" as const),
  fc.constant("clear" as const),
);

fuzz(
  "samples and marks are read as written, at their rates and in order",
  fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
    const pending = new PendingAudio();
    let expected: number[] = [];
    let at = 0;
    let value = 0;
    const takeUpTo = (maxSamples: number) => {
      const rate = pending.sampleRate;
      const mismatches: number[] = [];
      if (rate === undefined) {
        expect(pending.takeMark()?.name).toBe("mark");
        if (expected[at++] !== MARK) mismatches.push(at);
      } else {
        const samples = pending.take(maxSamples);
        expect(samples.length).toBeGreaterThan(0);
        expect(samples.length).toBeLessThanOrEqual(maxSamples);
        for (const sample of samples) if (expected[at++] !== sampleOf(rate, sample)) mismatches.push(at);
      }
      expect(mismatches).toEqual([]);
    };
    for (const action of steps) {
      if (action === "clear") {
        pending.clear();
        expected = [];
        at = 0;
      } else if (action === "mark") {
        pending.mark({ name: "mark", onReached() {} });
        expected.push(MARK);
      } else if ("write" in action) {
        const samples = Int16Array.from({ length: action.write }, () => (value = (value + 1) % 30_000));
        pending.write(samples, action.rate);
        for (const sample of samples) expected.push(sampleOf(action.rate, sample));
      } else if (!pending.isEmpty) takeUpTo(action.take);
      const pendingSamples = expected.slice(at);
      expect(pending.isEmpty).toBe(pendingSamples.length === 0);
      expect(pending.marks).toBe(pendingSamples.filter((item) => item === MARK).length);
      let ms = 0;
      for (const rate of RATES) {
        const samples = pendingSamples.filter((item) => item >= sampleOf(rate, 0) && item < sampleOf(rate, 65_536));
        ms += (samples.length * 1000) / rate;
      }
      expect(pending.ms).toBeCloseTo(ms, 6);
    }
    while (!pending.isEmpty) takeUpTo(1_000);
    expect(at).toBe(expected.length);
  }),
);

test("a million pieces of one sample cost little more than their samples", () => {
  const pending = new PendingAudio();
  const sample = new Int16Array([7]);
  for (let i = 0; i < 1_000_000; i++) pending.write(sample, 16_000);
  expect(pending.ms).toBeCloseTo(62_500, 3);
  let [samples, pieces] = [0, 0];
  while (!pending.isEmpty) {
    samples += pending.take(5_000).length;
    pieces++;
  }
  expect(samples).toBe(1_000_000);
  expect(pieces).toBeLessThan(300);
});
