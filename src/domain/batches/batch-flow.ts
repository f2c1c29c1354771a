import type { Call } from "../calls/call.ts";
import { type CompletedReason, type FailedReason, UNANSWERED_REASONS } from "../calls/outcome.ts";
import { BLOCKED_REASONS } from "../dialling-rules/number-protection.ts";
import type { CircuitBreaker, TargetResult, TargetStatus } from "./batch.ts";
import { nextAttemptAt, type RetryPolicy } from "./retry.ts";

/** Decision about a target whose call has ended. */
export type TargetDecision =
  /** The target is called again at `at`, ms since 1970-01-01 UTC. `isCounted`: true if its call is an attempt. */
  | { readonly do: "call_again"; readonly at: number; readonly isCounted: boolean }
  | { readonly do: "end"; readonly status: Extract<TargetStatus, "COMPLETED" | "FAILED"> };

/** Outcomes of calls that were never dialled because of their instance; another call is placed for their target. */
const UNDIALLED_REASONS: readonly string[] = [
  "instance_offline",
  "instance_not_linked",
  "instance_paused",
  "instance_deleted",
  "outside_calling_hours",
] satisfies FailedReason[];
/** Delay before the next call of a target whose call was not dialled, ms. */
export const UNDIALLED_WAIT_MS = 30_000;

/** Decides about a target after a call. @param call a final call */
export function afterCall(
  retry: RetryPolicy | undefined,
  call: Pick<Call, "status" | "outcome" | "endedAt" | "dialingAt" | "batchAttempt">,
): TargetDecision {
  const { status, outcome, dialingAt, batchAttempt = 1 } = call;
  const endedAt = call.endedAt ?? 0;
  if (!outcome) return { do: "end", status: "FAILED" };
  if (dialingAt === null && UNDIALLED_REASONS.includes(outcome.reason))
    return { do: "call_again", at: endedAt + UNDIALLED_WAIT_MS, isCounted: false };
  const at = nextAttemptAt(retry, batchAttempt, outcome, endedAt);
  if (at !== undefined) return { do: "call_again", at, isCounted: true };
  return { do: "end", status: status === "COMPLETED" ? "COMPLETED" : "FAILED" };
}

/** The result of a target's last call. */
export function targetResult({ outcome, startedAt, endedAt, result }: Call): TargetResult | undefined {
  if (!outcome) return undefined;
  const { reason, detail, answeredBy, heardMs, heardRatio, heardEvidence, durationMs } = outcome;
  const heard = { heardMs, heardRatio, heardEvidence: heardEvidence ?? null };
  const times = { durationMs, startedAt, endedAt: endedAt ?? 0 };
  return { reason, detail, answeredBy, ...heard, ...times, ...(result && { result }) };
}

/** Outcomes that do not indicate a fault: they were decided by the callee, number protection or a user. */
const FAULTLESS_REASONS: readonly string[] = [
  ...UNANSWERED_REASONS,
  ...BLOCKED_REASONS,
  "terminated",
  "number_invalid",
  "unreachable",
] satisfies FailedReason[];

/** Counts the reasons of a batch's last calls, and opens if one of them is too frequent. */
export class BreakerCount {
  readonly #breaker: CircuitBreaker;
  readonly #reasons: (CompletedReason | FailedReason)[] = [];

  constructor(breaker: CircuitBreaker) {
    this.#breaker = breaker;
  }

  /** Adds the end of a call. Returns the reason for a pause, as a sentence; undefined if there is none. */
  add(status: Call["status"], reason: CompletedReason | FailedReason): string | undefined {
    this.#reasons.push(reason);
    if (this.#reasons.length > this.#breaker.calls) this.#reasons.shift();
    if (status !== "FAILED" || FAULTLESS_REASONS.includes(reason) || this.#reasons.length < this.#breaker.calls)
      return undefined;
    const count = this.#reasons.filter((other) => other === reason).length;
    if (count < this.#breaker.share * this.#breaker.calls) return undefined;
    return `${count} of the last ${this.#breaker.calls} calls failed as ${reason}`;
  }

  /** Resets the counts when the batch resumes. */
  reset(): void {
    this.#reasons.length = 0;
  }
}
