import { describe, expect, test } from "vitest";
import { CallClock } from "../../../src/application/calls/call-clock.ts";
import { ManualSystem } from "../../../src/testing/manual-system.ts";

const HOUR_MS = 3_600_000;

describe("a call's clock", () => {
  test("follows elapsed time, not the wall clock", async () => {
    const system = new ManualSystem({ now: 10_000 });
    const clock = new CallClock(system, { createdAt: 9_000, startedAt: null });
    expect(clock.now()).toBe(10_000);
    await system.advance(1_500.7);
    system.jump(-HOUR_MS);
    expect(clock.now()).toBe(11_500);
    system.jump(2 * HOUR_MS);
    expect(clock.now()).toBe(11_500);
  });

  test.each([
    [{ createdAt: HOUR_MS, startedAt: null }, HOUR_MS],
    [{ createdAt: HOUR_MS, startedAt: HOUR_MS + 5 }, HOUR_MS + 5],
    [{ createdAt: HOUR_MS, startedAt: 5 }, HOUR_MS],
    [{ createdAt: 5, startedAt: null }, 10_000],
  ])("starts no earlier than the calls (%o)", (times, at) => {
    expect(new CallClock(new ManualSystem({ now: 10_000 }), times).now()).toBe(at);
  });
});
