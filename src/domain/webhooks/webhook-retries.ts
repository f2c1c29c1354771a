import type { WebhookDelivery } from "./webhook.ts";

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** Pauses between attempts, ms: the schedule that Standard Webhooks 1.0 recommends, after the immediate attempt. */
export const RETRY_PAUSES_MS: readonly number[] = [
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  24 * HOUR_MS,
];
/** Maximum jitter as a share of the pause, which spreads the retries of many events. */
const JITTER = 0.2;

/** Result of an attempt. */
export interface AttemptResult {
  /** Status code of the response; undefined without one. */
  readonly status?: number | undefined;
  /** Reason for the missing response. */
  readonly error?: string | undefined;
}

/** Changes that an attempt makes to its delivery. */
export type AttemptedDelivery = Pick<
  WebhookDelivery,
  "status" | "attempts" | "nextAttemptAt" | "lastAttemptAt" | "lastStatus" | "lastError"
>;

/** True if an endpoint has accepted a message. */
export function isAccepted(status: number | null): boolean {
  return status !== null && status >= 200 && status < 300;
}

/** True if the endpoint has asked for no further messages. */
export function isGone({ status }: AttemptResult): boolean {
  return status === 410;
}

/**
 * The delivery after an attempt. Only a 2xx is a success; a redirect is a failure.
 * @param chance 0 to 1, for the jitter
 */
export function afterAttempt(
  { attempts: previousAttempts }: Pick<WebhookDelivery, "attempts">,
  result: AttemptResult,
  now: number,
  chance: number,
): AttemptedDelivery {
  const attempts = previousAttempts + 1;
  const lastStatus = result.status ?? null;
  const attempt = { attempts, lastAttemptAt: now, lastStatus };
  if (isAccepted(lastStatus)) return { ...attempt, status: "delivered", nextAttemptAt: null, lastError: null };
  const lastError = result.error ?? refusalOf(lastStatus);
  const pause = isGone(result) ? undefined : RETRY_PAUSES_MS[attempts - 1];
  if (pause === undefined) return { ...attempt, status: "failed", nextAttemptAt: null, lastError };
  const nextAttemptAt = Math.round(now + pause * (1 + JITTER * chance));
  return { ...attempt, status: "pending", nextAttemptAt, lastError };
}

/** The longest pause after this number of attempts, ms; 0 before the first attempt. */
export function maxRetryPauseMs(attempts: number): number {
  return (RETRY_PAUSES_MS[attempts - 1] ?? 0) * (1 + JITTER);
}

/** Time from the first attempt to the last, ms, with room for slow attempts. */
export const MAX_RETRY_TIME_MS: number = 2 * RETRY_PAUSES_MS.reduce((sum, pause) => sum + pause, 0);

function refusalOf(status: number | null): string {
  if (status !== null && status >= 300 && status < 400)
    return `the endpoint responded with ${status}; redirects are not followed: use the final URL`;
  return `the endpoint responded with ${status}`;
}
