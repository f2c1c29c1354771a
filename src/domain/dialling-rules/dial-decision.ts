import { callingHoursBlock, MAX_POSTPONEMENT_MS, nextWithin } from "./calling-hours.ts";
import type { ConsentStatus } from "./consent.ts";
import type { AnswerRateFloor, Block, NumberProtection, Pause, RefusalLimit, WarmUp } from "./number-protection.ts";

/** A call of the instance that was dialled. Times are ms since 1970-01-01 UTC. */
export interface DialRecord {
  readonly callId: string;
  readonly at: number;
  /** Null while the call continues. */
  readonly endedAt: number | null;
  readonly answered: boolean;
  /** The network has refused it because of its number: see `isNumberRefused`. Default: false. */
  readonly refused?: boolean | undefined;
}

/** Facts about the callee of a call. */
export interface DialledCallee {
  readonly phone: string;
  /** Undefined if none is recorded. */
  readonly consent: ConsentStatus | undefined;
  /** Every time zone that the number may be in; needed only with calling hours. */
  readonly zones: readonly string[];
}

/** Facts about the dials of an instance. */
export interface DialHistory {
  /** Time at which its number was linked, ms since 1970-01-01 UTC. */
  readonly linkedAt: number;
  /** Its dials that count for the warm-up, the refusals and the pace, newest first. */
  readonly history: readonly DialRecord[];
  /** The dials that the answer rate counts, newest first: see `UNANSWERED_REASONS`. Default: `history`. */
  readonly reachedDials?: readonly DialRecord[] | undefined;
  /** Time since the last dial, ms; undefined if there was none. */
  readonly sinceLastDialMs: number | undefined;
  /** Chosen at random for the interval after the last dial, 0 to 1. */
  readonly chance: number;
  /** Times at which its live calls were dialled. Default: none is live. */
  readonly liveDials?: readonly number[] | undefined;
}

/** Decision about a waiting call. */
export type DialDecision =
  | { readonly do: "dial" }
  | ({ readonly do: "wait" } & Pause)
  /** The queue skips this call until then, ms since 1970-01-01 UTC; its other calls may be dialled. */
  | { readonly do: "postpone"; readonly until: number }
  | ({ readonly do: "block" } & Block);

export const DAY_MS = 86_400_000;

/** Interval between checks for the outcome of the call after a pause, ms. */
const TRIAL_CHECK_MS = 1_000;

/** Maximum number of dials to skip in the search for dials that the answer rate counts. */
export const MAX_UNREACHED = 200;

/** Decides about the next call of an instance. @param waitsUntil end of its time in the queue */
export function decideDial(
  protection: NumberProtection,
  callee: DialledCallee,
  history: DialHistory,
  { now, waitsUntil }: { readonly now: number; readonly waitsUntil: number },
): DialDecision {
  const block = calleeBlock(protection, callee, now);
  if (block)
    return mayBegin(protection, block)
      ? postponed(protection, callee, block, { now, waitsUntil })
      : { do: "block", ...block };
  const pause = instancePause(protection, history, now);
  if (pause && pause.until > waitsUntil) return { do: "block", reason: "instance_paused", detail: pause.reason };
  if (pause) return { do: "wait", ...pause };
  if (isTrialLive(protection, history, now))
    return {
      do: "wait",
      until: now + TRIAL_CHECK_MS,
      reason: "the outcome of the call after a pause is not known yet",
    };
  const delayMs = paceDelayMs(protection, history);
  if (delayMs > 0)
    return { do: "wait", until: now + delayMs, reason: `calls are dialled ${protection.paceMs} ms apart` };
  return { do: "dial" };
}

/** True if the callee may be called later, when the calling hours begin. */
export function mayBegin({ outsideHours = "wait" }: NumberProtection, { reason }: Block): boolean {
  return reason === "outside_calling_hours" && outsideHours === "wait";
}

/** The call waits until its calling hours begin, unless its time in the queue ends before. */
function postponed(
  { callingHours }: NumberProtection,
  { zones }: DialledCallee,
  block: Block,
  { now, waitsUntil }: { readonly now: number; readonly waitsUntil: number },
): DialDecision {
  const beginning = callingHours ? nextWithin(callingHours, zones, now) : undefined;
  if (beginning === undefined) return { do: "block", ...block };
  if (beginning <= waitsUntil) return { do: "postpone", until: Math.min(beginning, now + MAX_POSTPONEMENT_MS) };
  const times = `the hours begin at ${time(beginning)}, and the call expires at ${time(waitsUntil)}`;
  return { do: "block", reason: block.reason, detail: `${block.detail}; ${times}` };
}

/** The consent that applies, of those for all forms of one number. */
export function consentAmong(statuses: readonly ConsentStatus[]): ConsentStatus | undefined {
  return statuses.includes("do_not_call") ? "do_not_call" : statuses[0];
}

/** Reason why this number is not called now; undefined if it may be. */
export function calleeBlock(
  { requireConsent, callingHours }: NumberProtection,
  { phone, consent, zones }: DialledCallee,
  now: number,
): Block | undefined {
  if (consent === "do_not_call")
    return { reason: "blocked_do_not_call", detail: `${phone} is recorded as a number that must not be called` };
  if (requireConsent && consent !== "granted")
    return {
      reason: "blocked_no_consent",
      detail: `no consent for ${phone} is recorded, and only numbers with one are called`,
    };
  return callingHours ? callingHoursBlock(callingHours, phone, zones, now) : undefined;
}

/** End of the time in which the instance dials no number; undefined: it may dial. */
export function instancePause(
  { answerRate, refusals, warmUp }: NumberProtection,
  { history, reachedDials = history, linkedAt }: Pick<DialHistory, "history" | "reachedDials" | "linkedAt">,
  now: number,
): Pause | undefined {
  const answerPause = answerRate ? answerRatePause(answerRate, reachedDials, now) : undefined;
  const curvePause = warmUp ? warmUpPause(warmUp, history, linkedAt, now) : undefined;
  const refusedPause = refusals ? refusalPause(refusals, history, now) : undefined;
  const pauses = [answerPause, refusedPause, curvePause].filter((pause) => pause !== undefined && pause.until > now);
  return pauses.sort((a, b) => (b?.until ?? 0) - (a?.until ?? 0))[0];
}

/** True if the one call that was dialled after a pause for the answer rate, or for refusals, has no outcome yet. */
function isTrialLive(
  { answerRate, refusals }: NumberProtection,
  { history, reachedDials = history, liveDials = [] }: DialHistory,
  now: number,
): boolean {
  if (liveDials.length === 0) return false;
  const pauses = [
    answerRate && answerRatePause(answerRate, reachedDials, now),
    refusals && refusalPause(refusals, history, now),
  ];
  return pauses.some((pause) => pause && liveDials.some((at) => at >= pause.until));
}

/** Time for which the pace delays the next dial, ms. */
export function paceDelayMs(
  { paceMs = 0, paceJitter = 0 }: NumberProtection,
  { sinceLastDialMs, chance }: Pick<DialHistory, "sinceLastDialMs" | "chance">,
): number {
  if (sinceLastDialMs === undefined) return 0;
  return Math.max(0, Math.ceil(paceMs * (1 + paceJitter * chance)) - sinceLastDialMs);
}

function answerRatePause(
  { floor, calls, pauseMs }: AnswerRateFloor,
  history: readonly DialRecord[],
  now: number,
): Pause | undefined {
  // A dial in the future was recorded by a fast clock, and would count as the last one until then.
  const [lastDial, ...earlierDials] = history.filter(({ at }) => at <= now).slice(0, calls);
  if (!lastDial || earlierDials.length + 1 < calls) return undefined;
  const answeredCount = [lastDial, ...earlierDials].filter((dial) => dial.answered).length;
  if (answeredCount >= floor * calls) return undefined;
  const until = Math.min(lastDial.endedAt ?? lastDial.at, now) + pauseMs;
  const reason = `${answeredCount} of the last ${calls} calls were answered, fewer than ${percent(floor)}: the next one is dialled from ${time(until)}`;
  return { until, reason };
}

function refusalPause(
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
    reason: `the network has refused the last ${calls} calls: the next one is dialled from ${time(until)}`,
  };
}

function warmUpPause(warmUp: WarmUp, history: readonly DialRecord[], linkedAt: number, now: number): Pause | undefined {
  const day = warmUpDay(linkedAt, now);
  const limit = warmUpLimit(warmUp, day);
  // After the clock was set back, dials may be in the future. Those more than a day ahead do not count.
  const countedDials = history.filter(({ at }) => at <= now + DAY_MS);
  if (countedDials.filter(({ at }) => at > now - DAY_MS).length < limit) return undefined;
  const until = nextWithinCurve(warmUp, countedDials, linkedAt, day);
  const reason = `${limit} calls were dialled in 24 hours, as many as this number may place on day ${day + 1} of ${warmUp.days} after its linking: the next one is dialled from ${time(until)}`;
  return { until, reason };
}

/** Time at which the limit of this day, or of a later one, allows the next call. */
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

function percent(share: number): string {
  return `${Math.round(share * 1_000) / 10} %`;
}

function time(at: number): string {
  return new Date(at).toISOString();
}
