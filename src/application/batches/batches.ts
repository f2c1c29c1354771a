import { isId } from "../../base/ids.ts";
import type { Principal } from "../../domain/access/principal.ts";
import {
  type Batch,
  type BatchMove,
  type BatchStatus,
  type BatchTarget,
  isOpen,
  type TargetFilter,
  type TargetStatus,
} from "../../domain/batches/batch.ts";
import type {
  CancelBatchInput,
  CreateBatchInput,
  StartBatchInput,
  UpdateTargetInput,
} from "../../domain/batches/batch-input.ts";
import { assertTimesAhead } from "../../domain/batches/schedule-times.ts";
import type { TargetRow } from "../../domain/batches/target-rows.ts";
import { countsByRetryReason } from "../../domain/batches/target-wait.ts";
import { storedAudioId } from "../../domain/calls/stored-audio.ts";
import { parseBody } from "../../domain/input/input-parser.ts";
import { Refusal } from "../../domain/refusal.ts";
import type { NewReceipt, Page } from "../../ports/storage.ts";
import { audioNotFound } from "../audio-library.ts";
import type { CallCreation, CallCreationContext } from "../calls/creation/call-creation.ts";
import type { Context } from "../context.ts";
import { runOnce } from "../idempotency/idempotency.ts";
import type { Lines } from "../instances/lines.ts";
import { shortenedId } from "../instances/owned-instance.ts";
import type { CreateOptions, Creation } from "../use-cases.ts";
import { refuseDemo } from "../user-limits/refuse-demo.ts";
import { moveBatch } from "./batch-records.ts";
import type { BatchRunner } from "./batch-runner.ts";
import { BatchTargets, targetNotFound } from "./batch-targets.ts";
import type { BatchDetails, BatchPlan, BatchUseCases, ImportReport, TargetDetails } from "./batch-use-cases.ts";
import { type CheckedBatch, checkedBatch } from "./checked-batch.ts";
import { planOf } from "./plan-of-batch.ts";
import { networksOf } from "./target-checks.ts";
import { targetsWithWaits } from "./target-waits.ts";

/** Dependencies of the batches. */
export type BatchesContext = Pick<
  Context,
  "events" | "ids" | "limits" | "log" | "policy" | "storage" | "system" | "telephony"
> &
  CallCreationContext;

const DEMO = "a demo token cannot use batches";
const NO_ROWS: ImportReport = { rows: 0, stored: {}, faults: [] };

/** The use cases of batches. */
export class Batches implements BatchUseCases {
  readonly #context: BatchesContext;
  readonly #creation: CallCreation;
  readonly #runner: BatchRunner;
  readonly #lines: Lines;
  readonly #targets: BatchTargets;

  constructor(context: BatchesContext, creation: CallCreation, runner: BatchRunner, lines: Lines) {
    this.#context = context;
    this.#creation = creation;
    this.#runner = runner;
    this.#lines = lines;
    this.#targets = new BatchTargets(context, creation, lines);
  }

  async create(
    principal: Principal,
    input: CreateBatchInput,
    options: CreateOptions = {},
  ): Promise<BatchDetails & Creation & { readonly report: ImportReport }> {
    const checkedInput = await this.#checkedBatch(principal, input, options);
    return runOnce(
      this.#context,
      principal,
      options.idempotencyKey,
      ["batch", input],
      (receipt) => this.#store(principal, checkedInput, receipt, options),
      async ({ recordId }) => {
        const batch = await this.#context.storage.batches.get(recordId);
        return (
          batch && { ...(await this.#fill(principal, batch, checkedInput, options)), created: true, replayed: true }
        );
      },
    );
  }

  async dryRun(
    principal: Principal,
    input: CreateBatchInput,
    options: Pick<CreateOptions, "strict"> = {},
  ): Promise<BatchPlan> {
    const { batch: checkedInput, networks, targets } = await this.#checkedBatch(principal, input, options);
    const batch = await this.#withStoredAudio(principal, checkedInput);
    assertTimesAhead(batch.schedule, batch.createdAt);
    return planOf(this.#context, this.#lines, batch, () =>
      this.#targets.checkedTargets(principal, batch, targets, options, networks),
    );
  }

  async list(
    principal: Principal,
    filter: { status?: BatchStatus | undefined } = {},
    page: Page = {},
  ): Promise<Batch[]> {
    refuseDemo(principal, DEMO);
    return this.#context.storage.batches.list(principal.userId, filter, page);
  }

  async get(principal: Principal, batchId: string): Promise<BatchDetails> {
    return this.#details(await this.#ownedBatch(principal, batchId));
  }

  async delete(principal: Principal, batchId: string): Promise<void> {
    const { id, status } = await this.#ownedBatch(principal, batchId);
    if (isOpen(status) || !(await this.#context.storage.batches.delete(id)))
      throw new Refusal("batch_open", `batch "${id}" is ${status}; cancel it first`);
  }

  async addTargets(
    principal: Principal,
    batchId: string,
    rows: AsyncIterable<TargetRow>,
    options: Pick<CreateOptions, "strict"> = {},
  ): Promise<ImportReport> {
    return this.#targets.add(principal, await this.#ownedDraft(principal, batchId), rows, options);
  }

  async targets(
    principal: Principal,
    batchId: string,
    filter: TargetFilter = {},
    page: Page = {},
    { withWaits = true }: { withWaits?: boolean | undefined } = {},
  ): Promise<TargetDetails[]> {
    const batch = await this.#ownedBatch(principal, batchId);
    const targets = await this.#context.storage.batches.targets(batch.id, filter, page);
    return withWaits ? this.#withWaits(batch, targets) : targets.map((target) => ({ ...target, waiting: null }));
  }

  async updateTarget(
    principal: Principal,
    batchId: string,
    position: number,
    input: UpdateTargetInput,
    options: Pick<CreateOptions, "strict"> = {},
  ): Promise<TargetDetails> {
    const batch = await this.#ownedDraft(principal, batchId);
    const target = await this.#targets.update(principal, batch, position, input, options);
    const [details] = await this.#withWaits(batch, [target]);
    return details ?? { ...target, waiting: null };
  }

  async removeTarget(principal: Principal, batchId: string, position: number): Promise<void> {
    const { storage, system } = this.#context;
    const { id } = await this.#ownedDraft(principal, batchId);
    if (!(await storage.batches.removeTarget(id, position, system.now()))) throw targetNotFound(id, position);
  }

  async plan(principal: Principal, batchId: string): Promise<BatchPlan> {
    const batch = await this.#ownedBatch(principal, batchId);
    return planOf(this.#context, this.#lines, batch, () => this.#targets.pages(batch.id));
  }

  async start(
    principal: Principal,
    batchId: string,
    input: StartBatchInput = {},
    { strict = false }: Pick<CreateOptions, "strict"> = {},
  ): Promise<BatchDetails> {
    const batch = await this.#ownedBatch(principal, batchId);
    const { schemas, strictSchemas } = this.#context;
    const { skipInvalid = false } = parseBody((strict ? strictSchemas : schemas).startBatch, input, { strict });
    if (isOpen(batch.status)) return this.#details(batch);
    await networksOf(this.#context, principal, batch.instanceIds);
    const { byStatus } = await this.#context.storage.batches.counts(batch.id);
    const { INVALID: invalidCount = 0, WAITING: waitingCount = 0 } = byStatus;
    const all = Object.values(byStatus).reduce((sum, count) => sum + count, 0);
    if (batch.status === "DRAFT" && invalidCount > 0 && !skipInvalid)
      throw new Refusal(
        "batch_invalid",
        `${invalidCount} of ${all} targets are invalid; correct them, or start with {"skipInvalid": true}`,
      );
    if (batch.status === "DRAFT" && waitingCount === 0)
      throw new Refusal("batch_empty", `batch "${batch.id}" has no target to call; add targets first`);
    const isLater = (batch.schedule.startAt ?? 0) > this.#context.system.now();
    return this.#move(principal, batch, isLater ? "schedule" : "begin", "started");
  }

  async pause(principal: Principal, batchId: string): Promise<BatchDetails> {
    const batch = await this.#ownedBatch(principal, batchId);
    return batch.status === "PAUSED" ? this.#details(batch) : this.#move(principal, batch, "pause", "paused");
  }

  async resume(principal: Principal, batchId: string): Promise<BatchDetails> {
    const batch = await this.#ownedBatch(principal, batchId);
    return batch.status === "RUNNING" ? this.#details(batch) : this.#move(principal, batch, "resume", "resumed");
  }

  async cancel(
    principal: Principal,
    batchId: string,
    input: CancelBatchInput = {},
    { strict = false }: Pick<CreateOptions, "strict"> = {},
  ): Promise<BatchDetails> {
    const batch = await this.#ownedBatch(principal, batchId);
    const { schemas, strictSchemas } = this.#context;
    const { liveCalls = "finish" } = parseBody((strict ? strictSchemas : schemas).cancelBatch, input, { strict });
    const details =
      batch.status === "CANCELLED"
        ? await this.#details(batch)
        : await this.#move(principal, batch, "cancel", "cancelled");
    if (liveCalls === "end") await this.#runner.endCalls(batch.id);
    return details;
  }

  async #ownedBatch(principal: Principal, batchId: string): Promise<Batch> {
    refuseDemo(principal, DEMO);
    const batch = isId("batch", batchId) ? await this.#context.storage.batches.get(batchId) : undefined;
    if (batch?.userId !== principal.userId)
      throw new Refusal("batch_not_found", `there is no batch "${shortenedId(batchId)}"`);
    return batch;
  }

  async #ownedDraft(principal: Principal, batchId: string): Promise<Batch> {
    const batch = await this.#ownedBatch(principal, batchId);
    if (batch.status === "DRAFT") return batch;
    throw new Refusal("batch_not_draft", `batch "${batch.id}" is ${batch.status}; only a DRAFT accepts targets`);
  }

  async #checkedBatch(
    principal: Principal,
    input: CreateBatchInput,
    { strict = false, signal }: Pick<CreateOptions, "strict" | "signal">,
  ): Promise<CheckedBatch> {
    refuseDemo(principal, DEMO);
    return checkedBatch(this.#context, this.#creation, principal, input, { strict, signal });
  }

  async #store(
    principal: Principal,
    checkedInput: CheckedBatch,
    receipt: NewReceipt | undefined,
    options: CreateOptions,
  ): Promise<(BatchDetails & Creation & { readonly report: ImportReport }) | undefined> {
    const { storage, limits } = this.#context;
    const { audio } = checkedInput;
    const batch = await this.#withStoredAudio(principal, checkedInput.batch);
    // Checked only for a new batch: when a request is repeated, the start time may have passed in the meantime.
    assertTimesAhead(batch.schedule, batch.createdAt);
    const insertion = await storage.batches.insert(batch, audio, limits.batchesPerUser, receipt);
    switch (insertion) {
      case "repeated":
        return undefined;
      case "audio_gone":
        throw audioNotFound(storedAudioId(batch.message) ?? "");
      case "user_deleted":
        throw new Refusal("unauthorized", "the account of this token was deleted");
      case "at_limit":
        throw new Refusal(
          "batch_quota",
          `you have ${limits.batchesPerUser} batches, and this server allows ${limits.batchesPerUser}; delete one that has ended`,
        );
      case "created":
    }
    const filledBatch = await this.#fill(principal, batch, checkedInput, options);
    return { ...filledBatch, created: true, replayed: false };
  }

  /** The batch with the properties of the stored audio file that its message names. @throws {Refusal} `audio_not_found` */
  async #withStoredAudio(principal: Principal, batch: Batch): Promise<Batch> {
    const audioId = storedAudioId(batch.message);
    if (audioId === undefined) return batch;
    const { message: audio } = await this.#creation.messages.storedAudio(principal, audioId);
    return { ...batch, message: { ...batch.message, audio } };
  }

  /** Stores the targets that a new batch lacks, and starts it; a crash may have interrupted the first attempt. */
  async #fill(
    principal: Principal,
    batch: Batch,
    { networks, targets, mustStart }: CheckedBatch,
    options: CreateOptions,
  ): Promise<BatchDetails & { readonly report: ImportReport }> {
    const { storage } = this.#context;
    if (batch.status !== "DRAFT") return { ...(await this.#details(batch)), report: NO_ROWS };
    const report = await this.#targets.add(principal, batch, targets.slice(batch.lastPosition), options, networks);
    const details = mustStart
      ? await this.start(principal, batch.id)
      : await this.#details((await storage.batches.get(batch.id)) ?? batch);
    return { ...details, report };
  }

  async #move(principal: Principal, batch: Batch, move: BatchMove, participle: string): Promise<BatchDetails> {
    for (let current = batch; ; current = await this.#ownedBatch(principal, batch.id)) {
      const movedBatch = await this.#storeMove(current, move);
      if (movedBatch === "illegal")
        throw new Refusal("batch_state", `batch "${batch.id}" is ${current.status}, so it cannot be ${participle}`);
      if (!movedBatch) continue;
      this.#runner.adopt(movedBatch);
      return this.#details(movedBatch);
    }
  }

  async #storeMove(batch: Batch, move: BatchMove): ReturnType<typeof moveBatch> {
    try {
      return await moveBatch(this.#context, batch, move);
    } catch (error) {
      // The change may have been stored although its result was lost.
      this.#runner.recheck(batch);
      throw error;
    }
  }

  #withWaits(batch: Batch, targets: readonly BatchTarget[]): Promise<TargetDetails[]> {
    return targetsWithWaits(this.#context, this.#lines, batch, targets, this.#runner.limitOf(batch.id));
  }

  async #details(batch: Batch): Promise<BatchDetails> {
    const { storage, system } = this.#context;
    const storedCounts = await storage.batches.counts(batch.id);
    const counts = { ...storedCounts, waitingAfter: countsByRetryReason(storedCounts.waitingAfter) };
    const now = system.now();
    const estimatedEndAt = estimatedEnd(batch, counts.byStatus, now);
    if (estimatedEndAt === null) return { ...batch, counts, estimatedEndAt };
    // If every target is waiting for its time, the batch cannot end before the earliest of those times.
    const { nextAt = now } = await storage.batches.due(batch.id, now, 1);
    return { ...batch, counts, estimatedEndAt: Math.max(estimatedEndAt, nextAt) };
  }
}

/**
 * The end of a running batch, estimated from its speed so far, ms since 1970-01-01 UTC; null before a target has ended.
 */
function estimatedEnd(
  { status, startedAt }: Batch,
  { WAITING = 0, CALLING = 0, COMPLETED = 0, FAILED = 0 }: Readonly<Partial<Record<TargetStatus, number>>>,
  now: number,
): number | null {
  const endedCount = COMPLETED + FAILED;
  if (status !== "RUNNING" || startedAt === null || endedCount === 0 || now <= startedAt) return null;
  return Math.round(now + ((WAITING + CALLING) * (now - startedAt)) / endedCount);
}
