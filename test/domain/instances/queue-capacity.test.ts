import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { freeSlot, linesInForce, queueDepth, SINGLE_POLICY } from "../../../src/domain/instances/queue-capacity.ts";
import { fuzz } from "../../support/fuzz.ts";

describe("the single policy", () => {
  test("has one slot, number 0", () => {
    expect(queueDepth(SINGLE_POLICY)).toBe(1);
    expect(freeSlot(SINGLE_POLICY, [])).toBe(0);
    expect(freeSlot(SINGLE_POLICY, [0])).toBeUndefined();
  });

  test("has no free slot while a call is in any slot", () => {
    expect(freeSlot(SINGLE_POLICY, [3])).toBeUndefined();
  });
});

test.each([
  [undefined, undefined, 1],
  [undefined, Infinity, 1],
  [5, undefined, 1],
  [5, 3, 3],
  [5, Infinity, 5],
  [100, 1_000, 100],
])("a policy of %s lines on a network with %s has %s in force", (lines, networkLines, lineCount) => {
  expect(linesInForce({ kind: "single", lines }, networkLines)).toBe(lineCount);
});

describe("a fifo policy", () => {
  fuzz(
    "returns the first free slot below its depth, if any",
    fc.property(fc.integer({ min: 1, max: 50 }), fc.uniqueArray(fc.nat(49)), (depth, takenSlots) => {
      const slot = freeSlot({ kind: "fifo", depth }, takenSlots);
      const freeSlots = Array.from({ length: depth }, (_, index) => index).filter(
        (index) => !takenSlots.includes(index),
      );
      expect(slot).toBe(freeSlots[0]);
    }),
  );
});
