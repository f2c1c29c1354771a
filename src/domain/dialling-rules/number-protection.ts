/**
 * Protection of an instance's number from bans and complaints: limits that the queue applies before a call is dialled.
 * A missing limit is up to the network; a limit that the network does not set either is off.
 */
export interface NumberProtection {
  /** Minimum time between two dials of one instance, ms; 0 is off. */
  readonly paceMs?: number | undefined;
  /** Maximum random share by which each interval is lengthened, 0 to 1. */
  readonly paceJitter?: number | undefined;
  /** Number of calls a newly linked number may place in 24 hours; `false` is off. */
  readonly warmUp?: WarmUp | false | undefined;
  /** Pauses an instance whose calls are rarely answered; `false` is off. */
  readonly answerRate?: AnswerRateFloor | false | undefined;
  /** Pauses an instance after several consecutive refusals by the network; `false` is off. */
  readonly refusals?: RefusalLimit | false | undefined;
  /** True if only numbers with a recorded consent are called. */
  readonly requireConsent?: boolean | undefined;
  /** Calls are placed only at these hours, in the callee's own time zone; `false` is off. */
  readonly callingHours?: CallingHours | false | undefined;
  /**
   * Calls outside the calling hours: `wait` in their queue until the hours begin, or `fail` at once. Default: `wait`.
   */
  readonly outsideHours?: OutsideHours | undefined;
}

/** Ways to treat a call outside the calling hours. */
export const OUTSIDE_HOURS = ["wait", "fail"] as const;
/** One of {@link OUTSIDE_HOURS}. */
export type OutsideHours = (typeof OUTSIDE_HOURS)[number];

/**
 * Calls per 24 hours: `firstDay` on the first day after the linking, `growth` times as many on each further day, no
 * limit after `days`.
 */
export interface WarmUp {
  readonly firstDay: number;
  readonly growth: number;
  readonly days: number;
}

/**
 * At least the share `floor` (0 to 1) of the last `calls` calls must have been answered; otherwise the instance pauses
 * for `pauseMs`.
 */
export interface AnswerRateFloor {
  readonly floor: number;
  readonly calls: number;
  readonly pauseMs: number;
}

/**
 * If the network has refused the last `calls` calls because of their number, the instance pauses for `pauseMs`, counted
 * from the end of the last call.
 */
export interface RefusalLimit {
  readonly calls: number;
  readonly pauseMs: number;
}

/** Local times of the callee, `HH:MM`, and ISO weekdays (1 Monday to 7 Sunday; default: every day). */
export interface CallingHours {
  /** The first minute of the calling hours, `00:00` to `23:59`. */
  readonly from: string;
  /** The first minute after the calling hours, later than `from`; at most `24:00`. */
  readonly until: string;
  readonly days?: readonly number[] | undefined;
}

/** Reasons for the end of a call that was never dialled. */
export const BLOCKED_REASONS = [
  "blocked_no_consent",
  "blocked_do_not_call",
  "outside_calling_hours",
  "instance_paused",
] as const;

/** Reason why number protection ends a call. */
export type BlockedReason = (typeof BLOCKED_REASONS)[number];

/** A call that must not be dialled; the detail names the rule and its numbers. */
export interface Block {
  readonly reason: BlockedReason;
  readonly detail: string;
}

/** End of the time during which an instance dials no number, ms since 1970-01-01 UTC, and the reason. */
export interface Pause {
  readonly until: number;
  readonly reason: string;
}

const FIELDS = [
  "paceMs",
  "paceJitter",
  "warmUp",
  "answerRate",
  "refusals",
  "requireConsent",
  "callingHours",
  "outsideHours",
] as const;

/** The protection in force: each field as chosen by the operator, otherwise by the network. */
export function protectionInForce(operator: NumberProtection, network: NumberProtection = {}): NumberProtection {
  return Object.fromEntries(FIELDS.map((field) => [field, operator[field] ?? network[field]]));
}
