import { minuteOf } from "../../../src/domain/dialling-rules/calling-hours.ts";
import type {
  AnswerRateFloor,
  CallingHours,
  RefusalLimit,
  WarmUp,
} from "../../../src/domain/dialling-rules/number-protection.ts";
import { OUTSIDE_HOURS } from "../../../src/domain/dialling-rules/number-protection.ts";
import {
  areValidHours,
  isCurve,
  isFloor,
  isRefusalLimit,
} from "../../../src/domain/dialling-rules/number-protection-input.ts";
import { decimal, oneOf, onOff, type Parser, wholeNumber } from "./parsers.ts";
import { setting } from "./setting.ts";

const DAY_MS = 86_400_000;
const DAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

/** Warm-up curve for a newly linked number: calls on the first day, growth, days. */
export const warmUpCurve: Parser<WarmUp | false> = {
  expected:
    "off, or calls on the first day, growth from 1 and days up to 365, such as 20,1.5,14, with at most 10000 calls on the last day",
  placeholder: "CALLS,GROWTH,DAYS",
  parse: unlessOff((text) => {
    const [firstDay, growth, days] = numbers(text, 3) ?? [];
    if (firstDay === undefined || growth === undefined || days === undefined) return undefined;
    const warmUp = { firstDay, growth, days };
    return isCurve(warmUp) ? warmUp : undefined;
  }),
};

/** Floor for the answer rate: share, number of calls, pause in ms. */
export const answerRateFloor: Parser<AnswerRateFloor | false> = {
  expected:
    "off, or the share of answered calls, the calls that count and the pause in ms (up to 7 days), such as 0.2,20,3600000",
  placeholder: "SHARE,CALLS,MS",
  parse: unlessOff((text) => {
    const [floor, calls, pauseMs] = numbers(text, 3) ?? [];
    if (floor === undefined || calls === undefined || pauseMs === undefined) return undefined;
    const answerRate = { floor, calls, pauseMs };
    return isFloor(answerRate) ? answerRate : undefined;
  }),
};

/** Limit on refused calls in a row: number of calls, pause in ms. */
export const refusalLimit: Parser<RefusalLimit | false> = {
  expected: "off, or the refused calls in a row and the pause in ms (up to 7 days), such as 3,3600000",
  placeholder: "CALLS,MS",
  parse: unlessOff((text) => {
    const [calls, pauseMs] = numbers(text, 2) ?? [];
    if (calls === undefined || pauseMs === undefined) return undefined;
    const refusals = { calls, pauseMs };
    return isRefusalLimit(refusals) ? refusals : undefined;
  }),
};

/** Hours of the day, optionally with days of the week. */
export const callingHours: Parser<CallingHours | false> = {
  expected: "off, or hours such as 08:00-20:00, with days if not all: 08:00-20:00 mon-fri or 09:00-12:00 mon,wed,sat",
  placeholder: "HOURS",
  parse: unlessOff((text) => {
    const [, from = "", until = "", dayList] = /^(\d\d:\d\d)-(\d\d:\d\d)(?:\s+(\S+))?$/.exec(text) ?? [];
    const days = dayList === undefined ? undefined : weekdays(dayList);
    if (Number.isNaN(minuteOf(from)) || (dayList !== undefined && !days)) return undefined;
    const hours = { from, until, ...(days && { days }) };
    return areValidHours(hours) ? hours : undefined;
  }),
};

/** Number protection settings; the network's default applies to missing ones. */
export const PROTECTION = [
  setting(
    "queue.paceMs",
    "RINGPORT_QUEUE_PACE_MS",
    wholeNumber(0, DAY_MS),
    "0",
    "Minimum time between two dials of an instance, ms.",
  ),
  setting(
    "queue.paceJitter",
    "RINGPORT_QUEUE_PACE_JITTER",
    decimal(0, 1),
    "0",
    "Lengthens each of these intervals by a random share, up to this one.",
  ),
  setting(
    "queue.warmUp",
    "RINGPORT_WARM_UP",
    warmUpCurve,
    "off",
    "Calls that a newly linked number may place within 24 hours: on the first day, the growth per day, and the number of days.",
  ),
  setting(
    "queue.answerRate",
    "RINGPORT_ANSWER_RATE",
    answerRateFloor,
    "off",
    "Pauses an instance if a smaller share of its last calls was answered.",
  ),
  setting(
    "queue.refusals",
    "RINGPORT_REFUSALS",
    refusalLimit,
    "off",
    "Pauses an instance after the network has refused this many calls in a row.",
  ),
  setting(
    "queue.requireConsent",
    "RINGPORT_REQUIRE_CONSENT",
    onOff,
    "off",
    "Calls only numbers whose consent is recorded.",
  ),
  setting(
    "queue.callingHours",
    "RINGPORT_CALLING_HOURS",
    callingHours,
    "off",
    "Calls only at these hours in the callee's time zone.",
  ),
  setting(
    "queue.outsideHours",
    "RINGPORT_OUTSIDE_HOURS",
    oneOf(...OUTSIDE_HOURS),
    "wait",
    "Outside these hours a call waits in its queue until they begin, or fails at once.",
  ),
] as const;

function unlessOff<T>(parse: (text: string) => T | undefined): (text: string) => T | false | undefined {
  return (text) => (text.toLowerCase() === "off" ? false : parse(text.trim()));
}

/** Exactly `count` numbers, separated by commas. */
function numbers(text: string, count: number): number[] | undefined {
  const parts = text.split(",").map((part) => part.trim());
  return parts.length === count && parts.every((part) => /^\d{1,12}(\.\d{1,9})?$/.test(part))
    ? parts.map(Number)
    : undefined;
}

/** ISO weekdays of a list such as `mon-fri,sun`. */
function weekdays(text: string): number[] | undefined {
  const days = text
    .toLowerCase()
    .split(",")
    .flatMap((part) => {
      const [first = "", last = first, ...extra] = part.split("-");
      const [from, to] = [DAYS.indexOf(first), DAYS.indexOf(last)];
      if (from < 0 || to < from || extra.length > 0) return [0];
      return Array.from({ length: to - from + 1 }, (_, index) => from + index + 1);
    });
  return days.includes(0) ? undefined : [...new Set(days)].sort();
}
