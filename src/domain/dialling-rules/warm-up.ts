import type { DialRecord } from "./dial-history.ts";
import type { Pause, WarmUp } from "./number-protection.ts";

export const DAY_MS = 86_400_000;

/** Pause until the warm-up curve allows the next call; undefined if there is none. */
export function warmUpPause(
  warmUp: WarmUp,
  history: readonly DialRecord[],
  linkedAt: number,
  now: number,
): Pause | undefined {
  const day = warmUpDay(linkedAt, now);
  const limit = warmUpLimit(warmUp, day);
  // If the clock was set back, dials may be in the future. Dials more than a day ahead do not count.
  const countedDials = history.filter(({ at }) => at <= now + DAY_MS);
  if (countedDials.filter(({ at }) => at > now - DAY_MS).length < limit) return undefined;
  const until = nextWithinCurve(warmUp, countedDials, linkedAt, day);
  const reason = `${limit} calls were dialled in 24 hours, as many as this number may place on day ${day + 1} of ${warmUp.days} after its linking: the next call is not dialled before ${new Date(until).toISOString()}`;
  return { until, reason };
}

/** Time at which the limit of this day, or of a later day, allows the next call. */
function nextWithinCurve(warmUp: WarmUp, history: readonly DialRecord[], linkedAt: number, today: number): number {
  for (let day = today; ; day++) {
    const dayStart = day === today ? 0 : linkedAt + day * DAY_MS;
    const limit = warmUpLimit(warmUp, day);
    const last = history[limit - 1];
    const at = Math.max(dayStart, last ? last.at + DAY_MS : 0);
    if (limit === Infinity || at < linkedAt + (day + 1) * DAY_MS) return at;
  }
}

/** Days since the linking, from 0. */
export function warmUpDay(linkedAt: number, now: number): number {
  return Math.max(0, Math.floor((now - linkedAt) / DAY_MS));
}

/** Number of calls a number may place within 24 hours; `Infinity` once it has warmed up. */
export function warmUpLimit({ firstDay, growth, days }: WarmUp, day: number): number {
  return day < days ? Math.floor(firstDay * growth ** day) : Infinity;
}
