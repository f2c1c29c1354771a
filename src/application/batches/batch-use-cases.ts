import type { Principal } from "../../domain/access/principal.ts";
import type {
  Batch,
  BatchCounts,
  BatchStatus,
  BatchTarget,
  TargetFault,
  TargetFilter,
  TargetStatus,
} from "../../domain/batches/batch.ts";
import type {
  CancelBatchInput,
  CreateBatchInput,
  StartBatchInput,
  UpdateTargetInput,
} from "../../domain/batches/batch-input.ts";
import type { TargetRow } from "../../domain/batches/target-rows.ts";
import type { TargetWait } from "../../domain/batches/target-wait.ts";
import type { Page } from "../../ports/storage.ts";
import type { CreateOptions, Creation } from "../use-cases.ts";

/** A batch with its progress. */
export interface BatchDetails extends Batch {
  readonly counts: BatchCounts;
  /** Estimated end, ms since 1970-01-01 UTC; null if the batch is not open, or if the end cannot be estimated. */
  readonly estimatedEndAt: number | null;
}

/** A target, and what it waits for. */
export interface TargetDetails extends BatchTarget {
  /** Null if the target does not wait, if the cause is unknown, or if the list was read without causes. */
  readonly waiting: TargetWait | null;
}

/** Result of an import. */
export interface ImportReport {
  /** Number of rows read. */
  readonly rows: number;
  /** Number of targets stored in each state. */
  readonly stored: Readonly<Partial<Record<TargetStatus, number>>>;
  /** Faults of the first 1,000 invalid rows; every stored target also has its own faults. */
  readonly faults: readonly RowFaults[];
}

/** The faults of one row. */
export interface RowFaults {
  readonly row: number;
  readonly position: number;
  readonly phone: string;
  readonly faults: readonly TargetFault[];
}

/**
 * The calls that a batch would place, with their times and instances, and what prevents calls. Times are ms since
 * 1970-01-01 UTC.
 */
export interface BatchPlan {
  /** Number of targets in each state after the check. */
  readonly targets: Readonly<Partial<Record<TargetStatus, number>>>;
  readonly faults: readonly RowFaults[];
  /** Faults of the whole batch, such as an instance without a number: each with a pointer into the batch. */
  readonly problems: readonly { readonly pointer: string; readonly code: string; readonly detail: string }[];
  /** The instances, in the order in which they are used. */
  readonly instances: readonly InstancePlan[];
  /**
   * First and last dial if every call is answered at once and has the assumed length; null if the plan has no calls.
   */
  readonly startsAt: number | null;
  readonly endsAt: number | null;
  /** Call length that the plan assumes, ms, and its source. */
  readonly callMs: number;
  readonly callMsSource: "message" | "history" | "assumed";
  /** The first calls, ordered by time, at most 1,000. */
  readonly calls: readonly PlannedCall[];
}

/** An instance's part in a plan. */
export interface InstancePlan {
  readonly instanceId: string;
  readonly name: string;
  /** Its number, E.164, if known. */
  readonly phone: string | null;
  readonly calls: number;
  readonly lines: number;
  /** Time between two dials, ms. */
  readonly paceMs: number;
  /** Reason why it cannot call now; null if it can. */
  readonly blocked: string | null;
}

/** A call of a plan. */
export interface PlannedCall {
  readonly position: number;
  readonly phone: string;
  readonly instanceId: string;
  readonly at: number;
}

/**
 * The use cases of batches. A demo token is refused with `demo_token_restricted`. Every method except the first three
 * throws Refusal `batch_not_found`.
 */
export interface BatchUseCases {
  /** Throws Refusal `batch_quota`, and `batch_invalid` if `start` is set and a target is invalid. */
  create(
    principal: Principal,
    input: CreateBatchInput,
    options?: CreateOptions,
  ): Promise<BatchDetails & Creation & { readonly report: ImportReport }>;
  /** The plan of a batch that is not stored. */
  dryRun(principal: Principal, input: CreateBatchInput, options?: Pick<CreateOptions, "strict">): Promise<BatchPlan>;
  /** Lists batches, newest first. */
  list(principal: Principal, filter?: { status?: BatchStatus | undefined }, page?: Page): Promise<Batch[]>;
  get(principal: Principal, batchId: string): Promise<BatchDetails>;
  /** Deletes a batch that is a draft or has ended, with its targets; its calls remain. Throws Refusal `batch_open`. */
  delete(principal: Principal, batchId: string): Promise<void>;
  /**
   * Adds targets to a draft as they arrive, with bounded memory. Invalid rows are stored as `INVALID`, so that they can
   * be corrected. Throws Refusal `batch_not_draft`, `batch_full`: earlier rows of the import remain stored, and
   * `detail` names the first that was not.
   */
  addTargets(
    principal: Principal,
    batchId: string,
    rows: AsyncIterable<TargetRow>,
    options?: Pick<CreateOptions, "strict">,
  ): Promise<ImportReport>;
  /** Lists targets by position, with what each one waits for, unless `withWaits` is false. */
  targets(
    principal: Principal,
    batchId: string,
    filter?: TargetFilter,
    page?: Page,
    options?: { withWaits?: boolean | undefined },
  ): Promise<TargetDetails[]>;
  /**
   * Corrects a target of a draft, and checks it again; null removes a field. Throws Refusal `batch_not_draft`,
   * `target_not_found`.
   */
  updateTarget(
    principal: Principal,
    batchId: string,
    position: number,
    input: UpdateTargetInput,
    options?: Pick<CreateOptions, "strict">,
  ): Promise<TargetDetails>;
  /** Throws Refusal `batch_not_draft`, `target_not_found`. */
  removeTarget(principal: Principal, batchId: string, position: number): Promise<void>;
  /** The plan of the waiting targets as of now. */
  plan(principal: Principal, batchId: string): Promise<BatchPlan>;
  /**
   * Starts a draft: at once, or at its start time. Everything is checked first. Repeating it has no effect. Throws
   * Refusal `batch_invalid` (invalid targets, unless `skipInvalid`), `batch_empty`, `batch_state`, and refusals for the
   * message and the instances.
   */
  start(
    principal: Principal,
    batchId: string,
    input?: StartBatchInput,
    options?: Pick<CreateOptions, "strict">,
  ): Promise<BatchDetails>;
  /** Stops placing calls; live calls continue. Throws Refusal `batch_state`. */
  pause(principal: Principal, batchId: string): Promise<BatchDetails>;
  resume(principal: Principal, batchId: string): Promise<BatchDetails>;
  /** Ends waiting targets as `CANCELLED`; live calls finish, or end as `terminated`. Throws Refusal `batch_state`. */
  cancel(
    principal: Principal,
    batchId: string,
    input?: CancelBatchInput,
    options?: Pick<CreateOptions, "strict">,
  ): Promise<BatchDetails>;
}
