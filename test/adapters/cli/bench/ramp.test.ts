import { describe, expect, test } from "vitest";
import {
  exceededLimit,
  nextCount,
  rampResult,
  type Trial,
  type TrialFigures,
} from "../../../../adapters/cli/bench/ramp.ts";

const MIB = 2 ** 20;
const LIMITS = { maxP99Ms: 5 };

function figures(changes: Partial<TrialFigures> = {}): TrialFigures {
  const exact = { count: 100, p99: 1, max: 2, sent: 1, received: 1, underruns: 0, processor: 0.2, memory: 100 * MIB };
  return { ...exact, ...changes };
}

const good = (count: number, changes: Partial<Trial> = {}): Trial => figures({ count, ...changes });
const bad = (count: number, changes: Partial<Trial> = {}): Trial => ({
  ...figures({ count, p99: 9, ...changes }),
  limit: "lateness",
});

/** Runs the ramp of a machine whose calls each take this share of a core, up to a maximum number. */
function counts(maxCount: number, processorEach: number, first = 20): number[] {
  const trials: Trial[] = [];
  for (let count = nextCount(trials, first); count !== undefined; count = nextCount(trials, first))
    trials.push(count > maxCount ? bad(count) : good(count, { processor: count * processorEach }));
  return trials.map(({ count }) => count);
}

describe("a trial", () => {
  test.each([
    [{}, undefined],
    [{ p99: 5.1 }, "lateness"],
    [{ p99: 5.1, processor: 0.95 }, "processor"],
    [{ processor: 0.95 }, undefined],
    [{ sent: 0.99 }, "unsent"],
    [{ received: 0.98 }, "unreturned"],
    [{ underruns: 1 }, "underruns"],
  ] as const)("with %j exceeds the limit %s", (changes, limit) =>
    expect(exceededLimit(figures(changes), LIMITS)).toBe(limit),
  );
});

describe("the ramp", () => {
  test("begins with the first count, then aims at most of a core", () => {
    expect(nextCount([], 20)).toBe(20);
    expect(nextCount([good(20, { processor: 0.04 })], 20)).toBe(160);
    expect(nextCount([good(160, { processor: 0.32 })], 20)).toBe(400);
    expect(nextCount([good(400, { processor: 0.8 })], 20)).toBe(448);
  });

  test("never exceeds the largest possible count", () => {
    expect(nextCount([good(20, { processor: 0.04 })], 20, 128)).toBe(128);
    expect(nextCount([good(128, { processor: 0.3 })], 20, 128)).toBeUndefined();
  });

  test("repeats a count that failed once", () => {
    expect(nextCount([good(100), bad(400)], 20)).toBe(400);
    expect(nextCount([good(100), bad(400), bad(400)], 20)).toBe(250);
    expect(nextCount([good(100), bad(400), good(400, { processor: 0.8 })], 20)).toBe(448);
  });

  test("halves a first count that is too large, and ends at one", () => {
    expect(nextCount([bad(20), bad(20)], 20)).toBe(10);
    expect(nextCount([bad(1), bad(1)], 20)).toBeUndefined();
  });

  test.each([1, 7, 95, 300, 2_000])("finds a maximum of %i within 5 percent", (maxCount) => {
    const tried = counts(maxCount, 0.9 / maxCount);
    const best = Math.max(...tried.filter((count) => count <= maxCount));
    expect(best).toBeGreaterThanOrEqual(Math.floor(maxCount / 1.05));
    expect(tried.length).toBeLessThan(25);
  });
});

describe("the result of a ramp", () => {
  test("has the largest good count and the next one that failed", () => {
    const { carried, exceeded } = rampResult([good(20), bad(400), bad(400), good(200), bad(300)]);
    expect([carried?.count, exceeded?.count]).toEqual([200, 300]);
  });

  test("divides processor time and growth of memory by calls", () => {
    const result = rampResult([good(20), good(148, { processor: 0.37, memory: 116 * MIB })]);
    expect(result).toMatchObject({ perCore: 400, memoryEach: MIB / 8 });
  });

  test("leaves unknown what was not measured", () => {
    const unknown = { carried: undefined, exceeded: undefined, perCore: undefined, memoryEach: undefined };
    expect(rampResult([])).toEqual(unknown);
    expect(rampResult([bad(20)])).toMatchObject({ carried: undefined, perCore: undefined, exceeded: { count: 20 } });
    expect(rampResult([good(20), good(30, { memory: 200 * MIB })]).memoryEach).toBeUndefined();
    expect(rampResult([good(20), good(80, { memory: 90 * MIB })]).memoryEach).toBeUndefined();
    expect(rampResult([good(20, { processor: 0 })]).perCore).toBeUndefined();
  });
});
