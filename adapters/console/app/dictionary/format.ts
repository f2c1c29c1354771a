import { dateFormat, numberFormat, relativeFormat } from "./formatters.ts";

const UNITS: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
  ["second", 1_000],
];
/** From this distance, a date is shown instead of a relative time, ms. */
const RELATIVE_MS = 7 * 86_400_000;

/** An RFC 3339 time as a date and a time of day, in the browser's time zone. */
export function formatTime(at: string): string {
  return dateFormat({ dateStyle: "medium", timeStyle: "short" }).format(new Date(at));
}

/** The time of day with seconds, without the date. */
export function formatClock(at: string): string {
  return dateFormat({ timeStyle: "medium" }).format(new Date(at));
}

/** The date alone. @param day an RFC 3339 time, or a UTC day such as 2026-11-27 */
export function formatDay(day: string, style: "medium" | "short" = "medium"): string {
  const timeZone = day.length === 10 ? { timeZone: "UTC" } : {};
  const parts =
    style === "medium" ? { dateStyle: "medium" as const } : { day: "numeric" as const, month: "short" as const };
  return dateFormat({ ...parts, ...timeZone }).format(new Date(day));
}

/** "5 minutes ago", "in 3 days"; a date beyond a week. @param now ms since 1970-01-01 UTC */
export function formatRelative(at: string, now: number = Date.now()): string {
  const ms = Date.parse(at) - now;
  if (Math.abs(ms) >= RELATIVE_MS) return formatDay(at);
  const [unit, size] = UNITS.find(([, size]) => Math.abs(ms) >= size) ?? (["second", 1_000] as const);
  return relativeFormat({ numeric: "auto" }).format(Math.round(ms / size), unit);
}

/** A duration in clock format: 1:05, 1:02:03. */
export function formatDuration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000));
  const parts = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60];
  const [hours, ...rest] = parts;
  const [first = 0, ...others] = hours ? parts : rest;
  return [String(first), ...others.map((part) => String(part).padStart(2, "0"))].join(":");
}

/** A time span in the largest unit that fits: 90 minutes, 2 hours. */
export function formatSpan(ms: number): string {
  const [unit, size] = UNITS.find(([, size]) => ms >= size && ms % size === 0) ?? (["second", 1_000] as const);
  return formatNumber(ms / size, { style: "unit", unit, unitDisplay: "long", maximumFractionDigits: 1 });
}

export function formatNumber(value: number, options: Intl.NumberFormatOptions = {}): string {
  return numberFormat(options).format(value);
}
