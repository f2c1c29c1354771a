import type { DialRecord } from "./dial-history.ts";
import type { AnswerRateFloor, Pause, RefusalLimit } from "./number-protection.ts";

/** Pause after calls of which too few were answered; undefined if there is none. */
export function answerRatePause(
  { floor, calls, pauseMs }: AnswerRateFloor,
  history: readonly DialRecord[],
  now: number,
): Pause | undefined {
  // A dial in the future was recorded by a fast clock, and would remain the latest until then.
  const [lastDial, ...earlierDials] = history.filter(({ at }) => at <= now).slice(0, calls);
  if (!lastDial || earlierDials.length + 1 < calls) return undefined;
  const answeredCount = [lastDial, ...earlierDials].filter((dial) => dial.answered).length;
  if (answeredCount >= floor * calls) return undefined;
  const until = Math.min(lastDial.endedAt ?? lastDial.at, now) + pauseMs;
  const reason = `${answeredCount} of the last ${calls} calls were answered, fewer than ${Math.round(floor * 1_000) / 10} %: the next call is not dialled before ${new Date(until).toISOString()}`;
  return { until, reason };
}

/** Pause after calls that the network has refused; undefined if there is none. */
export function refusalPause(
  { calls, pauseMs }: RefusalLimit,
  history: readonly DialRecord[],
  now: number,
): Pause | undefined {
  const lastDials = history.filter(({ at }) => at <= now).slice(0, calls);
  const [newestDial] = lastDials;
  if (newestDial === undefined || lastDials.length < calls || !lastDials.every(({ refused }) => refused))
    return undefined;
  const until = Math.min(newestDial.endedAt ?? newestDial.at, now) + pauseMs;
  return {
    until,
    reason: `the network has refused the last ${calls} calls: the next call is not dialled before ${new Date(until).toISOString()}`,
  };
}
