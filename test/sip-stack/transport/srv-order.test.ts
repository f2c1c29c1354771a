import * as fc from "fast-check";
import { expect, test } from "vitest";
import { srvOrder } from "../../../adapters/sip-stack/transport/resolver.ts";
import { ManualSystem } from "../../../src/testing/manual-system.ts";
import { fuzz } from "../../support/fuzz.ts";

const record = fc.record({
  priority: fc.integer({ min: 0, max: 3 }),
  weight: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 65_535 })),
  name: fc.constantFrom("a", "b", "c"),
  port: fc.integer({ min: 0, max: 65_535 }),
});

fuzz(
  "each server appears once, in order of priority",
  fc.property(fc.array(record, { maxLength: 20 }), fc.integer(), (records, seed) => {
    const ordered = srvOrder(records, new ManualSystem({ seed }));
    expect(new Set(ordered)).toEqual(new Set(records));
    expect(ordered).toHaveLength(records.length);
    const priorities = ordered.map(({ priority }) => priority);
    expect(priorities).toEqual([...priorities].sort((a, b) => a - b));
  }),
);

test("servers of equal priority are drawn by weight", () => {
  const system = new ManualSystem();
  const records = [60, 30, 10, 0].map((weight) => ({ priority: 1, weight, name: String(weight), port: 5060 }));
  const firstCounts = new Map<string, number>();
  for (let n = 0; n < 10_000; n++) {
    const name = srvOrder(records, system)[0]?.name ?? "";
    firstCounts.set(name, (firstCounts.get(name) ?? 0) + 1);
  }
  expect((firstCounts.get("60") ?? 0) / 10_000).toBeCloseTo(0.6, 1);
  expect((firstCounts.get("30") ?? 0) / 10_000).toBeCloseTo(0.3, 1);
  expect((firstCounts.get("10") ?? 0) / 10_000).toBeCloseTo(0.1, 1);
  expect(firstCounts.get("0")).toBeGreaterThan(20);
});

test("an unavailable service (`.`) has no servers", () => {
  expect(srvOrder([{ priority: 0, weight: 0, name: ".", port: 0 }], new ManualSystem())).toEqual([]);
});
