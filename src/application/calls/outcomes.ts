import type { Call, CallStatus } from "../../domain/call.ts";
import type { EventType } from "../../domain/events.ts";
import type { FailedReason, HeardEvidence, Outcome } from "../../domain/outcome.ts";
import { programOf } from "../call-audio/programs/program.ts";

/** An outcome in the words of the HTTP interface; ms, and shares from 0 to 1. */
export type OutcomeView = {
  readonly reason: Outcome["reason"];
  readonly detail: string | null;
  readonly answered_by: Outcome["answeredBy"];
  readonly heard_ms: number | null;
  readonly heard_ratio: number | null;
  readonly heard_evidence: HeardEvidence | null;
  readonly duration_ms: number;
};

/** An outcome as events and the HTTP interface show it. */
export function outcomeView(outcome: Outcome): OutcomeView {
  return {
    reason: outcome.reason,
    detail: outcome.detail,
    answered_by: outcome.answeredBy,
    heard_ms: outcome.heardMs,
    heard_ratio: outcome.heardRatio,
    heard_evidence: outcome.heardEvidence ?? null,
    duration_ms: outcome.durationMs,
  };
}

/** The `reference` of a call, in the data of its events. */
export function referenceData({ reference }: Pick<Call, "reference">): { readonly reference?: string } {
  return reference === undefined ? {} : { reference };
}

/** The data of the event that closes a timeline. */
export function finalData(
  call: Pick<Call, "reference">,
  outcome: Outcome,
): OutcomeView & { readonly reference?: string } {
  return { ...outcomeView(outcome), ...referenceData(call) };
}

/** The event that closes a timeline. */
export function finalEvent(status: CallStatus): EventType {
  return status === "COMPLETED" ? "completed" : "failed";
}

/** How a call turned out that failed without a live session. What a call that was dialled has played died with its server. */
export function failedOutcome(call: Call, reason: FailedReason, detail: string | null, now: number): Outcome {
  return {
    reason,
    detail,
    answeredBy: call.startedAt === null ? null : "unknown",
    ...(call.dialingAt === null ? nothingHeard(call) : { heardMs: null, heardRatio: null }),
    durationMs: durationUntil(call, now),
  };
}

/** From the answer to its end, ms; 0 if nobody answered. */
export function durationUntil({ startedAt }: Pick<Call, "startedAt">, endedAt: number): number {
  return startedAt === null ? 0 : Math.max(0, endedAt - startedAt);
}

/** The outcome fields of a call whose message was not played. */
export function nothingHeard(call: Call): Pick<Outcome, "heardMs" | "heardRatio" | "heardEvidence"> {
  const fixed = programOf(call).kind === "message";
  return { heardMs: 0, heardRatio: fixed ? 0 : null, heardEvidence: "none" };
}
