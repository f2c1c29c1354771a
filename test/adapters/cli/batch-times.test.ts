import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { durationMs, localTimeText, timeOf } from "../../../adapters/cli/batch/batch-times.ts";

describe("the time of --at", () => {
  const zone = process.env.TZ;
  const at = (text: string, from?: string): string => {
    const now = Date.parse("2026-11-30T12:15:00-03:00");
    return new Date(timeOf("--at", text, now, from === undefined ? now : Date.parse(from))).toISOString();
  };

  beforeEach(() => {
    process.env.TZ = "America/Sao_Paulo";
  });

  afterEach(() => {
    if (zone === undefined) delete process.env.TZ;
    else process.env.TZ = zone;
  });

  test.each([
    ["tomorrow 10:00", "2026-12-01T13:00:00.000Z"],
    ["Today 18:30", "2026-11-30T21:30:00.000Z"],
    ["12:16", "2026-11-30T15:16:00.000Z"],
    ["12:15", "2026-12-01T15:15:00.000Z"],
    ["9:00", "2026-12-01T12:00:00.000Z"],
    ["+2h", "2026-11-30T17:15:00.000Z"],
    ["+90s", "2026-11-30T15:16:30.000Z"],
    ["2026-12-24T10:00", "2026-12-24T13:00:00.000Z"],
    ["2026-12-24 10:00:30", "2026-12-24T13:00:30.000Z"],
    ["2026-12-24T10:00Z", "2026-12-24T10:00:00.000Z"],
    ["2026-12-24T10:00+0530", "2026-12-24T04:30:00.000Z"],
  ])("%s is %s in São Paulo", (text, expected) => expect(at(text)).toBe(expected));

  test("is the next such time after the batch starts if it has no date", () =>
    expect(at("09:30", "2026-12-01T10:00:00-03:00")).toBe("2026-12-02T12:30:00.000Z"));

  test.each([
    ["today 10:00", 'is "today 10:00", which is Mon 2026-11-30 10:00 -03:00: it must be later than now'],
    ["soon", 'is "soon": it must be "tomorrow 10:00"'],
    ["2026-12-24", 'it must be "tomorrow 10:00"'],
    ["25:00", "there is no such date or time"],
    ["2026-02-30T10:00", "there is no such date or time"],
    ["2026-02-30T10:00Z", "there is no such date or time"],
    ["+2 weeks", "a number with s, m, h or d"],
    ["+0h", "a number with s, m, h or d"],
  ])("%s is refused with the value and the fix", (text, message) => expect(() => at(text)).toThrow(message));

  test("an hour that the clocks skip is refused", () => {
    process.env.TZ = "Europe/Lisbon";
    expect(() => at("2027-03-28T01:30")).toThrow("there is no such time in Europe/Lisbon");
  });

  test("is printed with its offset", () => {
    expect(localTimeText(Date.parse("2026-12-01T13:00:00Z"))).toBe("Tue 2026-12-01 10:00 -03:00");
    process.env.TZ = "Asia/Kolkata";
    expect(localTimeText(Date.parse("2026-12-01T13:00:05Z"))).toBe("Tue 2026-12-01 18:30:05 +05:30");
  });
});

test("a duration has a unit", () => {
  expect(["90s", "15m", "2 h", "1d"].map((text) => durationMs("--retry-after", text))).toEqual([
    90_000, 900_000, 7_200_000, 86_400_000,
  ]);
  expect(() => durationMs("--retry-after", "15")).toThrow('--retry-after is "15"');
});
