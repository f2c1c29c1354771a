import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { freeSlot, queueDepth, SINGLE } from "../../../src/domain/instances/queue-policy.ts";
import { fuzz } from "../../support/fuzz.ts";

describe("the single policy", () => {
  test("has one slot, number 0", () => {
    expect(queueDepth(SINGLE)).toBe(1);
    expect(freeSlot(SINGLE, [])).toBe(0);
    expect(freeSlot(SINGLE, [0])).toBeUndefined();
  });
});

describe("a fifo policy", () => {
  fuzz(
    "returns the first free slot below its depth, if any",
    fc.property(fc.integer({ min: 1, max: 50 }), fc.uniqueArray(fc.nat(49)), (depth, takenPlaces) => {
      const slot = freeSlot({ kind: "fifo", depth }, takenPlaces);
      const freePlaces = Array.from({ length: depth }, (_, index) => index).filter(
        (index) => !takenPlaces.includes(index),
      );
      expect(slot).toBe(freePlaces[0]);
    }),
  );
});
