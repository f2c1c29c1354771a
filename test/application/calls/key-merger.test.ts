import { describe, expect, test } from "vitest";
import { KeyMerger } from "../../../src/application/calls/live/key-merger.ts";

describe("a callee's key", () => {
  test("counts once if it arrives as a tone and as a report", () => {
    const keys = new KeyMerger(() => true);
    expect([
      keys.acceptHeard("1", 0),
      keys.acceptReported("1", 400),
      keys.acceptReported("2", 600),
      keys.acceptHeard("2", 700),
    ]).toEqual([true, false, true, false]);
  });

  test("counts as a tone after the call has moved to a phone that sends tones", () => {
    let inBand = false;
    const keys = new KeyMerger(() => inBand);
    expect(keys.acceptReported("1", 0)).toBe(true);
    inBand = true;
    expect(keys.acceptHeard("2", 1_000)).toBe(true);
  });
});
