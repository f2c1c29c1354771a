import { expect, test } from "vitest";
import { FrameStatistics } from "../../../../adapters/telephony/simulator/frame-statistics.ts";

test("frames are counted in each direction after the answer", () => {
  const statistics = new FrameStatistics();
  expect(statistics.totals).toBeNull();
  for (let i = 0; i < 10; i++) statistics.recordFrame(i >= 4, i * 20);
  expect(statistics.totals).toMatchObject({ packetsSent: 10, packetsReceived: 6, packetsLost: 0, jitterMs: 0 });
  expect(statistics.totals).toMatchObject({ roundTripMs: null, remoteLoss: null, mos: null });
});

test("late frames count as jitter, according to the formula in RFC 3550", () => {
  const statistics = new FrameStatistics();
  statistics.recordFrame(true, 0);
  for (const now of [7, 27, 63, 67]) statistics.recordFrame(true, now); // 20, 36 and 4 ms apart: 0, 16 and 16 ms off
  expect(statistics.totals?.jitterMs).toBeCloseTo(16 / 16 + (16 - 1) / 16, 9);
});

test("the first frame does not count as jitter", () => {
  const statistics = new FrameStatistics();
  for (const now of [0, 3, 23, 43]) statistics.recordFrame(true, now);
  expect(statistics.totals?.jitterMs).toBe(0);
});
