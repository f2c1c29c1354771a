import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { freeSlot, nextDialAt, type QueuePolicy, queueDepth, SINGLE } from "../../src/domain/queue-policy.ts";
import { fuzz } from "../support/fuzz.ts";

describe("the single policy", () => {
  test("has one slot, number 0", () => {
    expect(queueDepth(SINGLE)).toBe(1);
    expect(freeSlot(SINGLE, [])).toBe(0);
    expect(freeSlot(SINGLE, [0])).toBeUndefined();
  });

  test("never waits between two dials", () => {
    expect(nextDialAt(SINGLE, 1_000_000)).toBe(0);
  });
});

describe("a fifo policy", () => {
  test("keeps its pace from the second dial on", () => {
    const policy: QueuePolicy = { kind: "fifo", depth: 3, paceMs: 2_000 };
    expect(nextDialAt(policy, undefined)).toBe(0);
    expect(nextDialAt(policy, 10_000)).toBe(12_000);
    expect(nextDialAt({ kind: "fifo", depth: 3 }, 10_000)).toBe(10_000);
  });

  fuzz(
    "gives the first slot that is free, below its depth, and none when all are taken",
    fc.property(fc.integer({ min: 1, max: 50 }), fc.uniqueArray(fc.nat(49)), (depth, taken) => {
      const slot = freeSlot({ kind: "fifo", depth }, taken);
      const free = Array.from({ length: depth }, (_, index) => index).filter((index) => !taken.includes(index));
      expect(slot).toBe(free[0]);
    }),
  );
});
