import { describe, expect, test } from "vitest";
import {
  batchProgressOf,
  outcomeBars,
  ratePerMinute,
  withSample,
} from "../../../adapters/console/app/pages/batches/batch-progress.ts";

describe("a batch's progress", () => {
  test("leaves out rows that are never called", () => {
    const by_status = { INVALID: 2, DUPLICATE: 1, WAITING: 3, CALLING: 1, COMPLETED: 4, FAILED: 1, CANCELLED: 1 };
    expect(batchProgressOf({ by_status })).toEqual({
      total: 10,
      ended: 6,
      waiting: 3,
      calling: 1,
      skipped: 3,
      share: 0.6,
    });
  });

  test("is zero without targets", () => {
    expect(batchProgressOf({ by_status: {} }).share).toBe(0);
  });
});

describe("a batch's rate", () => {
  test("is unknown for the first five seconds", () => {
    expect(ratePerMinute([])).toBeUndefined();
    expect(
      ratePerMinute([
        { at: 0, ended: 0 },
        { at: 4_999, ended: 9 },
      ]),
    ).toBeUndefined();
  });

  test("counts only the last minute", () => {
    const samples = [0, 10_000, 70_000, 100_000].map((at, index) => ({ at, ended: index * 5 }));
    const recentSamples = samples.reduce(withSample, [] as ReturnType<typeof withSample>);
    expect(recentSamples.map(({ at }) => at)).toEqual([70_000, 100_000]);
    expect(ratePerMinute(recentSamples)).toBe(10);
  });
});

describe("the outcome chart", () => {
  test("has the most frequent reason first", () => {
    const bars = outcomeBars([
      { status: "FAILED", reason: "busy", targets: 2 },
      { status: "COMPLETED", reason: "message_played", targets: 7 },
    ]);
    expect(bars).toEqual([
      { reason: "message_played", isGood: true, targets: 7 },
      { reason: "busy", isGood: false, targets: 2 },
    ]);
  });

  test("combines rare reasons in its last bar", () => {
    const reasons = ["a", "b", "c", "d"].map(
      (reason, index) => ({ status: "FAILED", reason, targets: 9 - index }) as const,
    );
    expect(outcomeBars(reasons, 3).map(({ reason, targets }) => [reason, targets])).toEqual([
      ["a", 9],
      ["b", 8],
      ["other", 13],
    ]);
  });
});
