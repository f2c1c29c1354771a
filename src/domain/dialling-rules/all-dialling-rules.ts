import { answerRatePause, refusalPause } from "./answer-rate.ts";
import { callingHoursBlock, MAX_POSTPONEMENT_MS, nextCallingTime } from "./calling-hours.ts";
import type { ConsentStatus } from "./consent.ts";
import type { DialHistory } from "./dial-history.ts";
import type { Block, NumberProtection, Pause } from "./number-protection.ts";
import { paceDelayMs } from "./pace.ts";
import { warmUpPause } from "./warm-up.ts";

/** Facts about the callee of a call. */
export interface DialledCallee {
  readonly phone: string;
  /** Undefined if none is recorded. */
  readonly consent: ConsentStatus | undefined;
  /** Every time zone that the number may be in; needed only with calling hours. */
  readonly zones: readonly string[];
}

/** Decision about a waiting call. */
export type DialDecision =
  | { readonly do: "dial" }
  | ({ readonly do: "wait" } & Pause)
  /** The queue skips this call until then, ms since 1970-01-01 UTC; its other calls may be dialled. */
  | { readonly do: "postpone"; readonly until: number }
  | ({ readonly do: "block" } & Block);

/** Interval between checks for the outcome of the first call after a pause, ms. */
const TRIAL_CHECK_MS = 1_000;

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
      ? postponeOrBlock(protection, callee, block, { now, waitsUntil })
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

/** Postpones the call until its calling hours begin, unless its time in the queue ends first. */
function postponeOrBlock(
  { callingHours }: NumberProtection,
  { zones }: DialledCallee,
  block: Block,
  { now, waitsUntil }: { readonly now: number; readonly waitsUntil: number },
): DialDecision {
  const beginning = callingHours ? nextCallingTime(callingHours, zones, now) : undefined;
  if (beginning === undefined) return { do: "block", ...block };
  if (beginning <= waitsUntil) return { do: "postpone", until: Math.min(beginning, now + MAX_POSTPONEMENT_MS) };
  const times = `the hours begin at ${new Date(beginning).toISOString()}, and the call expires at ${new Date(waitsUntil).toISOString()}`;
  return { do: "block", reason: block.reason, detail: `${block.detail}; ${times}` };
}

/** The consent that applies, among those for all formats of one number. */
export function applicableConsent(statuses: readonly ConsentStatus[]): ConsentStatus | undefined {
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

/** End of the time during which the instance dials no number; undefined: it may dial. */
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
