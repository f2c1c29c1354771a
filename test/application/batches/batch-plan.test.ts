import { expect, test } from "vitest";
import { CallTimes } from "../../../src/application/batches/batch-plan.ts";
import type { TargetHours } from "../../../src/domain/batches/target-time.ts";

const CALL_MS = 60_000;
/** 9:00 in New York, 6:00 in Los Angeles. */
const NINE_O_CLOCK = Date.UTC(2026, 5, 17, 13);
const HOUR_MS = 3_600_000;
const HOURS: TargetHours = {
  schedule: { hours: { from: "09:00", until: "18:00" } },
  callingHours: undefined,
};

function timesOf(hours: TargetHours, lines: number): CallTimes {
  const instance = {
    instanceId: "inst_1",
    name: "Reception",
    phone: null,
    lines,
    paceMs: 0,
    blocked: null,
    freeAt: NINE_O_CLOCK,
  };
  return new CallTimes({}, hours, [instance], { callMs: CALL_MS, maxCalls: 6 });
}

test("a target whose hours come later does not keep the line from others", async () => {
  const times = timesOf(HOURS, 1);
  const zones = ["America/Los_Angeles", "America/Los_Angeles", "America/New_York", "America/New_York"];
  for (const [index, zone] of zones.entries())
    times.add({ position: index + 1, phone: `+1202555010${index}`, zones: zone }, NINE_O_CLOCK);
  await times.plan();
  expect(times.calls.map(({ position, at }) => [position, at - NINE_O_CLOCK])).toEqual([
    [3, 0],
    [4, CALL_MS],
    [1, 3 * HOUR_MS],
    [2, 3 * HOUR_MS + CALL_MS],
  ]);
  expect([times.startsAt, times.endsAt]).toEqual([NINE_O_CLOCK, NINE_O_CLOCK + 3 * HOUR_MS + 2 * CALL_MS]);
});

test("a target that loses its hours while it waits is called on the next day", async () => {
  const times = timesOf({ ...HOURS, schedule: { hours: { from: "09:00", until: "09:02" } } }, 1);
  for (const position of [1, 2, 3])
    times.add({ position, phone: "+12025550100", zones: "America/New_York" }, NINE_O_CLOCK);
  await times.plan();
  expect(times.calls.map(({ at }) => at - NINE_O_CLOCK)).toEqual([0, CALL_MS, 24 * HOUR_MS]);
});

test("the earliest calls are listed, and all are counted", async () => {
  const times = timesOf({ schedule: {}, callingHours: undefined }, 2);
  const from = (position: number) => NINE_O_CLOCK + (position % 2 === 0 ? 0 : HOUR_MS);
  for (let position = 1; position <= 20; position++)
    times.add({ position, phone: `+12025550${100 + position}`, zones: "" }, from(position));
  await times.plan();
  expect(times.calls.map(({ position }) => position)).toEqual([2, 4, 6, 8, 10, 12]);
  expect(times.instances[0]?.calls).toBe(20);
});

test("a retry keeps its time, and the line is used until then", async () => {
  const times = timesOf({ schedule: {}, callingHours: undefined }, 1);
  times.add({ position: 1, phone: "+12025550101", zones: "" }, NINE_O_CLOCK + 90_000);
  for (const position of [2, 3]) times.add({ position, phone: "+12025550102", zones: "" }, NINE_O_CLOCK);
  await times.plan();
  expect(times.calls.map(({ position, at }) => [position, at - NINE_O_CLOCK])).toEqual([
    [2, 0],
    [3, CALL_MS],
    [1, 2 * CALL_MS],
  ]);
});
