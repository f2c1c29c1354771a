import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { JitterBuffer } from "../../../src/audio/playout/jitter-buffer.ts";

/** A buffer with one sample per ms, which gathers 4 and holds 10. */
const buffer = () => new JitterBuffer({ sampleRate: 1_000, targetMs: 4, maxMs: 10 });
const samples = (...values: number[]) => Int16Array.from(values);

function read(from: JitterBuffer, length: number): number[] {
  const frame = new Int16Array(length).fill(99);
  from.read(frame);
  return [...frame];
}

describe("a jitter buffer", () => {
  test("plays silence until the target is gathered, then all of it", () => {
    const jitterBuffer = buffer();
    jitterBuffer.write(samples(1, 2, 3));
    expect(read(jitterBuffer, 2)).toEqual([0, 0]);
    jitterBuffer.write(samples(4));
    expect([read(jitterBuffer, 2), read(jitterBuffer, 2)]).toEqual([
      [1, 2],
      [3, 4],
    ]);
  });

  test("pads a frame at the end, then gathers again", () => {
    const jitterBuffer = buffer();
    jitterBuffer.write(samples(1, 2, 3, 4));
    expect([read(jitterBuffer, 3), read(jitterBuffer, 3)]).toEqual([
      [1, 2, 3],
      [4, 0, 0],
    ]);
    jitterBuffer.write(samples(5, 6));
    expect(read(jitterBuffer, 2)).toEqual([0, 0]);
    jitterBuffer.write(samples(7, 8));
    expect(read(jitterBuffer, 2)).toEqual([5, 6]);
  });

  test("drops the oldest samples down to the target when too many wait", () => {
    const jitterBuffer = buffer();
    for (const piece of [samples(1, 2, 3, 4), samples(5, 6, 7, 8), samples(9, 10), samples(11)])
      jitterBuffer.write(piece);
    expect([jitterBuffer.length, jitterBuffer.droppedSamples]).toEqual([4, 7]);
    expect(read(jitterBuffer, 4)).toEqual([8, 9, 10, 11]);
  });

  test("keeps the end of a piece that is larger than the buffer", () => {
    const jitterBuffer = buffer();
    jitterBuffer.write(Int16Array.from({ length: 25 }, (_, i) => i));
    expect([jitterBuffer.length, jitterBuffer.droppedSamples]).toEqual([10, 15]);
    expect(read(jitterBuffer, 3)).toEqual([15, 16, 17]);
  });

  test("gathers more than the largest piece, so that the next one may be late", () => {
    const jitterBuffer = new JitterBuffer({ sampleRate: 1_000, targetMs: 4, maxMs: 10, spareMs: 2 });
    jitterBuffer.write(samples(1, 2, 3, 4, 5, 6));
    expect(read(jitterBuffer, 2)).toEqual([0, 0]);
    jitterBuffer.write(samples(7, 8));
    expect([read(jitterBuffer, 6), read(jitterBuffer, 4)]).toEqual([
      [1, 2, 3, 4, 5, 6],
      [7, 8, 0, 0],
    ]);
    jitterBuffer.write(Int16Array.from({ length: 10 }, (_, i) => i));
    expect(read(jitterBuffer, 2)).toEqual([0, 1]);
  });

  test("accepts only the requested number of samples", () => {
    const jitterBuffer = buffer();
    jitterBuffer.write(samples(1, 2, 3, 4, 5, 6), 4);
    expect(read(jitterBuffer, 6)).toEqual([1, 2, 3, 4, 0, 0]);
  });

  test("is empty after it is cleared", () => {
    const jitterBuffer = buffer();
    jitterBuffer.write(samples(1, 2, 3, 4, 5));
    jitterBuffer.clear();
    expect([jitterBuffer.length, read(jitterBuffer, 2)]).toEqual([0, [0, 0]]);
  });

  test("never holds more than its limit, and loses no sample without counting it", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(15), fc.nat(15)), { maxLength: 200 }), fc.nat(20), (steps, spareMs) => {
        const jitterBuffer = new JitterBuffer({ sampleRate: 1_000, targetMs: 4, maxMs: 10, spareMs });
        let writtenCount = 0;
        let last = 0;
        let playedCount = 0;
        for (const [count, requestedCount] of steps) {
          jitterBuffer.write(Int16Array.from({ length: count }, () => ++writtenCount));
          const frame = new Int16Array(requestedCount);
          const output = jitterBuffer.read(frame);
          for (const sample of frame.subarray(0, output)) {
            expect(sample).toBeGreaterThan(last);
            last = sample;
          }
          expect(frame.subarray(output).every((sample) => sample === 0)).toBe(true);
          playedCount += output;
          expect(jitterBuffer.length).toBeLessThanOrEqual(10);
          expect(playedCount + jitterBuffer.droppedSamples + jitterBuffer.length).toBe(writtenCount);
        }
      }),
    );
  });
});
