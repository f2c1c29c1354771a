import type { Block, CallingHours } from "./number-protection.ts";

/** Local time of a place. */
export interface LocalTime {
  /** Day of the week, from 1 (Monday) to 7 (Sunday). */
  readonly weekday: number;
  /** Minutes since midnight. */
  readonly minute: number;
}

const WEEKDAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

/**
 * Reason why a number is not called at this time; undefined if the hour is allowed in every zone that the number may be
 * in.
 * @param zones IANA names; without any, no hour is allowed
 */
export function callingHoursBlock(
  hours: CallingHours,
  phone: string,
  zones: readonly string[],
  now: number,
): Block | undefined {
  const reason = "outside_calling_hours";
  const rule = `calls are placed ${describeHours(hours)}`;
  if (zones.length === 0)
    return { reason, detail: `the time zone of ${phone} is unknown, and ${rule} in the callee's own` };
  for (const zone of zones) {
    const time = localTime(zone, now);
    if (isWithin(hours, time)) continue;
    const day = hours.days ? `${WEEKDAYS[time.weekday - 1]} ` : "";
    const place = zones.length === 1 ? "" : `, one of ${zones.length} time zones in which ${phone} may be`;
    return { reason, detail: `it is ${day}${formatMinute(time.minute)} in ${zone}${place}, and ${rule} there` };
  }
  return undefined;
}

/** True if a time is within the hours. */
export function isWithin({ from, until, days }: CallingHours, { weekday, minute }: LocalTime): boolean {
  return (!days || days.includes(weekday)) && minute >= minuteOf(from) && minute < minuteOf(until);
}

const MINUTE_MS = 60_000;
const DAY_MINUTES = 1_440;
/** Hours that never begin within this time never begin: a week, plus a day for clock changes, ms. */
const MAX_WAIT_MS = 8 * DAY_MINUTES * MINUTE_MS;
/**
 * Maximum time by which a call is postponed in one step, ms. Then the call is checked again, and so is a call that
 * seems postponed for longer: the clock may have been changed.
 */
export const MAX_POSTPONEMENT_MS = 6 * 60 * MINUTE_MS;

/**
 * The earliest time, `at` or later, that is within the hours in every zone, ms since 1970-01-01 UTC: `at` itself, or
 * the start of a minute. Undefined if there is none within eight days, and without zones.
 * @param zones IANA names
 */
export function nextCallingTime(hours: CallingHours, zones: readonly string[], at: number): number | undefined {
  if (zones.length === 0) return undefined;
  let next = at;
  while (next <= at + MAX_WAIT_MS) {
    const closedZone = zones.find((zone) => !isWithin(hours, localTime(zone, next)));
    if (closedZone === undefined) return next;
    next = nextOpening(hours, closedZone, next);
  }
  return undefined;
}

/** The earliest time after `at` at which the hours may begin in a zone. */
function nextOpening(hours: CallingHours, zone: string, at: number): number {
  const minuteStart = at - (at % MINUTE_MS);
  const { minute, weekday } = localTime(zone, at);
  const opening = minuteOf(hours.from);
  const isToday = minute < opening && (!hours.days || hours.days.includes(weekday));
  const minutes = isToday ? opening - minute : DAY_MINUTES - minute;
  const expected = minuteStart + minutes * MINUTE_MS;
  const expectedTime = localTime(zone, expected);
  const expectedMinute = isToday ? opening : 0;
  if (expectedTime.minute === expectedMinute) return expected;
  // The clock changes in between. If it is set back, hours that have ended may apply again.
  for (let time = minuteStart + MINUTE_MS; time < expected; time += MINUTE_MS) {
    const localAtTime = localTime(zone, time);
    if (isWithin(hours, localAtTime) || (!isToday && localAtTime.weekday !== weekday)) return time;
  }
  return expected;
}

const FORMATS = new Map<string, Intl.DateTimeFormat>();

/** The time in a zone, daylight saving included. */
export function localTime(zone: string, at: number): LocalTime {
  const parts = formatOf(zone).formatToParts(at);
  const value = (type: Intl.DateTimeFormatPartTypes): string => parts.find((part) => part.type === type)?.value ?? "";
  return {
    weekday: WEEKDAYS.indexOf(value("weekday")) + 1,
    minute: Number(value("hour")) * 60 + Number(value("minute")),
  };
}

/** The format of a zone; creating one takes longer than using it. */
function formatOf(zone: string): Intl.DateTimeFormat {
  let format = FORMATS.get(zone);
  if (!format) {
    const parts = { weekday: "long", hour: "2-digit", minute: "2-digit", hourCycle: "h23" } as const;
    format = new Intl.DateTimeFormat("en-US", { timeZone: zone, ...parts });
    FORMATS.set(zone, format);
  }
  return format;
}

/** Minutes since midnight of `HH:MM`; NaN for anything but `00:00` to `24:00`. */
export function minuteOf(text: string): number {
  const [, hour, minute] = /^([01]\d|2[0-4]):([0-5]\d)$/.exec(text) ?? [];
  const minutes = Number(hour) * 60 + Number(minute);
  return minutes > 1_440 ? Number.NaN : minutes;
}

function describeHours({ from, until, days }: CallingHours): string {
  const weekdays = days ? ` on ${days.map((day) => WEEKDAYS[day - 1]).join(", ")}` : "";
  return `from ${from} to ${until}${weekdays}`;
}

function formatMinute(minute: number): string {
  return [Math.floor(minute / 60), minute % 60].map((part) => String(part).padStart(2, "0")).join(":");
}
