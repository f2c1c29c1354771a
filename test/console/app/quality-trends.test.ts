import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { areaOf, MEASURES, trendOf } from "../../../adapters/console/app/pages/call/quality-trends.ts";
import type { QualityInterval } from "../../../src/client/index.ts";

const SIZE = { width: 100, height: 40 };

function interval(until_ms: number, overrides: Partial<QualityInterval> = {}): QualityInterval {
  return {
    ...{ until_ms, packets_sent: 250, packets_received: 250, packets_lost: 0, jitter_ms: 1 },
    ...{ round_trip_ms: null, remote_loss: null, ...overrides },
  };
}

describe("a measure's trend", () => {
  const intervals = [
    interval(5_000, { jitter_ms: 8, round_trip_ms: 30 }),
    interval(10_000, { packets_received: 225, packets_lost: 25, remote_loss: 0.02 }),
    interval(15_000, { packets_received: 0 }),
  ];

  test("has a value for each interval, the latest and the highest", () => {
    expect(trendOf("loss", intervals)).toEqual({ values: [0, 0.1, null], latest: 0.1, highest: 0.1 });
    expect(trendOf("jitter", intervals)).toEqual({ values: [8, 1, null], latest: 1, highest: 8 });
    expect(trendOf("roundTrip", intervals)).toEqual({ values: [30, null, null], latest: 30, highest: 30 });
    expect(trendOf("remoteLoss", intervals)).toEqual({ values: [null, 0.02, null], latest: 0.02, highest: 0.02 });
  });

  test("is unknown without a measurement", () => {
    const trend = trendOf("roundTrip", [interval(5_000), interval(10_000)]);
    expect(trend).toEqual({ values: [null, null], latest: undefined, highest: undefined });
    expect(areaOf("roundTrip", trend, [interval(5_000), interval(10_000)], SIZE)).toBe("");
  });

  test("is an area of steps as wide as their intervals, with gaps", () => {
    const stepIntervals = [
      interval(5_000, { jitter_ms: 40 }),
      interval(15_000, { packets_received: 0 }),
      interval(20_000),
    ];
    const area = areaOf("jitter", trendOf("jitter", stepIntervals), stepIntervals, SIZE);
    expect(area).toBe("M0 40V0H25V40ZM75 40V39H100V40Z");
  });

  test("fits into its chart, whatever was measured", () => {
    const measurement = fc.record({
      waited: fc.integer({ min: 0, max: 60_000 }),
      packets_received: fc.nat(3_000),
      packets_lost: fc.nat(3_000),
      jitter_ms: fc.double({ min: 0, max: 10_000, noNaN: true }),
      round_trip_ms: fc.option(fc.double({ min: 0, max: 100_000, noNaN: true })),
      remote_loss: fc.option(fc.double({ min: 0, max: 1, noNaN: true })),
    });
    fc.assert(
      fc.property(fc.array(measurement, { maxLength: 120 }), (measurements) => {
        let at = 0;
        const intervals = measurements.map(({ waited, ...overrides }) => {
          at += waited;
          return interval(at, overrides);
        });
        for (const measure of MEASURES) {
          const area = areaOf(measure, trendOf(measure, intervals), intervals, SIZE);
          expect(area).toMatch(/^(?:M[\d.]+ 40V[\d.]+H[\d.]+V40Z)*$/);
          for (const [, axis, value] of area.matchAll(/([MHV])([\d.]+)/g))
            expect(Number(value)).toBeLessThanOrEqual(axis === "V" ? SIZE.height : SIZE.width);
        }
      }),
    );
  });
});
