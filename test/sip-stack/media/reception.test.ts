import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { RESTARTED, Reception, STRAY_PACKET } from "../../../adapters/sip-stack/media/reception.ts";
import { fuzz } from "../../support/fuzz.ts";

describe("a reception", () => {
  test("extends sequence numbers, and counts lost and late packets", () => {
    const reception = new Reception(8000);
    const numbers = [65_533, 65_535, 65_534, 1, 0].map((sequence) => reception.take(sequence));
    const first = numbers[0]!;
    expect(numbers.map((number) => number - first)).toEqual([0, 2, 1, 4, 3]);
    expect([reception.expected, reception.lost]).toEqual([5, 0]);
    reception.take(10);
    expect(reception.lost).toBe(8);
  });

  test("reports the share recently lost, in units of 1/256", () => {
    const reception = new Reception(8000);
    for (const sequence of [1, 2, 3, 5]) reception.take(sequence);
    expect(reception.fractionLost()).toBe(51);
    for (const sequence of [6, 7]) reception.take(sequence);
    expect(reception.fractionLost()).toBe(0);
    expect(reception.fractionLost()).toBe(0);
  });

  test("trusts a jump's second packet, never a stray", () => {
    const reception = new Reception(8000);
    reception.take(100);
    expect(reception.take(30_000)).toBe(STRAY_PACKET);
    expect(reception.take(101)).toBeGreaterThan(0);
    expect(reception.take(40_000)).toBe(STRAY_PACKET);
    expect(reception.take(40_001)).toBe(RESTARTED);
    expect(reception.received).toBe(2);
  });

  test("measures jitter as RFC 3550 does, over a wrap of the timestamp", () => {
    const reception = new Reception(8000);
    const start = 2 ** 32 - 800;
    for (let i = 0; i < 2_000; i++) reception.measureJitter((start + i * 160) >>> 0, i * 20 + (i % 2) * 10);
    expect(reception.jitterMs).toBeCloseTo(10, 0);
    const steady = new Reception(8000);
    for (let i = 0; i < 2_000; i++) steady.measureJitter((start + i * 160) >>> 0, i * 20);
    expect(steady.jitterMs).toBe(0);
  });

  fuzz(
    "never counts below zero for any sequence",
    fc.property(fc.array(fc.nat(65_535), { maxLength: 200 }), (sequences) => {
      const reception = new Reception(8000);
      for (const sequence of sequences) {
        const number = reception.take(sequence);
        if (number >= 0) expect(number & 0xffff).toBe(sequence);
        expect(reception.fractionLost()).toBeLessThan(256);
      }
      expect(reception.expected).toBeGreaterThanOrEqual(0);
      expect(reception.received).toBeLessThanOrEqual(sequences.length);
    }),
  );
});
