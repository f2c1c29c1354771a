import type { Transitions } from "../../base/state-machine.ts";
import type { AnsweredBy } from "../answering/answering-machine.ts";
import type { CallResult } from "../calls/call.ts";
import type { HeardEvidence, Outcome } from "../calls/outcome.ts";
import type { CallingHours } from "../dialling-rules/number-protection.ts";
import type { Metadata } from "../instances/instance.ts";
import type { Fault } from "../refusal.ts";
import type { RetryPolicy } from "./retry.ts";

/** States of a batch of calls. */
export const BATCH_STATUSES = ["DRAFT", "SCHEDULED", "RUNNING", "PAUSED", "COMPLETED", "CANCELLED"] as const;
/** One of {@link BATCH_STATUSES}. */
export type BatchStatus = (typeof BATCH_STATUSES)[number];

/** Moves of a batch. `schedule`: it was started before its start time; `begin`: it starts placing calls. */
export type BatchMove = "schedule" | "begin" | "pause" | "resume" | "complete" | "cancel";

/** Every legal move of a batch. */
export const BATCH_TRANSITIONS: Transitions<BatchStatus, BatchMove> = {
  DRAFT: { schedule: "SCHEDULED", begin: "RUNNING", cancel: "CANCELLED" },
  SCHEDULED: { begin: "RUNNING", pause: "PAUSED", cancel: "CANCELLED" },
  RUNNING: { pause: "PAUSED", complete: "COMPLETED", cancel: "CANCELLED" },
  PAUSED: { resume: "RUNNING", cancel: "CANCELLED" },
  COMPLETED: {},
  CANCELLED: {},
};

/** True if a batch in this state places calls, now or later. */
export function isOpen(status: BatchStatus): boolean {
  return status === "SCHEDULED" || status === "RUNNING" || status === "PAUSED";
}

/**
 * States of a target. `INVALID`: it is invalid and never called; `DUPLICATE`: another target has the same number;
 * `WAITING`: it waits for its first or next call; `CALLING`: it has an active call.
 */
export const TARGET_STATUSES = [
  "INVALID",
  "DUPLICATE",
  "WAITING",
  "CALLING",
  "COMPLETED",
  "FAILED",
  "CANCELLED",
] as const;
/** One of {@link TARGET_STATUSES}. */
export type TargetStatus = (typeof TARGET_STATUSES)[number];

/**
 * Moves of a target. `return`: its call ended before the number was dialled; `expire`: its batch ended before its turn.
 */
export type TargetMove = "correct" | "repeat" | "call" | "retry" | "return" | "complete" | "fail" | "expire" | "cancel";

/** Every legal move of a target. */
export const TARGET_TRANSITIONS: Transitions<TargetStatus, TargetMove> = {
  INVALID: { correct: "WAITING", repeat: "DUPLICATE" },
  DUPLICATE: { correct: "WAITING" },
  WAITING: { call: "CALLING", expire: "FAILED", cancel: "CANCELLED" },
  CALLING: { retry: "WAITING", return: "WAITING", complete: "COMPLETED", fail: "FAILED", cancel: "CANCELLED" },
  COMPLETED: {},
  FAILED: {},
  CANCELLED: {},
};

/** The times at which the calls of a batch may be dialled. */
export interface BatchSchedule {
  /** Time before which no call is placed; ms since 1970-01-01 UTC. */
  readonly startAt?: number | undefined;
  /** Time from which no call is placed, when targets that still wait fail; ms since 1970-01-01 UTC. */
  readonly endAt?: number | undefined;
  /** Local hours. Default: at any hour. */
  readonly hours?: CallingHours | undefined;
  /** Zone of these hours: every zone that the callee may be in, or an IANA name. Default: `callee`. */
  readonly zone?: "callee" | (string & {}) | undefined;
}

/** Pauses a batch if this share (0 to 1) of its last `calls` calls failed for the same reason. */
export interface CircuitBreaker {
  readonly share: number;
  readonly calls: number;
}

/**
 * The message of each call: the fields of `POST /v1/calls`, except `instanceId`, `target`, `reference` and `metadata`.
 * Its texts may contain `{{variables}}`. The audio of a `FIXED_AUDIO` message is stored separately from the batch, and
 * omitted here.
 */
export type BatchMessage = Readonly<Record<string, unknown>> & {
  readonly type: "FIXED_TTS" | "FIXED_AUDIO" | "DYNAMIC_AGENT";
};

/** Call types of a batch: a live stream would need a client for each call. */
export const BATCH_CALL_TYPES = ["FIXED_TTS", "FIXED_AUDIO", "DYNAMIC_AGENT"] as const satisfies BatchMessage["type"][];

/** A stored batch: one message for many callees. Times are ms since 1970-01-01 UTC. */
export interface Batch {
  readonly id: string;
  readonly userId: string;
  /** The token that created it, whose limits apply to its calls; null if it was created without one. */
  readonly tokenId: string | null;
  /** As in a call. */
  readonly allowedPrefixes?: readonly string[] | undefined;
  /** As in a call. */
  readonly maxCallsPerDay?: number | undefined;
  readonly name: string;
  readonly status: BatchStatus;
  /** The instances that place its calls, in the order in which they were named. */
  readonly instanceIds: readonly string[];
  readonly message: BatchMessage;
  readonly schedule: BatchSchedule;
  /** Undefined: no retries. */
  readonly retry?: RetryPolicy | undefined;
  /** Maximum number of concurrent calls; undefined: as many as its instances carry. */
  readonly maxConcurrent?: number | undefined;
  /** Minimum time between a call to a callee outside of the batch and one in it, ms. */
  readonly gapMs: number;
  /** Undefined: it is switched off. */
  readonly breaker?: CircuitBreaker | undefined;
  /** Reason for the pause or the cancellation; null without one. */
  readonly reason: string | null;
  /** Position of its last target; 0 before the first target. */
  readonly lastPosition: number;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Counts writes of this record (not of its targets); a write names the version it expects. */
  readonly version: number;
}

/** Values for the placeholders in the texts of a message. */
export type TargetVariables = Readonly<Record<string, string | number | boolean>>;

/** A fault of a target. */
export interface TargetFault extends Pick<Fault, "code" | "detail"> {
  /** The variable or field that is wrong; empty for the whole row. */
  readonly column: string;
  /** The column of the file, if its name differs from `column`. */
  readonly fileColumn?: string | undefined;
}

/** Result of a target's last call, kept even if the call has been deleted. Durations in ms. */
export interface TargetResult {
  readonly reason: Outcome["reason"];
  readonly detail: string | null;
  readonly answeredBy: AnsweredBy | null;
  readonly heardMs: number | null;
  readonly heardRatio: number | null;
  readonly heardEvidence: HeardEvidence | null;
  readonly durationMs: number;
  /** ms since 1970-01-01 UTC; null without an answer. */
  readonly startedAt: number | null;
  readonly endedAt: number;
  /** The result that an agent reported. */
  readonly result?: CallResult | undefined;
}

/** One callee of a batch. Times are ms since 1970-01-01 UTC. */
export interface BatchTarget {
  readonly batchId: string;
  /** Place in the batch, from 1: targets are called in this order. */
  readonly position: number;
  /** Line of the file, or place in the list, that it was imported from; from 1. */
  readonly row: number;
  /** As entered; E.164 unless the target is invalid. */
  readonly phone: string;
  /** Extension that is dialled after the answer. */
  readonly extension?: string | undefined;
  readonly variables?: TargetVariables | undefined;
  readonly reference?: string | undefined;
  readonly metadata?: Metadata | undefined;
  readonly status: TargetStatus;
  /** Set only for an invalid or duplicate target. */
  readonly faults?: readonly TargetFault[] | undefined;
  /**
   * The number in the form used for comparison; null if it is malformed. Unique among the targets that are neither
   * `INVALID` nor `DUPLICATE`.
   */
  readonly phoneKey: string | null;
  /** The zones whose hours decide when it may be called, joined by commas; empty if no zone is known. */
  readonly zones: string;
  /** Number of calls that were dialled, or may have been. */
  readonly attempts: number;
  /** Earliest time of its next call; null if it does not wait. */
  readonly nextAttemptAt: number | null;
  /** Its active or last call. */
  readonly callId: string | null;
  /**
   * Reason why it, or its last call, has ended: the outcome's reason, `machine`, `batch_ended`, `batch_cancelled` or
   * `instance_deleted`.
   */
  readonly reason: string | null;
  readonly result?: TargetResult | undefined;
  readonly updatedAt: number;
  readonly version: number;
}

/** Filters of targets; a missing field matches every target. */
export interface TargetFilter {
  readonly status?: readonly TargetStatus[] | undefined;
}

/** Number of targets in each state, and by reason. */
export interface BatchCounts {
  readonly byStatus: Readonly<Partial<Record<TargetStatus, number>>>;
  /** Targets that have ended, by status and reason, the most frequent first. */
  readonly byReason: readonly { readonly status: TargetStatus; readonly reason: string; readonly targets: number }[];
  /** Waiting targets that were called before, by the reason of their last call, the most frequent first. */
  readonly waitingAfter: readonly { readonly reason: string; readonly targets: number }[];
}
