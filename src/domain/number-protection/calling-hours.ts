import type { Block, CallingHours } from "./number-protection.ts";

/** The time in a place, as its clocks show it. */
export interface LocalTime {
  /** 1 Monday to 7 Sunday. */
  readonly weekday: number;
  /** Minutes since midnight. */
  readonly minute: number;
}

const WEEKDAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

/**
 * Reason why a number is not called at this time; undefined if the hour is allowed in every zone that the number may be in.
 * @param zones IANA names; without any, no hour counts as allowed
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
    const local = localTime(zone, now);
    if (isWithin(hours, local)) continue;
    const day = hours.days ? `${WEEKDAYS[local.weekday - 1]} ` : "";
    const place = zones.length === 1 ? "" : `, one of ${zones.length} time zones in which ${phone} may be`;
    return { reason, detail: `it is ${day}${formatMinute(local.minute)} in ${zone}${place}, and ${rule} there` };
  }
  return undefined;
}

/** True if a time is within the hours. */
export function isWithin({ from, until, days }: CallingHours, { weekday, minute }: LocalTime): boolean {
  return (!days || days.includes(weekday)) && minute >= minuteOf(from) && minute < minuteOf(until);
}

/** The time in a zone, daylight saving included. */
export function localTime(zone: string, at: number): LocalTime {
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone: zone,
    weekday: "long",
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
  });
  const parts = new Map(format.formatToParts(at).map(({ type, value }) => [type, value]));
  return {
    weekday: WEEKDAYS.indexOf(parts.get("weekday") ?? "") + 1,
    minute: Number(parts.get("hour")) * 60 + Number(parts.get("minute")),
  };
}

/** Minutes since midnight of `HH:MM`; NaN for anything else than `00:00` to `24:00`. */
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
