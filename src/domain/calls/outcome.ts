import type { AnsweredBy } from "../answering/answering-machine.ts";
import { BLOCKED_REASONS } from "../dialling-rules/number-protection.ts";
import type { RefusalScope } from "./release-cause.ts";

/** Reasons for the end of a completed call. */
export const COMPLETED_REASONS = [
  "message_played",
  "callee_hung_up",
  "agent_finished",
  "stream_closed",
  "machine_hung_up",
  "max_duration",
] as const;

/** Reasons for the end of a failed call. */
export const FAILED_REASONS = [
  "terminated",
  "busy",
  "declined",
  "no_answer",
  "unreachable",
  "number_invalid",
  "rejected_by_network",
  "instance_not_linked",
  "instance_offline",
  "instance_deleted",
  "instance_lost",
  "media_failed",
  "speech_failed",
  "agent_failed",
  "agent_unavailable",
  "stream_lost",
  "stream_unavailable",
  "interrupted",
  "internal_error",
  ...BLOCKED_REASONS,
] as const;

/**
 * The outcomes that lower the answer rate: someone could have answered and did not. A dial that reached no phone, such
 * as one over a broken trunk, is neither answered nor unanswered.
 */
export const UNANSWERED_REASONS = ["no_answer", "declined", "busy"] as const satisfies readonly FailedReason[];

/** Reason why a call is COMPLETED. */
export type CompletedReason = (typeof COMPLETED_REASONS)[number];
/** Reason why a call is FAILED. */
export type FailedReason = (typeof FAILED_REASONS)[number];

/** Kinds of evidence that the callee's side received our audio. */
export const HEARD_EVIDENCE = ["inbound", "rtcp", "none"] as const;

/** Evidence that the callee's side received our audio: its audio, its RTCP alone, or none. */
export type HeardEvidence = (typeof HEARD_EVIDENCE)[number];

/**
 * Part of the message that was played to the callee, and the evidence that it arrived. A share needs evidence: without
 * any, it is null for an answered call, and 0 for an unanswered one.
 */
export type Heard =
  | {
      /** Length of the played part of the message, ms. */
      readonly heardMs: number;
      /** Share of the accepted message that was played, 0 to 1; null for a call without a fixed message. */
      readonly heardRatio: number | null;
      readonly heardEvidence: Exclude<HeardEvidence, "none">;
    }
  | { readonly heardMs: number; readonly heardRatio: null; readonly heardEvidence: "none" }
  | { readonly heardMs: 0; readonly heardRatio: 0 | null; readonly heardEvidence: "none" };

/** An outcome as events and the HTTP interface show it; ms, and shares from 0 to 1. */
export type OutcomeData = {
  readonly reason: Outcome["reason"];
  readonly detail: string | null;
  readonly answered_by: Outcome["answeredBy"];
  readonly heard_ms: number | null;
  readonly heard_ratio: number | null;
  readonly heard_evidence: HeardEvidence | null;
  readonly duration_ms: number;
};

/** Result of a call; stored once, with its final status. */
export interface Outcome {
  readonly reason: CompletedReason | FailedReason;
  /** The raw cause (SIP status, Q.850 cause, network code) or a sentence; null if there is none. */
  readonly detail: string | null;
  /** Answerer, if known; null without an answer. */
  readonly answeredBy: AnsweredBy | null;
  /**
   * Length of the part of the message that was played to the callee, ms, at most `durationMs`; null if the server died
   * during the call.
   */
  readonly heardMs: number | null;
  /**
   * Share of the accepted message that was played, 0 to 1: `heardMs` divided by the message's length, less the skipped
   * parts; null for a call without a fixed message, if `heardMs` is null, and without evidence that the callee's side
   * received the audio.
   */
  readonly heardRatio: number | null;
  /**
   * Evidence that the callee's side received our audio. Missing if the server died during the call, and in outcomes of
   * earlier versions.
   */
  readonly heardEvidence?: HeardEvidence | undefined;
  /** Time from the answer to the end, ms; 0 if the call was not answered. */
  readonly durationMs: number;
  /** With `rejected_by_network`: what the refusal applies to. Stored, not shown. Default: `number`. */
  readonly refusal?: RefusalScope | undefined;
}

/** True for a call that the network has refused because of its number: it counts for number protection. */
export function isNumberRefused(reason: string | null, refusal: string | null | undefined): boolean {
  return reason === ("rejected_by_network" satisfies FailedReason) && refusal !== ("call" satisfies RefusalScope);
}
