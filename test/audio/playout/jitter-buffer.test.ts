import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { JitterBuffer } from "../../../src/audio/playout/jitter-buffer.ts";

/** 1 sample a ms: gathers 4, holds 10. */
const buffer = () => new JitterBuffer({ sampleRate: 1_000, targetMs: 4, maxMs: 10 });
const samples = (...values: number[]) => Int16Array.from(values);

function read(from: JitterBuffer, length: number): number[] {
  const frame = new Int16Array(length).fill(99);
  from.read(frame);
  return [...frame];
}

describe("a jitter buffer", () => {
  test("plays silence until the target is gathered, then all of it", () => {
    const held = buffer();
    held.write(samples(1, 2, 3));
    expect(read(held, 2)).toEqual([0, 0]);
    held.write(samples(4));
    expect([read(held, 2), read(held, 2)]).toEqual([
      [1, 2],
      [3, 4],
    ]);
  });

  test("pads a frame at the end, then gathers", () => {
    const held = buffer();
    held.write(samples(1, 2, 3, 4));
    expect([read(held, 3), read(held, 3)]).toEqual([
      [1, 2, 3],
      [4, 0, 0],
    ]);
    held.write(samples(5, 6));
    expect(read(held, 2)).toEqual([0, 0]);
    held.write(samples(7, 8));
    expect(read(held, 2)).toEqual([5, 6]);
  });

  test("drops the oldest samples down to the target when too many wait", () => {
    const held = buffer();
    for (const piece of [samples(1, 2, 3, 4), samples(5, 6, 7, 8), samples(9, 10), samples(11)]) held.write(piece);
    expect([held.length, held.dropped]).toEqual([4, 7]);
    expect(read(held, 4)).toEqual([8, 9, 10, 11]);
  });

  test("keeps the end of a piece that is larger than itself", () => {
    const held = buffer();
    held.write(Int16Array.from({ length: 25 }, (_, i) => i));
    expect([held.length, held.dropped]).toEqual([10, 15]);
    expect(read(held, 3)).toEqual([15, 16, 17]);
  });

  test("gathers more than the largest piece, so that the next one may be late", () => {
    const held = new JitterBuffer({ sampleRate: 1_000, targetMs: 4, maxMs: 10, spareMs: 2 });
    held.write(samples(1, 2, 3, 4, 5, 6));
    expect(read(held, 2)).toEqual([0, 0]);
    held.write(samples(7, 8));
    expect([read(held, 6), read(held, 4)]).toEqual([
      [1, 2, 3, 4, 5, 6],
      [7, 8, 0, 0],
    ]);
    held.write(Int16Array.from({ length: 10 }, (_, i) => i));
    expect(read(held, 2)).toEqual([0, 1]);
  });

  test("takes only the counted samples", () => {
    const held = buffer();
    held.write(samples(1, 2, 3, 4, 5, 6), 4);
    expect(read(held, 6)).toEqual([1, 2, 3, 4, 0, 0]);
  });

  test("is empty after it is cleared", () => {
    const held = buffer();
    held.write(samples(1, 2, 3, 4, 5));
    held.clear();
    expect([held.length, read(held, 2)]).toEqual([0, [0, 0]]);
  });

  test("never holds more than its limit, and loses no sample without counting it", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(15), fc.nat(15)), { maxLength: 200 }), fc.nat(20), (steps, spareMs) => {
        const held = new JitterBuffer({ sampleRate: 1_000, targetMs: 4, maxMs: 10, spareMs });
        let written = 0;
        let last = 0;
        let played = 0;
        for (const [count, wanted] of steps) {
          held.write(Int16Array.from({ length: count }, () => ++written));
          const frame = new Int16Array(wanted);
          const got = held.read(frame);
          for (const sample of frame.subarray(0, got)) {
            expect(sample).toBeGreaterThan(last);
            last = sample;
          }
          expect(frame.subarray(got).every((sample) => sample === 0)).toBe(true);
          played += got;
          expect(held.length).toBeLessThanOrEqual(10);
          expect(played + held.dropped + held.length).toBe(written);
        }
      }),
    );
  });
});
