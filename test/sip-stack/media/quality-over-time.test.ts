import { expect, test } from "vitest";
import { QualitySeries } from "../../../src/domain/calls/quality-series.ts";
import { impairedCall } from "./impaired-call.ts";

test("the loss and jitter of a call are recorded when they occur, and add up", () => {
  const series = new QualitySeries();
  // From 10 s to 15 s, the network loses every fifth packet.
  const { loss } = impairedCall({
    conditions: { jitterMs: 4, loses: (_, count) => count >= 500 && count < 750 && count % 5 === 0 },
    seconds: 20,
    onSample: (atMs, statistics) => series.add(atMs, statistics),
  });
  expect(loss).toBe(50 / 1_000);
  const intervals = series.intervals;
  expect(intervals.map(({ untilMs }) => untilMs)).toEqual([5_000, 10_000, 15_000, 20_000]);
  expect(intervals.map(({ packetsLost }) => packetsLost)).toEqual([0, 0, 50, 0]);
  const total = intervals.reduce((sum, { packetsReceived, packetsLost }) => sum + packetsReceived + packetsLost, 0);
  expect(total).toBe(1_000);
  for (const { jitterMs, roundTripMs, remoteLoss } of intervals) {
    expect(jitterMs).toBeGreaterThan(0.5);
    expect(jitterMs).toBeLessThan(4);
    expect([roundTripMs, remoteLoss]).toEqual([null, null]); // the peer sends no RTCP
  }
});
