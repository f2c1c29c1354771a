import { UsageError } from "../usage-error.ts";

/** Ways to write a time, for help and errors. */
export const TIME_FORMS = '"tomorrow 10:00", "today 18:30", "10:00", "+2h", or ISO 8601 such as 2026-12-01T10:00-03:00';

const UNITS: ReadonlyMap<string, number> = new Map([
  ["s", 1_000],
  ["m", 60_000],
  ["h", 3_600_000],
  ["d", 86_400_000],
]);
const DURATION = /^\+?(\d{1,6})\s*(s|m|h|d)$/i;
const CLOCK = /^(?:(today|tomorrow)\s+)?(\d{1,2}):(\d{2})$/i;
const ISO = /^(\d{4})-(\d{2})-(\d{2})[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.\d{1,9})?)?\s*(Z|[+-]\d{2}:?\d{2})?$/i;

/** A duration such as `15m`, ms. @throws {UsageError} */
export function durationMs(option: string, text: string): number {
  const [, count, unit = ""] = DURATION.exec(text.trim()) ?? [];
  const unitMs = UNITS.get(unit.toLowerCase());
  if (count === undefined || unitMs === undefined || Number(count) === 0)
    throw new UsageError(`${option} is "${text}": it must be a number with s, m, h or d, such as 15m`);
  return Number(count) * unitMs;
}

/**
 * Parses a time as people write it, in this machine's zone; returns ms since 1970-01-01 UTC.
 * @param from a time of day without a date is the first one after this time
 * @throws {UsageError} the time cannot be parsed, does not exist, or has passed
 */
export function timeOf(option: string, text: string, now: number, from: number = now): number {
  const time = parsed(option, text.trim(), now, from);
  if (time > now) return time;
  throw new UsageError(`${option} is "${text}", which is ${localTimeText(time)}: it must be later than now`);
}

function parsed(option: string, text: string, now: number, from: number): number {
  if (text.startsWith("+")) return from + durationMs(option, text);
  const clock = CLOCK.exec(text);
  if (clock) return clockTime(option, text, clock, now, from);
  const iso = ISO.exec(text);
  if (!iso) throw new UsageError(`${option} is "${text}": it must be ${TIME_FORMS}`);
  const [, year, month, day, hour, minute, second = "0", zone] = iso;
  const fields = [year, month, day, hour, minute, second].map(Number) as Fields;
  if (zone === undefined) return localDate(option, text, fields);
  assertDate(option, text, fields);
  const offset = zone.replace(/^([+-]\d{2})(\d{2})$/, "$1:$2");
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second.padStart(2, "0")}${offset}`);
}

type Fields = [year: number, month: number, day: number, hour: number, minute: number, second: number];

function clockTime(option: string, text: string, match: RegExpExecArray, now: number, from: number): number {
  const [, day, hour, minute] = match;
  const start = new Date(day === undefined ? from : now);
  const onDay = (days: number): number => {
    const date = new Date(start.getFullYear(), start.getMonth(), start.getDate() + days);
    const fields = [date.getFullYear(), date.getMonth() + 1, date.getDate(), Number(hour), Number(minute), 0];
    return localDate(option, text, fields as Fields);
  };
  if (day !== undefined) return onDay(day.toLowerCase() === "tomorrow" ? 1 : 0);
  const today = onDay(0);
  return today > from ? today : onDay(1);
}

function localDate(option: string, text: string, fields: Fields): number {
  assertDate(option, text, fields);
  const [year, month, day, hour, minute, second] = fields;
  const date = new Date(year, month - 1, day, hour, minute, second);
  if (date.getHours() === hour && date.getMinutes() === minute) return date.getTime();
  throw new UsageError(
    `${option} is "${text}": there is no such time in ${zoneName()} on that day, because clocks are set forward; choose a later one`,
  );
}

function assertDate(option: string, text: string, [year, month, day, hour, minute, second]: Fields): void {
  const date = new Date(Date.UTC(year, month - 1, day));
  const isDate = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  if (isDate && hour < 24 && minute < 60 && second < 60) return;
  throw new UsageError(`${option} is "${text}": there is no such date or time; write it as ${TIME_FORMS}`);
}

/** This machine's time zone. */
export function zoneName(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** A time with date and offset, in this machine's zone: `Tue 2026-12-01 10:00 -03:00`. */
export function localTimeText(time: number): string {
  const date = new Date(time);
  const twoDigits = (value: number): string => String(Math.trunc(Math.abs(value))).padStart(2, "0");
  const weekday = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"][date.getDay()];
  const day = `${date.getFullYear()}-${twoDigits(date.getMonth() + 1)}-${twoDigits(date.getDate())}`;
  const offset = -date.getTimezoneOffset();
  const seconds = date.getSeconds() === 0 ? "" : `:${twoDigits(date.getSeconds())}`;
  const clock = `${twoDigits(date.getHours())}:${twoDigits(date.getMinutes())}${seconds}`;
  return `${weekday} ${day} ${clock} ${offset < 0 ? "-" : "+"}${twoDigits(offset / 60)}:${twoDigits(offset % 60)}`;
}
