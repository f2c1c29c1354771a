import type { Batch, BatchCounts, BatchStatus, BatchTarget, TargetFilter } from "../../domain/batches/batch.ts";
import type { Event } from "../../domain/events.ts";
import type { Page } from "./list-page.ts";
import type { NewReceipt } from "./receipt-store.ts";

/** Fields of a batch that an update changes. */
export type BatchPatch = Partial<
  Omit<
    Batch,
    "id" | "userId" | "tokenId" | "allowedPrefixes" | "maxCallsPerDay" | "lastPosition" | "createdAt" | "version"
  >
>;

/** A target to be stored; the storage gives it the next position. */
export type NewTarget = Omit<BatchTarget, "batchId" | "position" | "attempts" | "callId" | "result" | "version">;

/** Fields of a target that an update can remove. */
type RemovableField = "extension" | "variables" | "reference" | "metadata";

/** Fields of a target that an update changes; null removes a field. */
export type TargetPatch = Partial<Omit<BatchTarget, "batchId" | "position" | "row" | "version" | RemovableField>> & {
  readonly [Field in RemovableField]?: BatchTarget[Field] | null;
};

/** Waiting targets that are due. */
export interface DueTargets {
  readonly targets: readonly BatchTarget[];
  /** The earliest time of a waiting target that is not due; undefined if there is none. ms since 1970-01-01 UTC. */
  readonly nextAt: number | undefined;
}

/**
 * Batches of calls and their targets. The time to read a page, counts or due targets does not depend on the size of the
 * batch. The number of a target (`phoneKey`) is unique among the targets of its batch that are neither INVALID nor
 * DUPLICATE; the database enforces this.
 */
export interface BatchStore {
  /**
   * Stores a batch without targets, with the audio file of its message and a receipt.
   * @param maxBatches maximum number of batches of the user, including ended batches
   */
  insert(
    batch: Batch,
    audio: Uint8Array | undefined,
    maxBatches: number,
    receipt?: NewReceipt,
  ): Promise<"created" | "at_limit" | "repeated" | "user_deleted" | "audio_gone">;
  get(id: string): Promise<Batch | undefined>;
  /** The audio file of its message; undefined if it has none. */
  audio(id: string): Promise<Uint8Array | undefined>;
  /** A user's batches, newest first. */
  list(userId: string, filter: { readonly status?: BatchStatus | undefined }, page: Page): Promise<Batch[]>;
  /**
   * Every user's batches that are SCHEDULED, RUNNING or PAUSED, and ended batches with CALLING or WAITING targets, by
   * ascending id.
   */
  open(): Promise<Batch[]>;
  /**
   * Changes a batch; returns undefined, without a write, if its version is not `version`. A COMPLETED or CANCELLED
   * batch loses its audio file.
   */
  update(id: string, version: number, patch: BatchPatch, events: readonly Event[]): Promise<Batch | undefined>;
  /**
   * Deletes a batch with its targets, in pieces; its calls remain, without a batch. Returns false if it is unknown or
   * open.
   */
  delete(id: string): Promise<boolean>;
  /**
   * Appends targets to a DRAFT, all in one transaction. A target whose `phoneKey` the batch already has is stored as
   * DUPLICATE, with a fault that names the row of the first target.
   * @param maxTargets maximum number of targets of the batch
   * @returns the stored targets; or the reason why none was stored
   */
  addTargets(
    id: string,
    targets: readonly NewTarget[],
    maxTargets: number,
  ): Promise<BatchTarget[] | "not_draft" | "at_limit">;
  /** Targets by ascending position; `after` is the position of the last target seen, as a decimal number. */
  targets(id: string, filter: TargetFilter, page: Page): Promise<BatchTarget[]>;
  target(id: string, position: number): Promise<BatchTarget | undefined>;
  /**
   * Changes a target, together with the batch's counts; returns undefined, without a write, if its version is not
   * `version`, and `taken` if another target of the batch has its new `phoneKey`. If it releases its number, the first
   * DUPLICATE of that number becomes WAITING, with the releasing target's former `nextAttemptAt`.
   */
  updateTarget(
    id: string,
    position: number,
    version: number,
    patch: TargetPatch,
    events: readonly Event[],
  ): Promise<BatchTarget | "taken" | undefined>;
  /**
   * Deletes a target of a DRAFT; a DUPLICATE takes its place, as in `updateTarget`, updated at `at`. Returns true if
   * the target existed.
   */
  removeTarget(id: string, position: number, at: number): Promise<boolean>;
  /**
   * WAITING targets whose `nextAttemptAt` is `now` or earlier: first those that have been called before; in each group
   * by `nextAttemptAt`, then by position; at most `limit`.
   */
  due(id: string, now: number, limit: number): Promise<DueTargets>;
  /**
   * Sets `nextAttemptAt` of WAITING targets in these zones to `until` if it is earlier, and their `updatedAt` to `at`;
   * in pieces. Returns their number.
   */
  postpone(id: string, zones: string, until: number, at: number): Promise<number>;
  /** CALLING targets by ascending position; their number is bounded by the server's lines. */
  calling(id: string): Promise<BatchTarget[]>;
  counts(id: string): Promise<BatchCounts>;
  /**
   * Ends up to `limit` WAITING targets as CANCELLED or FAILED with this reason, with an event for each; returns them,
   * or an empty list if no target waits.
   * @param at their `updatedAt`
   */
  endWaiting(
    id: string,
    status: "CANCELLED" | "FAILED",
    reason: string,
    limit: number,
    eventOf: (target: BatchTarget) => Event,
    at: number,
  ): Promise<BatchTarget[]>;
  /**
   * Deletes the targets with this number, of every batch and every user, except CALLING targets; returns their number.
   */
  forgetNumber(phoneKey: string): Promise<number>;
  /** Ids of COMPLETED and CANCELLED batches that ended before a time, oldest first; at most `limit`. */
  ended(endedBefore: number, limit: number): Promise<string[]>;
}
