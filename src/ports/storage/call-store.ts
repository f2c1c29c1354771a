import type { Call, CallFilter, CallStatus } from "../../domain/calls/call.ts";
import type { FailedReason } from "../../domain/calls/outcome.ts";
import type { TranscriptLine } from "../../domain/calls/transcript.ts";
import type { DialRecord } from "../../domain/dialling-rules/dial-history.ts";
import type { Event } from "../../domain/events.ts";
import type { QueuePolicy } from "../../domain/instances/queue-capacity.ts";
import type { MentionedNumber } from "../../domain/numbers/mentioned-number.ts";
import type { Page } from "./list-page.ts";
import type { NewReceipt } from "./receipt-store.ts";

/** The fields of a call that an update may change. The transition table allows each new `status`. */
export type CallPatch = Partial<
  Omit<
    Call,
    | "id"
    | "instanceId"
    | "userId"
    | "tokenId"
    | "allowedPrefixes"
    | "maxCallsPerDay"
    | "isDemo"
    | "targetPhone"
    | "from"
    | "sip"
    | "reference"
    | "metadata"
    | "batchId"
    | "batchPosition"
    | "batchAttempt"
    | "createdAt"
    | "expiresAt"
    | "slot"
    | "version"
  >
>;

/** The result of a creation. */
export type Insertion =
  | { readonly kind: "created"; readonly call: Call }
  /** Under `single`: the instance already has this active call. */
  | { readonly kind: "existing"; readonly call: Call }
  /** Under `fifo`: every slot is taken. */
  | { readonly kind: "full" }
  /** The token is at its limit of calls (see {@link CallQuota}). */
  | {
      readonly kind: "limited";
      /** Time at which the oldest call that counts towards the limit was created; ms since 1970-01-01 UTC. */
      readonly oldestAt: number;
    }
  /** The call would exceed the {@link ByteBudget} of its user or, for a demo token, of its instance. */
  | { readonly kind: "over_budget"; readonly owner: "user" | "demo" }
  /** The stored audio file of its message (`audioId`) has been deleted; the call of a batch may still use it. */
  | { readonly kind: "audio_gone" }
  /** The instance does not exist or is deleted. */
  | { readonly kind: "instance_gone" }
  /** The batch of the call is not RUNNING, or its target is not waiting for this attempt. */
  | { readonly kind: "target_taken" }
  /** A receipt with the same key already exists. */
  | { readonly kind: "repeated" };

/**
 * Approximate number of bytes that may be stored: calls with their audio files, events, transcripts, recordings and
 * receipts, and instances with their events, including deleted instances. Once a call has ended, everything stored for
 * it counts.
 */
export interface ByteBudget {
  /** Limit of the new record's user. */
  readonly userBytes: number;
  /**
   * Limit of the calls that demo tokens have created on the call's instance; it applies if a demo token creates the
   * call.
   */
  readonly demoBytes: number;
}

/** Number of calls that a token may create within a period, including transfers. */
export interface CallQuota {
  /** Maximum number of calls; `Infinity` for a transfer by a token without a limit. */
  readonly maxCalls: number;
  /** Start of the counting period; deleted calls count too; ms since 1970-01-01 UTC. */
  readonly since: number;
  /**
   * Time at which the call is counted, on the same clock as `since`; ms since 1970-01-01 UTC. Calls counted at a later
   * time, by a fast clock, are moved to this time before a call is refused. Default: the call's `createdAt`.
   */
  readonly now?: number | undefined;
}

/** Results of a period's final calls. */
export interface CallTally {
  readonly completed: number;
  readonly failed: number;
  /** Failed calls by the reason of their outcome; reasons without calls are omitted. */
  readonly failures: Partial<Record<FailedReason, number>>;
}

/** Counts of records deleted with calls. */
export interface RemovedCalls {
  readonly ids: readonly string[];
  readonly events: number;
  readonly transcriptLines: number;
  /** Number of receipts that no longer have a hash of their request. */
  readonly receipts: number;
}

/** Calls, their audio files and the queue of waiting calls. */
export interface CallStore {
  /**
   * Stores a QUEUED call, with its audio file and a receipt, in the first free slot of the policy; the call's own
   * `slot` is ignored. With a budget, no call that would exceed it is created, even if several are created
   * concurrently. The call of a batch (`batchId`) sets its target to CALLING in the same transaction, with the call's
   * id and `attempts` = `batchAttempt`, but only if the batch is RUNNING and the target is WAITING with one attempt
   * fewer. With a quota, no call is created once `maxCalls` calls of the same `tokenId` count; concurrent creations
   * never exceed it.
   */
  insert(
    call: Call,
    audio: Uint8Array | undefined,
    policy: QueuePolicy,
    events: readonly Event[],
    receipt?: NewReceipt,
    quota?: CallQuota,
    budget?: ByteBudget,
  ): Promise<Insertion>;
  /**
   * Counts a transfer like a call created by the token at `at`, unless the token has reached its limit: then the result
   * is the creation time of the oldest call or transfer that counts, and no transfer is counted. Concurrent transfers
   * and creations never exceed the quota. Records as old as `quota.since` need not be kept.
   */
  countTransfer(tokenId: string, at: number, quota: CallQuota): Promise<number | undefined>;
  get(id: string): Promise<Call | undefined>;
  /**
   * A user's calls, newest first (created_at, then id, descending). Reads only one page, however many calls are stored.
   */
  list(userId: string, filter: CallFilter, page: Page): Promise<Call[]>;
  /**
   * The active calls of an instance, by ascending id, which is the order of their creation, whatever the clock showed.
   * Other work continues while it reads a long queue.
   */
  active(instanceId: string): Promise<Call[]>;
  /**
   * The call that {@link claimNext} would claim at the time `now`. Reads no other call.
   * @param except ids of calls to skip. Default: none
   * @param now ms since 1970-01-01 UTC. Default: no call is skipped because of its `notBefore`
   */
  nextWaiting(instanceId: string, except?: readonly string[], now?: number): Promise<Call | undefined>;
  /**
   * The earliest `notBefore` after `now` of the unclaimed QUEUED calls of an instance; undefined if there is none.
   * Reads no call.
   */
  nextNotBefore(instanceId: string, now: number): Promise<number | undefined>;
  /** The QUEUED calls of an instance that `owner` has claimed, by ascending id. Reads no other calls. */
  claimed(instanceId: string, owner: string): Promise<Call[]>;
  /**
   * Assigns the instance's unclaimed QUEUED call with the lowest id to `owner` and to a line of the instance, and marks
   * it as being dialled (`dialingAt`) in the same write, which raises its version; returns undefined if no such call
   * waits or the instance is DELETED. Skips calls whose `notBefore` is later than `now`, unless it is more than
   * `MAX_POSTPONEMENT_MS` later: such a value was written by a fast clock.
   * @param now ms since 1970-01-01 UTC
   * @param line number of the line, from 0. If the line already carries a call (RINGING, IN_PROGRESS, or QUEUED with
   *   the dialling mark), the claim rejects, and no call is claimed
   * @param callId claims only this call. Default: the one with the lowest id
   */
  claimNext(instanceId: string, owner: string, now: number, line: number, callId?: string): Promise<Call | undefined>;
  /**
   * The calls of an instance that were dialled (`dialingAt`) after a time, newest first, at most `maxRecords`. Reads no
   * other calls.
   * @param since ms since 1970-01-01 UTC
   * @param until the last ms of the period. Default: no limit, which includes times written by a fast clock
   * @param which `reached`: only calls that were answered, or have ended for one of `UNANSWERED_REASONS`, among the
   *   newest `maxRecords` + 200 calls. Default: `all`
   */
  dialHistory(
    instanceId: string,
    since: number,
    maxRecords: number,
    until?: number,
    which?: "all" | "reached",
  ): Promise<DialRecord[]>;
  /**
   * A call that becomes final loses its audio file: it is unreadable once the transaction commits, and deleted soon
   * afterwards or at the next start.
   */
  update(id: string, version: number, patch: CallPatch, events: readonly Event[]): Promise<Call | undefined>;
  audio(id: string): Promise<Uint8Array | undefined>;
  /**
   * Unclaimed QUEUED calls created before a time, oldest first; at most `limit`, after `after`. Reads only waiting
   * calls.
   * @param which `unlimited`: only those without `expiresAt`. Default: `all`
   */
  waitingSince(
    createdBefore: number,
    limit: number,
    after?: Pick<Call, "id" | "createdAt">,
    which?: "all" | "unlimited",
  ): Promise<Call[]>;
  /** The creation time of the oldest unclaimed QUEUED call without `expiresAt`; it determines when to look again. */
  oldestWaiting(): Promise<number | undefined>;
  /**
   * Unclaimed QUEUED calls with `expiresAt` before a time, earliest first; at most `limit`, after `after`. Reads only
   * these.
   */
  expiring(before: number, limit: number, after?: Pick<Call, "id" | "expiresAt">): Promise<Call[]>;
  /**
   * Calls that processes other than `owner` left RINGING, IN_PROGRESS, or QUEUED with the dialling mark, and calls that
   * still wait on a DELETED instance; at most `limit`.
   */
  orphaned(owner: string, limit: number): Promise<Call[]>;
  /** Calls with a stored recording (`recordedMs` above 0) that ended before a time, oldest first; at most `limit`. */
  recorded(endedBefore: number, limit: number): Promise<Call[]>;
  /** Ids of final calls that ended before a time, oldest first; at most `limit`. */
  ended(endedBefore: number, limit: number): Promise<string[]>;
  /**
   * Deletes the calls among `ids` that are final, with their events and transcripts. It runs in pieces, between which
   * other work continues: the newest events of a call are deleted first, and the call itself last.
   * @param countedSince deleted calls that were counted after this time still count for their token (see
   *   {@link CallQuota}); ms since 1970-01-01 UTC. Default: none of them counts
   */
  remove(ids: readonly string[], countedSince?: number): Promise<RemovedCalls>;
  /** Forgets deleted calls and transfers that were counted at or before a time, in pieces; returns their number. */
  forgetCounted(until: number): Promise<number>;
  /**
   * Calls that mention a number, by ascending id: as their target, in their message with the numbers for transfers, in
   * their outcome, or in any other text of the call, its events or its transcript. Called rarely, because it may read
   * every call.
   */
  naming(number: MentionedNumber, page: Page): Promise<Call[]>;
  /**
   * Counts a user's final calls that were created in a period, `until` excluded; ms since 1970-01-01 UTC. Reads only
   * calls of the period.
   */
  tally(userId: string, from: number, until: number): Promise<CallTally>;
  /** Number of calls per status; statuses without calls are omitted. */
  counts(): Promise<Partial<Record<CallStatus, number>>>;
}

/** The transcripts of calls. */
export interface TranscriptStore {
  /** Leaves an existing line (same call and position) unchanged; drops lines of an unknown call. */
  append(lines: readonly TranscriptLine[]): Promise<void>;
  /** The lines of these calls in spoken order: by `startMs`, then by `position`. */
  ofCalls(callIds: readonly string[]): Promise<TranscriptLine[]>;
}
