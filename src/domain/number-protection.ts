/**
 * How an instance's number is protected from being banned or complained about: limits that the queue keeps before anybody
 * is dialled. What is left out is off.
 */
export interface NumberProtection {
  /** Least time between two dials of one instance, ms. */
  readonly paceMs?: number | undefined;
  /** Each interval is longer by a random share up to this, 0 to 1. */
  readonly paceJitter?: number | undefined;
  /** How many calls a newly linked number may place in 24 hours. */
  readonly warmUp?: WarmUp | undefined;
  /** Pauses an instance whose calls are hardly answered. */
  readonly answerRate?: AnswerRateFloor | undefined;
  /** Only numbers whose consent is recorded are called. */
  readonly requireConsent?: boolean | undefined;
  /** Calls are placed only at these hours, in the callee's own time zone. */
  readonly callingHours?: CallingHours | undefined;
}

/** Calls per 24 hours: `firstDay` on the first day after the linking, `growth` times as many on each further day, no limit after `days`. */
export interface WarmUp {
  readonly firstDay: number;
  readonly growth: number;
  readonly days: number;
}

/** Of the last `calls` calls at least the share `floor` (0 to 1) must have been answered, else the instance pauses for `pauseMs`. */
export interface AnswerRateFloor {
  readonly floor: number;
  readonly calls: number;
  readonly pauseMs: number;
}

/** Local times of the callee, `HH:MM`, and ISO weekdays (1 Monday to 7 Sunday; default: every day). */
export interface CallingHours {
  readonly from: string;
  readonly until: string;
  readonly days?: readonly number[] | undefined;
}
