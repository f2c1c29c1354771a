import type { CompletedReason, FailedReason, Outcome } from "../calls/outcome.ts";

/**
 * Outcomes of a call after which a target may be called again: reasons of failed calls, and `machine` for a machine
 * that answered.
 */
export const RETRY_REASONS = [
  "busy",
  "no_answer",
  "declined",
  "unreachable",
  "rejected_by_network",
  "media_failed",
  "speech_failed",
  "agent_failed",
  "interrupted",
  "machine",
] as const satisfies readonly (FailedReason | "machine")[];
/** One of {@link RETRY_REASONS}. */
export type RetryReason = (typeof RETRY_REASONS)[number];

/** Conditions on which a target is called again. */
export interface RetryPolicy {
  readonly on: readonly RetryReason[];
  /** Maximum number of calls after the first, 1 to 20. */
  readonly times: number;
  /**
   * Time from the end of a call to the next call, ms; `factor` times as long after each further call, at most `maxMs`.
   */
  readonly backoff: { readonly firstMs: number; readonly factor: number; readonly maxMs: number };
}

/** The retry reason of an outcome; undefined if it never leads to another call. */
export function retryReason({ reason, answeredBy }: Pick<Outcome, "reason" | "answeredBy">): RetryReason | undefined {
  if (answeredBy === "machine" || answeredBy === "fax") return "machine";
  return RETRY_REASONS.find((name) => name === (reason satisfies CompletedReason | FailedReason));
}

/**
 * Time of a target's next call, ms since 1970-01-01 UTC; undefined if there is none.
 * @param attempts number of calls so far, including the call that has just ended
 * @param endedAt end of the last call, ms since 1970-01-01 UTC
 */
export function nextAttemptAt(
  policy: RetryPolicy | undefined,
  attempts: number,
  outcome: Pick<Outcome, "reason" | "answeredBy">,
  endedAt: number,
): number | undefined {
  const reason = retryReason(outcome);
  if (!policy || reason === undefined || !policy.on.includes(reason) || attempts > policy.times) return undefined;
  const { firstMs, factor, maxMs } = policy.backoff;
  return endedAt + Math.min(firstMs * factor ** (attempts - 1), maxMs);
}
