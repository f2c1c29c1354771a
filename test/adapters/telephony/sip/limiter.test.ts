import { describe, expect, test } from "vitest";
import { type Admission, Limiter } from "../../../../adapters/telephony/sip/limiter.ts";
import { ManualSystem } from "../../../../src/testing/manual-system.ts";

type AdmittedCall = Extract<Admission, { admitted: true }>;
type RefusedCall = Extract<Admission, { admitted: false }>;

describe("a trunk's limits", () => {
  test("let every call start at once if none are set", () => {
    const limiter = new Limiter(new ManualSystem(), {});
    for (let i = 0; i < 1_000; i++) expect(limiter.admit()).toMatchObject({ admitted: true, waitMs: 0 });
    expect(limiter.admitted).toBe(1_000);
  });

  test("reject calls above the limit until one is released", () => {
    const limiter = new Limiter(new ManualSystem(), { maxCalls: 2 });
    const first = limiter.admit() as AdmittedCall;
    limiter.admit();
    expect(limiter.admit()).toMatchObject({
      admitted: false,
      reason: "the trunk is at its limit of calls (maxCalls is 2)",
    });
    first.release();
    first.release();
    expect(limiter.admitted).toBe(1);
    expect(limiter.admit().admitted).toBe(true);
    expect(limiter.admit().admitted).toBe(false);
  });

  test("give rejected calls staggered retries within 10 s", () => {
    const limiter = new Limiter(new ManualSystem(), { maxCalls: 1 });
    limiter.admit();
    const waits = Array.from({ length: 1_000 }, () => (limiter.admit() as RefusedCall).retryAfterMs);
    expect(waits[0]).toBe(1_000);
    expect(waits[10]).toBe(1_500);
    expect(Math.max(...waits)).toBe(10_000);
  });

  test("spread calls evenly, with short waits only", async () => {
    const system = new ManualSystem();
    const limiter = new Limiter(system, { callsPerSecond: 4 });
    const starts = Array.from({ length: 8 }, () => limiter.admit());
    expect(starts.map((start) => (start.admitted ? start.waitMs : start.retryAfterMs))).toEqual([
      0, 250, 500, 750, 1_000, 1_250, 1_500, 1_750,
    ]);
    expect(starts.map(({ admitted }) => admitted)).toEqual([true, true, true, true, true, false, false, false]);
    await system.advance(1_250);
    expect(limiter.admit()).toMatchObject({ admitted: true, waitMs: 0 });
  });

  test("start no call during a Retry-After", async () => {
    const system = new ManualSystem();
    const limiter = new Limiter(system, {});
    limiter.pause(5_000);
    limiter.pause(1_000);
    expect(limiter.admit()).toEqual({
      admitted: false,
      reason: "the server asked for no calls for another 5 s",
      retryAfterMs: 5_000,
    });
    await system.advance(5_000);
    expect(limiter.admit().admitted).toBe(true);
  });
});
