import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  isNearEnd,
  nextRows,
  type RowWindow,
  rowAfterKey,
  rowWindow,
} from "../../../adapters/console/app/pages/calls/row-window.ts";
import { fuzz } from "../../support/fuzz.ts";

describe("the window of a long list", () => {
  it("holds the rows in view and some beyond the edges", () => {
    expect(rowWindow({ topOffset: 5_000, viewHeight: 600, rowHeight: 50, count: 1_000 })).toEqual({
      from: 92,
      to: 120,
    });
  });

  it("starts at the first row while the list is below the view's upper edge", () => {
    expect(rowWindow({ topOffset: -200, viewHeight: 600, rowHeight: 50, count: 1_000 })).toEqual({ from: 0, to: 16 });
  });

  it("is near the end before the last row is in view", () => {
    const viewport = { viewHeight: 600, rowHeight: 50, count: 100 };
    expect(isNearEnd({ ...viewport, topOffset: 0 })).toBe(false);
    expect(isNearEnd({ ...viewport, topOffset: 3_900 })).toBe(true);
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

describe("the rows to draw next", () => {
  const window = { from: 100, to: 132 };

  it.each([
    ["are the rows in view first, if none is drawn", { from: 0, to: 0 }, { from: 108, to: 118 }],
    ["are those in view first, if all drawn rows have left the window", { from: 0, to: 32 }, { from: 108, to: 118 }],
    ["join the drawn rows below", { from: 112, to: 140 }, { from: 102, to: 132 }],
    ["join the drawn rows above", { from: 90, to: 110 }, { from: 100, to: 120 }],
    ["are from both sides if the rows in view are drawn", { from: 106, to: 128 }, { from: 100, to: 132 }],
    ["are the whole window at the end", { from: 100, to: 132 }, { from: 100, to: 132 }],
  ])("%s", (_, currentWindow, next) => {
    expect(nextRows(currentWindow, window, 108, 10)).toEqual(next);
  });
});

fuzz(
  "a window is drawn in a few steps with few new rows each, needed rows first",
  fc.property(
    ...[
      fc.nat(1_000),
      fc.nat(80),
      fc.nat(1_000),
      fc.nat(80),
      fc.integer({ min: -50, max: 1_200 }),
      fc.integer({ min: 1, max: 20 }),
    ],
    (at, length, from, size, first, maxNewRows) => {
      const window = { from, to: from + size };
      let currentWindow: RowWindow = { from: at, to: at + length };
      for (let step = 0; step <= Math.ceil(size / maxNewRows); step++) {
        const next = nextRows(currentWindow, window, first, maxNewRows);
        expect(window.from <= next.from && next.from <= next.to && next.to <= window.to).toBe(true);
        const overlap = Math.max(0, Math.min(currentWindow.to, next.to) - Math.max(currentWindow.from, next.from));
        expect(next.to - next.from - overlap).toBeLessThanOrEqual(maxNewRows);
        const isNew =
          currentWindow.to <= window.from || currentWindow.from >= window.to || currentWindow.from === currentWindow.to;
        const neededRow = Math.min(Math.max(first, window.from), window.to - 1);
        if (isNew && size > 0) expect(next.from <= neededRow && neededRow < next.to).toBe(true);
        currentWindow = next;
      }
      expect(currentWindow.to - currentWindow.from).toBe(size);
    },
  ),
);

fuzz(
  "every row in view is drawn, and few others",
  fc.property(
    fc.record({
      topOffset: fc.integer({ min: -2_000, max: 200_000 }),
      viewHeight: fc.integer({ min: 1, max: 3_000 }),
      rowHeight: fc.integer({ min: 20, max: 200 }),
      count: fc.integer({ min: 0, max: 3_000 }),
    }),
    (listView) => {
      const { topOffset, viewHeight, rowHeight, count } = listView;
      const { from, to } = rowWindow(listView);
      expect(0 <= from && from <= to && to <= count).toBe(true);
      expect(to - from).toBeLessThanOrEqual(viewHeight / rowHeight + 19);
      for (let row = 0; row < count; row += 7) {
        const isInView = (row + 1) * rowHeight > topOffset && row * rowHeight < topOffset + viewHeight;
        if (isInView) expect(from <= row && row < to).toBe(true);
      }
    },
  ),
);
