import { shown } from "../../base/shown.ts";
import { minuteOf } from "./calling-hours.ts";
import {
  type AnswerRateFloor,
  type CallingHours,
  type NumberProtection,
  OUTSIDE_HOURS,
  type RefusalLimit,
  type WarmUp,
} from "./number-protection.ts";
import { DAY_MS, warmUpLimit } from "./warm-up.ts";

/** Maximum number of calls that one day of a warm-up curve may allow. */
const MAX_CALLS = 10_000;
/** Maximum number of calls in an answer rate: they are read for each dial. */
const MAX_COUNTED = 1_000;

/**
 * Checks that the values of a protection are usable.
 * @param owner owner of the protection, for the message
 * @throws {RangeError} that names the value and the fix
 */
export function assertUsable(protection: NumberProtection, owner: string): void {
  const { paceMs, paceJitter, warmUp, answerRate, refusals, callingHours, outsideHours } = protection;
  const fault = [
    paceMs !== undefined && !isBetween(paceMs, 0, DAY_MS) && `paceMs is ${shown(paceMs)}: ${MS_RULE}`,
    paceJitter !== undefined &&
      !isBetween(paceJitter, 0, 1) &&
      `paceJitter is ${shown(paceJitter)}: it must be a share from 0 to 1`,
    warmUp && !isCurve(warmUp) && `warmUp is ${shown(warmUp)}: ${WARM_UP_RULE}`,
    answerRate && !isFloor(answerRate) && `answerRate is ${shown(answerRate)}: ${ANSWER_RATE_RULE}`,
    refusals && !isRefusalLimit(refusals) && `refusals is ${shown(refusals)}: ${REFUSALS_RULE}`,
    callingHours && !areValidHours(callingHours) && `callingHours is ${shown(callingHours)}: ${HOURS_RULE}`,
    outsideHours !== undefined &&
      !OUTSIDE_HOURS.includes(outsideHours) &&
      `outsideHours is ${shown(outsideHours)}: it must be "wait" or "fail"`,
  ].find((sentence) => typeof sentence === "string");
  if (fault) throw new RangeError(`${owner}: ${fault}`);
}

const MS_RULE = `it must be from 0 to ${DAY_MS} ms`;
const WARM_UP_RULE = `firstDay must be a whole number from 1, growth at least 1, days a whole number from 1 to 365, and the last day's limit at most ${MAX_CALLS}`;
const ANSWER_RATE_RULE = `floor must be a share above 0 and at most 1, calls a whole number from 1 to ${MAX_COUNTED}, pauseMs from 1 to ${7 * DAY_MS}`;
const REFUSALS_RULE = `calls must be a whole number from 1 to ${MAX_COUNTED}, pauseMs from 1 to ${7 * DAY_MS}`;
const HOURS_RULE =
  'from must be a time such as "08:00", until a later one, at most "24:00", and days a list of 1 (Monday) to 7 (Sunday)';

export function isCurve(warmUp: WarmUp): boolean {
  const { firstDay, growth, days } = warmUp;
  return (
    isWhole(firstDay, MAX_CALLS) &&
    isBetween(growth, 1, MAX_CALLS) &&
    isWhole(days, 365) &&
    warmUpLimit(warmUp, days - 1) <= MAX_CALLS
  );
}

export function isFloor({ floor, calls, pauseMs }: AnswerRateFloor): boolean {
  return isBetween(floor, 0, 1) && floor > 0 && isWhole(calls, MAX_COUNTED) && isBetween(pauseMs, 1, 7 * DAY_MS);
}

export function isRefusalLimit({ calls, pauseMs }: RefusalLimit): boolean {
  return isWhole(calls, MAX_COUNTED) && isBetween(pauseMs, 1, 7 * DAY_MS);
}

export function areValidHours({ from, until, days }: CallingHours): boolean {
  const weekdays = days ?? [1];
  return (
    minuteOf(String(from)) < minuteOf(String(until)) &&
    Array.isArray(weekdays) &&
    weekdays.length > 0 &&
    weekdays.every((day) => isWhole(day, 7))
  );
}

function isWhole(value: unknown, max: number): boolean {
  return Number.isSafeInteger(value) && isBetween(value, 1, max);
}

function isBetween(value: unknown, min: number, max: number): boolean {
  return typeof value === "number" && value >= min && value <= max;
}
