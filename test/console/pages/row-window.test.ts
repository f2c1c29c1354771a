import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nearEnd, rowAfterKey, rowWindow } from "../../../adapters/console/pages/views/calls/row-window.ts";
import { fuzz } from "../../support/fuzz.ts";

describe("the window of a long list", () => {
  it("holds the rows in view and some beyond its edges", () => {
    expect(rowWindow({ above: 5_000, viewHeight: 600, rowHeight: 50, count: 1_000 })).toEqual({ from: 92, to: 120 });
  });

  it("begins at the first row while the list is below the view's upper edge", () => {
    expect(rowWindow({ above: -200, viewHeight: 600, rowHeight: 50, count: 1_000 })).toEqual({ from: 0, to: 16 });
  });

  it("is near the end before the last row is in view", () => {
    const scrolled = { viewHeight: 600, rowHeight: 50, count: 100 };
    expect(nearEnd({ ...scrolled, above: 0 })).toBe(false);
    expect(nearEnd({ ...scrolled, above: 3_900 })).toBe(true);
  });

  it.each([
    ["ArrowDown", 5, 6],
    ["ArrowUp", 0, 0],
    ["PageDown", 5, 14],
    ["PageUp", 5, 0],
    ["Home", 50, 0],
    ["End", 5, 99],
    ["x", 5, undefined],
  ])("moves with %s from row %i to %s", (key, row, to) => {
    expect(rowAfterKey(key, row, 100, 10)).toBe(to);
  });
});

fuzz(
  "every row in view is drawn, and few others",
  fc.property(
    fc.record({
      above: fc.integer({ min: -2_000, max: 200_000 }),
      viewHeight: fc.integer({ min: 1, max: 3_000 }),
      rowHeight: fc.integer({ min: 20, max: 200 }),
      count: fc.integer({ min: 0, max: 3_000 }),
    }),
    (scrolled) => {
      const { above, viewHeight, rowHeight, count } = scrolled;
      const { from, to } = rowWindow(scrolled);
      expect(0 <= from && from <= to && to <= count).toBe(true);
      expect(to - from).toBeLessThanOrEqual(viewHeight / rowHeight + 19);
      for (let row = 0; row < count; row += 7) {
        const inView = (row + 1) * rowHeight > above && row * rowHeight < above + viewHeight;
        if (inView) expect(from <= row && row < to).toBe(true);
      }
    },
  ),
);
