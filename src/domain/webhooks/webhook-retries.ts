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
/** Largest share of a pause that is added to it, so that retries of many events spread. */
const JITTER = 0.2;

/** Result of an attempt. */
export interface AttemptResult {
  /** Status code of the response; undefined without one. */
  readonly status?: number | undefined;
  /** Reason for the missing response. */
  readonly error?: string | undefined;
}

/** Changes of an attempt to its delivery. */
export type AttemptedDelivery = Pick<
  WebhookDelivery,
  "status" | "attempts" | "nextAttemptAt" | "lastAttemptAt" | "lastStatus" | "lastError"
>;

/** True if an endpoint has accepted a message. */
export function isTaken(status: number | null): boolean {
  return status !== null && status >= 200 && status < 300;
}

/** True if the endpoint has asked to get no more messages. */
export function isGone({ status }: AttemptResult): boolean {
  return status === 410;
}

/**
 * The delivery after an attempt. Only a 2xx is a success; a redirect is a failure.
 * @param chance 0 to 1, for the jitter
 */
export function afterAttempt(
  { attempts: before }: Pick<WebhookDelivery, "attempts">,
  result: AttemptResult,
  now: number,
  chance: number,
): AttemptedDelivery {
  const attempts = before + 1;
  const lastStatus = result.status ?? null;
  const last = { attempts, lastAttemptAt: now, lastStatus };
  if (isTaken(lastStatus)) return { ...last, status: "delivered", nextAttemptAt: null, lastError: null };
  const lastError = result.error ?? refusalOf(lastStatus);
  const pause = isGone(result) ? undefined : RETRY_PAUSES_MS[attempts - 1];
  if (pause === undefined) return { ...last, status: "failed", nextAttemptAt: null, lastError };
  const nextAttemptAt = Math.round(now + pause * (1 + JITTER * chance));
  return { ...last, status: "pending", nextAttemptAt, lastError };
}

/** The longest pause after this number of attempts, ms; 0 before the first one. */
export function maxRetryPauseMs(attempts: number): number {
  return (RETRY_PAUSES_MS[attempts - 1] ?? 0) * (1 + JITTER);
}

/** Time from the first attempt to the last one, ms, with room for slow attempts. */
export const MAX_RETRIED_MS: number = 2 * RETRY_PAUSES_MS.reduce((sum, pause) => sum + pause, 0);

function refusalOf(status: number | null): string {
  if (status !== null && status >= 300 && status < 400)
    return `the endpoint answered ${status}; redirects are not followed, use the final URL`;
  return `the endpoint answered ${status}`;
}
