import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { MediaStatistics } from "../../../src/domain/calls/media-statistics.ts";
import { INTERVAL_LIMIT, QualitySeries } from "../../../src/domain/calls/quality-series.ts";

const COUNTERS = ["packetsSent", "packetsReceived", "packetsLost"] as const;

function statistics(overrides: Partial<MediaStatistics> = {}): MediaStatistics {
  return {
    ...{ codec: "PCMU", packetsSent: 0, packetsReceived: 0, packetsLost: 0, packetsReordered: 0, packetsDuplicated: 0 },
    ...{ packetsInvalid: 0, jitterMs: 0, roundTripMs: null, remoteLoss: null, mos: null, heldMs: 0 },
    ...overrides,
  };
}

/** A network of any kind: its counters may be corrected downwards, and its clock may stall. */
const measurement = fc.record({
  waitedMs: fc.oneof(fc.integer({ min: 0, max: 40_000 }), fc.constant(0)),
  packetsSent: fc.nat(500),
  packetsReceived: fc.nat(500),
  packetsLost: fc.integer({ min: -20, max: 50 }),
  jitterMs: fc.double({ min: 0, max: 500, noNaN: true }),
  roundTripMs: fc.option(fc.double({ min: 0, max: 3_000, noNaN: true })),
  remoteLoss: fc.option(fc.double({ min: 0, max: 1, noNaN: true })),
});

describe("the quality of a call over time", () => {
  test("is bounded, in order, and adds up to the totals, for a call of any length", () => {
    fc.assert(
      fc.property(fc.array(measurement, { minLength: 1, maxLength: 700 }), (measurements) => {
        const series = new QualitySeries();
        let atMs = 0;
        let total = statistics();
        for (const { waitedMs, ...sample } of measurements) {
          atMs += waitedMs;
          const counts = COUNTERS.map((name) => [name, Math.max(0, total[name] + sample[name])]);
          total = { ...total, ...sample, ...Object.fromEntries(counts) };
          series.add(atMs, total);
        }
        const intervals = series.intervals;
        expect(intervals.length).toBeLessThan(INTERVAL_LIMIT);
        expect(intervals.at(-1)?.untilMs).toBe(atMs);
        intervals.forEach((interval, i) => {
          if (i > 0) expect(interval.untilMs).toBeGreaterThan(intervals[i - 1]!.untilMs);
          for (const name of COUNTERS) expect(interval[name]).toBeGreaterThanOrEqual(0);
        });
        for (const name of COUNTERS)
          expect(intervals.reduce((sum, interval) => sum + interval[name], 0)).toBe(total[name]);
      }),
    );
  });

  test("has a sample every 5 s; a full series merges them in pairs", () => {
    const series = new QualitySeries();
    for (let i = 1; i < INTERVAL_LIMIT; i++) series.add(i * 5_000, statistics({ packetsSent: i * 250 }));
    expect([series.intervals.length, series.intervalMs]).toEqual([INTERVAL_LIMIT - 1, 5_000]);
    series.add(600_000, statistics({ packetsSent: 30_000 }));
    expect([series.intervals.length, series.intervalMs]).toEqual([INTERVAL_LIMIT / 2, 10_000]);
    const intervals = series.intervals;
    expect(intervals.map(({ packetsSent }) => packetsSent)).toEqual(Array(INTERVAL_LIMIT / 2).fill(500));
    expect(intervals.map(({ untilMs }) => untilMs)).toEqual(intervals.map((_, i) => (i + 1) * 10_000));
  });

  test("keeps the peaks of jitter and round trip when samples are merged", () => {
    const series = new QualitySeries();
    for (let i = 1; i <= INTERVAL_LIMIT; i++)
      series.add(i * 5_000, statistics({ jitterMs: i === 5 ? 80 : 1, roundTripMs: i === 7 ? 900 : null }));
    expect(Math.max(...series.intervals.map(({ jitterMs }) => jitterMs))).toBe(80);
    expect(series.intervals.map(({ roundTripMs }) => roundTripMs).filter((ms) => ms !== null)).toEqual([900]);
  });

  test("corrects the losses when packets arrive late", () => {
    const series = new QualitySeries();
    series.add(5_000, statistics({ packetsReceived: 240, packetsLost: 10 }));
    series.add(10_000, statistics({ packetsReceived: 496, packetsLost: 4 }));
    expect(series.intervals.map(({ packetsLost }) => packetsLost)).toEqual([4, 0]);
  });
});
