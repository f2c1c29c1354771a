import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  callingHoursBlock,
  isWithin,
  localTime,
  minuteOf,
  nextCallingTime,
} from "../../../src/domain/dialling-rules/calling-hours.ts";
import type { CallingHours } from "../../../src/domain/dialling-rules/number-protection.ts";
import { zonesOfNumber } from "../../../src/domain/numbers/number-zones.ts";
import { fuzz } from "../../support/fuzz.ts";

const DAY = { from: "08:00", until: "20:00" };

describe("the local time", () => {
  test.each([
    { at: "2026-03-08T09:59:00Z", zone: "America/Los_Angeles", local: "7 01:59" },
    { at: "2026-03-08T10:00:00Z", zone: "America/Los_Angeles", local: "7 03:00" },
    { at: "2026-11-01T08:59:00Z", zone: "America/Los_Angeles", local: "7 01:59" },
    { at: "2026-11-01T09:00:00Z", zone: "America/Los_Angeles", local: "7 01:00" },
    { at: "2026-01-04T23:59:00Z", zone: "Asia/Kathmandu", local: "1 05:44" },
    { at: "2026-01-05T00:00:00Z", zone: "Europe/London", local: "1 00:00" },
    { at: "2026-01-05T01:41:00Z", zone: "America/Sao_Paulo", local: "7 22:41" },
  ])("at $at in $zone is $local", ({ at, zone, local }) => {
    const { weekday, minute } = localTime(zone, Date.parse(at));
    const clock = `${String(Math.floor(minute / 60)).padStart(2, "0")}:${String(minute % 60).padStart(2, "0")}`;
    expect(`${weekday} ${clock}`).toBe(local);
  });
});

describe("calling hours", () => {
  test("start with their first minute and end before their last one", () => {
    expect([479, 480, 1_199, 1_200].map((minute) => isWithin(DAY, { weekday: 1, minute }))).toEqual([
      false,
      true,
      true,
      false,
    ]);
    expect(isWithin({ from: "00:00", until: "24:00" }, { weekday: 7, minute: 1_439 })).toBe(true);
    expect(isWithin({ ...DAY, days: [1, 2] }, { weekday: 3, minute: 600 })).toBe(false);
  });

  test("name the callee's time and the rule", () => {
    const night = Date.parse("2026-01-05T01:41:00Z");
    expect(callingHoursBlock(DAY, "+5511987654321", ["America/Sao_Paulo"], night)).toEqual({
      reason: "outside_calling_hours",
      detail: "it is 22:41 in America/Sao_Paulo, and calls are placed from 08:00 to 20:00 there",
    });
    const weekdays = { ...DAY, days: [1, 2, 3, 4, 5] };
    const sundayMorning = Date.parse("2026-01-04T13:12:00Z");
    expect(callingHoursBlock(weekdays, "+5511987654321", ["America/Sao_Paulo"], sundayMorning)?.detail).toBe(
      "it is Sunday 10:12 in America/Sao_Paulo, and calls are placed from 08:00 to 20:00 on Monday, Tuesday, Wednesday, Thursday, Friday there",
    );
  });

  test("must apply in every zone that the number may be in", () => {
    const phone = "+79161234567"; // a mobile number of Russia
    const zones = zonesOfNumber(phone);
    const morningInMoscow = Date.parse("2026-06-17T05:30:00Z"); // 08:30 there, 20:30 in Kamchatka
    expect(callingHoursBlock(DAY, phone, zones, morningInMoscow)?.detail).toBe(
      "it is 07:30 in Europe/Kaliningrad, one of 11 time zones in which +79161234567 may be, and calls are placed from 08:00 to 20:00 there",
    );
    expect(callingHoursBlock({ from: "07:00", until: "21:00" }, phone, zones, morningInMoscow)).toBeUndefined();
  });

  test("block a number whose location is unknown", () => {
    expect(callingHoursBlock(DAY, "+870773111632", zonesOfNumber("+870773111632"), 0)).toEqual({
      reason: "outside_calling_hours",
      detail: "the time zone of +870773111632 is unknown, and calls are placed from 08:00 to 20:00 in the callee's own",
    });
  });

  test.each([
    ["08:00", 480],
    ["24:00", 1_440],
    ["24:01", Number.NaN],
    ["8:00", Number.NaN],
    ["08:60", Number.NaN],
    ["", Number.NaN],
  ])("the time %j is minute %d", (text, minute) => {
    expect(minuteOf(text)).toBe(minute);
  });
});

const numbers = fc.constantFrom("+12025550100", "+12085550100", "+5581987654321", "+79161234567", "+61412345678");
const times = fc.integer({ min: Date.UTC(2025, 0, 1), max: Date.UTC(2028, 0, 1) });

fuzz(
  "an allowed call is within its hours in every possible zone, according to Intl",
  fc.property(numbers, times, fc.nat(23), fc.nat(23), (phone, at, first, last) => {
    const [from, until] = [Math.min(first, last), Math.max(first, last) + 1];
    const hours = { from: `${String(from).padStart(2, "0")}:00`, until: `${String(until).padStart(2, "0")}:00` };
    const zones = zonesOfNumber(phone);
    const isWithinHours = zones.every((timeZone) => {
      const hour = Number(new Date(at).toLocaleString("en-GB", { timeZone, hour: "2-digit", hourCycle: "h23" }));
      return hour >= from && hour < until;
    });
    expect(callingHoursBlock(hours, phone, zones, at) === undefined).toBe(isWithinHours);
  }),
);

const MINUTE_MS = 60_000;
const WEEK_MINUTES = 8 * 1_440;

/** First time from `at` on at which the hours apply in every zone, found by trying each minute. */
function firstMinuteWithin(hours: CallingHours, zones: readonly string[], at: number): number | undefined {
  const isOpen = (time: number): boolean => zones.every((zone) => isWithin(hours, localTime(zone, time)));
  if (isOpen(at)) return at;
  const minuteStart = at - (at % MINUTE_MS);
  for (let minute = 1; minute <= WEEK_MINUTES; minute++)
    if (isOpen(minuteStart + minute * MINUTE_MS)) return minuteStart + minute * MINUTE_MS;
  return undefined;
}

/** Zones whose clocks change by an hour or half an hour, with odd offsets, and without changes. */
const ZONES = [
  "America/New_York",
  "America/Los_Angeles",
  "Europe/Lisbon",
  "Europe/Berlin",
  "Australia/Lord_Howe",
  "America/St_Johns",
  "Asia/Kathmandu",
  "Asia/Kolkata",
  "Pacific/Chatham",
  "America/Sao_Paulo",
  "Asia/Tokyo",
];

/** Days around both clock changes in these zones, and random times. */
const instants = fc.oneof(
  ...["2026-03-08", "2026-03-29", "2026-04-05", "2026-09-27", "2026-10-04", "2026-10-25", "2026-11-01"].map((day) =>
    fc.integer({ min: -60 * 24, max: 60 * 48 }).map((minutes) => Date.parse(day) + minutes * MINUTE_MS),
  ),
  times,
);
const minuteTexts = fc.nat(1_440).map((minute) => {
  const [hour, minuteOfHour] = [Math.floor(minute / 60), minute % 60];
  return `${String(hour).padStart(2, "0")}:${String(minuteOfHour).padStart(2, "0")}`;
});
const anyHours: fc.Arbitrary<CallingHours> = fc
  .record({
    ends: fc.uniqueArray(minuteTexts, { minLength: 2, maxLength: 2 }),
    days: fc.option(fc.uniqueArray(fc.integer({ min: 1, max: 7 }), { minLength: 1 }), { nil: undefined }),
  })
  .map(({ ends, days }) => {
    const [from = "", until = ""] = ends.toSorted();
    return { from, until, ...(days && { days }) };
  });

describe("the next time within the hours", () => {
  test.each([
    {
      name: "now",
      hours: DAY,
      zones: ["Europe/Berlin"],
      at: "2026-06-15T10:00:30.250Z",
      next: "2026-06-15T10:00:30.250Z",
    },
    {
      name: "this morning",
      hours: DAY,
      zones: ["Asia/Kathmandu"],
      at: "2026-06-15T00:00:00Z",
      next: "2026-06-15T02:15:00Z",
    },
    {
      name: "tomorrow",
      hours: DAY,
      zones: ["Europe/Berlin"],
      at: "2026-06-15T18:00:00Z",
      next: "2026-06-16T06:00:00Z",
    },
    {
      name: "after the clocks go forward",
      hours: DAY,
      zones: ["America/New_York"],
      at: "2026-03-08T01:00:00Z",
      next: "2026-03-08T12:00:00Z",
    },
    {
      name: "after the clocks go back",
      hours: DAY,
      zones: ["America/New_York"],
      at: "2026-11-01T00:30:00Z",
      next: "2026-11-01T13:00:00Z",
    },
    {
      name: "the end of the hour that the clocks skip",
      hours: { from: "02:15", until: "03:15" },
      zones: ["America/New_York"],
      at: "2026-03-08T06:30:00Z",
      next: "2026-03-08T07:00:00Z",
    },
    {
      name: "the next Monday",
      hours: { ...DAY, days: [1] },
      zones: ["America/Sao_Paulo"],
      at: "2026-06-15T23:00:00Z",
      next: "2026-06-22T11:00:00Z",
    },
    {
      name: "when the last zone opens",
      hours: DAY,
      zones: ["America/New_York", "America/Los_Angeles"],
      at: "2026-06-15T12:00:00Z",
      next: "2026-06-15T15:00:00Z",
    },
  ])("is $name", ({ hours, zones, at, next }) => {
    expect(new Date(nextCallingTime(hours, zones, Date.parse(at)) ?? Number.NaN).toISOString()).toBe(
      new Date(next).toISOString(),
    );
  });

  test.each([
    ["without zones", DAY, []],
    ["in zones that are never open together", { from: "08:00", until: "10:00" }, ["Asia/Tokyo", "Europe/Berlin"]],
  ] as const)("never comes %s", (_, hours, zones) => {
    expect(nextCallingTime(hours, zones, Date.parse("2026-06-15T12:00:00Z"))).toBeUndefined();
  });
});

fuzz(
  "the next time within the hours equals the result of a minute-by-minute search",
  fc.property(
    anyHours,
    fc.uniqueArray(fc.constantFrom(...ZONES), { minLength: 1, maxLength: 2 }),
    instants,
    fc.nat(MINUTE_MS - 1),
    (hours, zones, minute, ms) => {
      const at = minute - (minute % MINUTE_MS) + ms;
      expect(nextCallingTime(hours, zones, at)).toBe(firstMinuteWithin(hours, zones, at));
    },
  ),
);
