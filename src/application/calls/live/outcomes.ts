import type { AnsweredBy } from "../../../domain/answering/answering-machine.ts";
import type { Call, CallStatus } from "../../../domain/calls/call.ts";
import type { FailedReason, Heard, Outcome, OutcomeData } from "../../../domain/calls/outcome.ts";
import type { CallReference, Fact, FinalData, SipReference } from "../../../domain/events.ts";
import { type Findings, statedResult } from "../../call-audio/agents/agent-result.ts";
import type { CallMedia } from "../../call-audio/call-media.ts";
import { programOf } from "../../call-audio/call-types/all-call-types.ts";

/** State of a call's session at its end. */
export interface LiveEnd extends Pick<Outcome, "reason" | "detail" | "refusal"> {
  readonly answeredBy: AnsweredBy | undefined;
  readonly endedAt: number;
}

/** An outcome as events and the HTTP interface show it. */
export function outcomeData(outcome: Outcome): OutcomeData {
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
export function referenceData({ reference }: Pick<Call, "reference">): CallReference {
  return reference === undefined ? {} : { reference };
}

/** The Call-ID of a call over SIP, in the data of its events. */
export function sipReference({ sipCallId }: Pick<Call, "sipCallId">): SipReference {
  return sipCallId === undefined ? {} : { sip_call_id: sipCallId };
}

/** The fact that closes the timeline of a call. */
export function finalFact(
  { reference, metadata, sipCallId }: Pick<Call, "reference" | "metadata" | "sipCallId">,
  status: CallStatus,
  outcome: Outcome,
): Fact<"completed" | "failed"> {
  const data: FinalData = {
    ...outcomeData(outcome),
    ...referenceData({ reference }),
    ...sipReference({ sipCallId }),
    ...(metadata !== undefined && { metadata }),
  };
  return { event: status === "COMPLETED" ? "completed" : "failed", data };
}

/** The detail of a call, with the network's address of the number if it differs. */
export function addressedDetail(
  detail: string | null,
  call: Pick<Call, "targetPhone">,
  address?: string,
): string | null {
  if (address === undefined || address.includes(call.targetPhone.slice(1))) return detail;
  return `${detail === null ? "" : `${detail}; `}resolved_address: ${address}`;
}

/** Outcome of a call that had a live session. @param media undefined if no callee was dialled */
export function liveOutcome(
  call: Call,
  media: Pick<CallMedia, "heardOf"> | undefined,
  { reason, detail, refusal, answeredBy = "unknown", endedAt }: LiveEnd,
): Outcome {
  const durationMs = durationUntil(call, endedAt);
  const answeredMedia = call.startedAt === null ? undefined : media;
  return {
    reason,
    detail,
    answeredBy: call.startedAt === null ? null : answeredBy,
    ...(answeredMedia?.heardOf(durationMs) ?? nothingHeard(call)),
    durationMs,
    ...(refusal !== undefined && { refusal }),
  };
}

/**
 * Outcome of a call that failed without a live session. How much a dialled call had played is unknown: its server
 * crashed.
 */
export function failedOutcome(call: Call, reason: FailedReason, detail: string | null, now: number): Outcome {
  return {
    reason,
    detail,
    answeredBy: call.startedAt === null ? null : "unknown",
    ...(call.dialingAt === null ? nothingHeard(call) : { heardMs: null, heardRatio: null }),
    durationMs: durationUntil(call, now),
  };
}

/** Time from the answer to the end, ms; 0 if the call was not answered. */
export function durationUntil({ startedAt }: Pick<Call, "startedAt">, endedAt: number): number {
  return startedAt === null ? 0 : Math.max(0, endedAt - startedAt);
}

/** The outcome fields of a call that was not answered. */
export function nothingHeard(call: Call): Heard {
  const isFixed = programOf(call).kind === "message";
  return { heardMs: 0, heardRatio: isFixed ? 0 : null, heardEvidence: "none" };
}

/** Placeholder that is stored until the agent has stated its result after the call. */
const RESULT_PENDING = "not known yet: the agent has been asked";

/** Result of a call at its end. */
interface ResultAtEnd extends Findings {
  /** Facts for the timeline. */
  readonly facts: readonly Fact[];
  /** The result that the agent has yet to state. */
  readonly lateResult?: Promise<Findings> | undefined;
}

/** The result of a call at its end; if the call has a schema for it, it may arrive later. */
export function resultAtEnd(
  { startedAt }: Pick<Call, "startedAt">,
  media: Pick<CallMedia, "findings" | "result"> | undefined,
): ResultAtEnd {
  const findingsAtEnd = startedAt === null ? undefined : media?.findings;
  if (findingsAtEnd === undefined) return { ...statedResult(() => media?.result), facts: [] };
  if ("findingsPromise" in findingsAtEnd)
    return { resultError: RESULT_PENDING, facts: [], lateResult: findingsAtEnd.findingsPromise };
  const { findings } = findingsAtEnd;
  return { ...findings, facts: [{ event: "result_ready", data: { error: findings.resultError ?? null } }] };
}
