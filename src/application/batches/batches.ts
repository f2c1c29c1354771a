import { isId } from "../../base/ids.ts";
import { nextState } from "../../base/machine.ts";
import { nextTurn } from "../../base/turn-budget.ts";
import type { Principal } from "../../domain/access/principal.ts";
import {
  BATCH_TRANSITIONS,
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
  TargetInput,
  UpdateTargetInput,
} from "../../domain/batches/batch-input.ts";
import type { TargetRow } from "../../domain/batches/target-rows.ts";
import type { Event } from "../../domain/events.ts";
import { isObject } from "../../domain/input/input-checks.ts";
import { parseBody } from "../../domain/input/input-parser.ts";
import { invalidInput, Refusal } from "../../domain/refusal.ts";
import type { BatchPatch, NewReceipt, NewTarget, Page } from "../../ports/storage.ts";
import type { Telephony } from "../../ports/telephony.ts";
import type { CallCreation, CallCreationContext } from "../calls/creation/call-creation.ts";
import type { Context } from "../context.ts";
import { once } from "../idempotency/idempotency.ts";
import type { Lines } from "../instances/lines.ts";
import { ownedInstance, shortenedId } from "../instances/owned-instance.ts";
import type { CreateOptions, Creation } from "../use-cases.ts";
import { refuseDemo } from "../user-limits/refuse-demo.ts";
import { batchSubject } from "./batch-records.ts";
import { type BatchRunner, moveFact } from "./batch-runner.ts";
import type { BatchDetails, BatchPlan, BatchUseCases, ImportReport, RowFaults } from "./batch-use-cases.ts";
import { type CheckedBatch, checkedBatch } from "./checked-batch.ts";
import { planOf } from "./plan-of-batch.ts";
import { TargetChecks } from "./target-checks.ts";

/** Dependencies of the batches. */
export type BatchesContext = Pick<
  Context,
  "events" | "ids" | "limits" | "log" | "policy" | "storage" | "system" | "telephony"
> &
  CallCreationContext;

const DEMO = "a demo token cannot use batches";
/** Optional fields of a target, removed unless a correction has them. */
const NO_FIELDS = { extension: null, variables: null, reference: null, metadata: null } as const;
/** Rows that are checked and stored at once. */
const PIECE = 100;
/** Rows whose faults a report lists. */
const MAX_REPORTED = 1_000;

/** The use cases of batches. */
export class Batches implements BatchUseCases {
  readonly #context: BatchesContext;
  readonly #creation: CallCreation;
  readonly #runner: BatchRunner;
  readonly #lines: Lines;

  constructor(context: BatchesContext, creation: CallCreation, runner: BatchRunner, lines: Lines) {
    this.#context = context;
    this.#creation = creation;
    this.#runner = runner;
    this.#lines = lines;
  }

  async create(
    principal: Principal,
    input: CreateBatchInput,
    options: CreateOptions = {},
  ): Promise<BatchDetails & Creation & { readonly report: ImportReport }> {
    const checked = await this.#checked(principal, input, options);
    return once(
      this.#context,
      principal,
      options.idempotencyKey,
      ["batch", input],
      (receipt) => this.#store(principal, checked, receipt, options),
      async ({ recordId }) => {
        const batch = await this.#context.storage.batches.get(recordId);
        return batch && { ...(await this.#fill(principal, batch, checked, options)), created: true, replayed: true };
      },
    );
  }

  async dryRun(
    principal: Principal,
    input: CreateBatchInput,
    options: Pick<CreateOptions, "strict"> = {},
  ): Promise<BatchPlan> {
    const { batch, networks, targets } = await this.#checked(principal, input, options);
    const checks = new TargetChecks(this.#context, this.#creation, principal, batch, networks);
    const checkedTargets: NewTarget[] = [];
    for (let from = 0; from < targets.length; from += PIECE) {
      checkedTargets.push(...(await checks.check(targets.slice(from, from + PIECE), options)));
      await nextTurn();
    }
    const planned = withPositions(batch.id, checkedTargets);
    return planOf(this.#context, this.#lines, batch, async function* () {
      yield planned;
    });
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
    return this.#details(await this.#owned(principal, batchId));
  }

  async delete(principal: Principal, batchId: string): Promise<void> {
    const { id, status } = await this.#owned(principal, batchId);
    if (isOpen(status) || !(await this.#context.storage.batches.delete(id)))
      throw new Refusal("batch_open", `batch "${id}" is ${status}; cancel it first`);
  }

  async addTargets(
    principal: Principal,
    batchId: string,
    rows: AsyncIterable<TargetRow>,
    options: Pick<CreateOptions, "strict"> = {},
  ): Promise<ImportReport> {
    const batch = await this.#draft(principal, batchId);
    return this.#addRows(principal, batch, await this.#networks(principal, batch.instanceIds), rows, options);
  }

  async targets(
    principal: Principal,
    batchId: string,
    filter: TargetFilter = {},
    page: Page = {},
  ): Promise<BatchTarget[]> {
    const { id } = await this.#owned(principal, batchId);
    return this.#context.storage.batches.targets(id, filter, page);
  }

  async updateTarget(
    principal: Principal,
    batchId: string,
    position: number,
    input: UpdateTargetInput,
    options: Pick<CreateOptions, "strict"> = {},
  ): Promise<BatchTarget> {
    const { storage } = this.#context;
    const batch = await this.#draft(principal, batchId);
    if (!isObject(input))
      throw invalidInput([{ pointer: "", code: "invalid_json", detail: "the body must be a JSON object" }]);
    const networks = await this.#networks(principal, batch.instanceIds);
    const checks = new TargetChecks(this.#context, this.#creation, principal, batch, networks);
    for (;;) {
      const target = await this.#target(batch.id, position);
      const changed = withoutNulls({ ...inputOf(target), ...input } as TargetInput);
      const [next] = await checks.check([{ row: target.row, input: changed }], options);
      if (!next) throw targetNotFound(batch.id, position);
      const whole = { ...NO_FIELDS, ...next };
      const updated = await storage.batches.updateTarget(batch.id, position, target.version, whole, []);
      if (updated === "taken") {
        const fault = {
          column: "phoneNumber",
          code: "duplicate",
          detail: "another target has the same number",
        } as const;
        const patch = { ...whole, status: "DUPLICATE", nextAttemptAt: null, faults: [fault] } as const;
        const duplicate = await storage.batches.updateTarget(batch.id, position, target.version, patch, []);
        if (duplicate && duplicate !== "taken") return duplicate;
      } else if (updated) return updated;
    }
  }

  async removeTarget(principal: Principal, batchId: string, position: number): Promise<void> {
    const batch = await this.#draft(principal, batchId);
    if (!(await this.#context.storage.batches.removeTarget(batch.id, position)))
      throw targetNotFound(batch.id, position);
  }

  async plan(principal: Principal, batchId: string): Promise<BatchPlan> {
    const batch = await this.#owned(principal, batchId);
    return planOf(this.#context, this.#lines, batch, () => this.#allTargets(batch.id));
  }

  async start(
    principal: Principal,
    batchId: string,
    input: StartBatchInput = {},
    { strict = false }: Pick<CreateOptions, "strict"> = {},
  ): Promise<BatchDetails> {
    const batch = await this.#owned(principal, batchId);
    const { schemas, strictSchemas } = this.#context;
    const { skipInvalid = false } = parseBody((strict ? strictSchemas : schemas).startBatch, input, { strict });
    if (isOpen(batch.status)) return this.#details(batch);
    await this.#networks(principal, batch.instanceIds);
    const { byStatus } = await this.#context.storage.batches.counts(batch.id);
    const { INVALID: invalid = 0, WAITING: waiting = 0 } = byStatus;
    const all = Object.values(byStatus).reduce((sum, count) => sum + count, 0);
    if (batch.status === "DRAFT" && invalid > 0 && !skipInvalid)
      throw new Refusal(
        "batch_invalid",
        `${invalid} of ${all} targets have faults; correct them, or start with {"skipInvalid": true}`,
      );
    if (batch.status === "DRAFT" && waiting === 0)
      throw new Refusal("batch_empty", `batch "${batch.id}" has no target to call; add targets first`);
    const isLater = (batch.schedule.startAt ?? 0) > this.#context.system.now();
    return this.#move(principal, batch, isLater ? "schedule" : "begin", "started");
  }

  async pause(principal: Principal, batchId: string): Promise<BatchDetails> {
    const batch = await this.#owned(principal, batchId);
    return batch.status === "PAUSED" ? this.#details(batch) : this.#move(principal, batch, "pause", "paused");
  }

  async resume(principal: Principal, batchId: string): Promise<BatchDetails> {
    const batch = await this.#owned(principal, batchId);
    return batch.status === "RUNNING" ? this.#details(batch) : this.#move(principal, batch, "resume", "resumed");
  }

  async cancel(
    principal: Principal,
    batchId: string,
    input: CancelBatchInput = {},
    { strict = false }: Pick<CreateOptions, "strict"> = {},
  ): Promise<BatchDetails> {
    const batch = await this.#owned(principal, batchId);
    const { schemas, strictSchemas } = this.#context;
    const { liveCalls = "finish" } = parseBody((strict ? strictSchemas : schemas).cancelBatch, input, { strict });
    const details =
      batch.status === "CANCELLED"
        ? await this.#details(batch)
        : await this.#move(principal, batch, "cancel", "cancelled");
    if (liveCalls === "end") await this.#runner.endCalls(batch.id);
    return details;
  }

  async #checked(
    principal: Principal,
    input: CreateBatchInput,
    { strict = false, signal }: Pick<CreateOptions, "strict" | "signal">,
  ): Promise<CheckedBatch> {
    refuseDemo(principal, DEMO);
    return checkedBatch(this.#context, this.#creation, principal, input, { strict, signal });
  }

  async #store(
    principal: Principal,
    checked: CheckedBatch,
    receipt: NewReceipt | undefined,
    options: CreateOptions,
  ): Promise<(BatchDetails & Creation & { readonly report: ImportReport }) | undefined> {
    const { storage, limits } = this.#context;
    const { batch, audio } = checked;
    const insertion = await storage.batches.insert(batch, audio, limits.batchesPerUser, receipt);
    switch (insertion) {
      case "repeated":
        return undefined;
      case "user_deleted":
        throw new Refusal("unauthorized", "the account of this token was deleted");
      case "at_limit":
        throw new Refusal(
          "batch_quota",
          `you have ${limits.batchesPerUser} batches, and this server allows ${limits.batchesPerUser}; delete one that has ended`,
        );
      case "created":
    }
    const filled = await this.#fill(principal, batch, checked, options);
    return { ...filled, created: true, replayed: false };
  }

  /** Stores the targets that a new batch does not have yet, and starts it: a crash may have come in between. */
  async #fill(
    principal: Principal,
    batch: Batch,
    { networks, targets, mustStart }: CheckedBatch,
    options: CreateOptions,
  ): Promise<BatchDetails & { readonly report: ImportReport }> {
    const { storage } = this.#context;
    if (batch.status !== "DRAFT") return { ...(await this.#details(batch)), report: emptyReport() };
    const missing = targets.slice(batch.lastPosition);
    const report = await this.#addRows(
      principal,
      batch,
      networks,
      (async function* () {
        yield* missing;
      })(),
      options,
    );
    const details = mustStart
      ? await this.start(principal, batch.id)
      : await this.#details((await storage.batches.get(batch.id)) ?? batch);
    return { ...details, report };
  }

  /** Checks and stores rows in pieces, so that memory does not grow with their number. */
  async #addRows(
    principal: Principal,
    batch: Batch,
    networks: readonly Telephony[],
    rows: AsyncIterable<TargetRow>,
    options: Pick<CreateOptions, "strict">,
  ): Promise<ImportReport> {
    const checks = new TargetChecks(this.#context, this.#creation, principal, batch, networks);
    const report = emptyReport();
    let piece: TargetRow[] = [];
    for await (const row of rows) {
      piece.push(row);
      if (piece.length < PIECE) continue;
      await this.#storePiece(checks, batch, piece, report, options);
      piece = [];
      await nextTurn();
    }
    if (piece.length > 0) await this.#storePiece(checks, batch, piece, report, options);
    return report;
  }

  async #storePiece(
    checks: TargetChecks,
    { id }: Batch,
    rows: readonly TargetRow[],
    report: MutableReport,
    options: Pick<CreateOptions, "strict">,
  ): Promise<void> {
    const { storage, limits } = this.#context;
    const stored = await storage.batches.addTargets(id, await checks.check(rows, options), limits.targetsPerBatch);
    const firstRow = rows[0]?.row ?? 1;
    if (stored === "not_draft")
      throw new Refusal(
        "batch_not_draft",
        `batch "${id}" was started; row ${firstRow} and the rows after it were not stored`,
      );
    if (stored === "at_limit")
      throw new Refusal(
        "batch_full",
        `a batch has at most ${limits.targetsPerBatch} targets; row ${firstRow} and the rows after it were not stored`,
      );
    report.rows += stored.length;
    for (const { row, position, phone, status, faults } of stored) {
      report.stored[status] = (report.stored[status] ?? 0) + 1;
      if (faults && report.faults.length < MAX_REPORTED) report.faults.push({ row, position, phone, faults });
    }
  }

  async #move(principal: Principal, batch: Batch, move: BatchMove, participle: string): Promise<BatchDetails> {
    const { storage, events, system } = this.#context;
    for (let current = batch; ; current = await this.#owned(principal, batch.id)) {
      const status = nextState(BATCH_TRANSITIONS, current.status, move);
      if (!status)
        throw new Refusal("batch_state", `batch "${batch.id}" is ${current.status}, so it cannot be ${participle}`);
      const now = system.now();
      const { byStatus } = await storage.batches.counts(batch.id);
      const event = events.event(moveFact(current, move, null, byStatus), batchSubject(current), now);
      const patch: BatchPatch = {
        status,
        reason: null,
        updatedAt: now,
        ...(move === "begin" && { startedAt: now }),
        ...(move === "cancel" && { endedAt: now }),
      };
      const updated = await this.#update(current, patch, event);
      if (!updated) continue;
      events.publish([event]);
      this.#runner.changed(updated);
      return this.#details(updated);
    }
  }

  async #update(batch: Batch, patch: BatchPatch, event: Event): Promise<Batch | undefined> {
    try {
      return await this.#context.storage.batches.update(batch.id, batch.version, patch, [event]);
    } catch (error) {
      // The change may have been stored, with only the result lost.
      this.#runner.recheck(batch);
      throw error;
    }
  }

  async #details(batch: Batch): Promise<BatchDetails> {
    const counts = await this.#context.storage.batches.counts(batch.id);
    return { ...batch, counts, estimatedEndAt: estimatedEnd(batch, counts.byStatus, this.#context.system.now()) };
  }

  async #owned(principal: Principal, batchId: string): Promise<Batch> {
    refuseDemo(principal, DEMO);
    const batch = isId("batch", batchId) ? await this.#context.storage.batches.get(batchId) : undefined;
    if (batch?.userId !== principal.userId)
      throw new Refusal("batch_not_found", `there is no batch "${shortenedId(batchId)}"`);
    return batch;
  }

  async #draft(principal: Principal, batchId: string): Promise<Batch> {
    const batch = await this.#owned(principal, batchId);
    if (batch.status === "DRAFT") return batch;
    throw new Refusal("batch_not_draft", `batch "${batch.id}" is ${batch.status}; only a DRAFT takes targets`);
  }

  async #target(batchId: string, position: number): Promise<BatchTarget> {
    const target = await this.#context.storage.batches.target(batchId, position);
    if (!target) throw targetNotFound(batchId, position);
    return target;
  }

  /** The networks of these instances. @throws {Refusal} `instance_not_found` */
  async #networks(principal: Principal, instanceIds: readonly string[]): Promise<Telephony[]> {
    const { storage, telephony } = this.#context;
    const networks = new Set<Telephony>();
    for (const id of instanceIds) {
      const network = telephony.get((await ownedInstance(storage, principal, id)).provider);
      if (network) networks.add(network);
    }
    return [...networks];
  }

  async *#allTargets(batchId: string): AsyncGenerator<readonly BatchTarget[]> {
    for (let after: string | undefined; ; ) {
      const page = await this.#context.storage.batches.targets(batchId, {}, { limit: 500, after });
      yield page;
      const last = page.at(-1);
      if (!last || page.length < 500) return;
      after = String(last.position);
      await nextTurn();
    }
  }
}

interface MutableReport {
  rows: number;
  stored: Partial<Record<TargetStatus, number>>;
  faults: RowFaults[];
}

function emptyReport(): MutableReport {
  return { rows: 0, stored: {}, faults: [] };
}

function withPositions(batchId: string, targets: readonly NewTarget[]): BatchTarget[] {
  const rowOfKey = new Map<string, number>();
  return targets.map((target, index) => {
    const stored = { ...target, batchId, position: index + 1, attempts: 0, callId: null, version: 1 };
    if (target.phoneKey === null || target.status !== "WAITING") return stored;
    const firstRow = rowOfKey.get(target.phoneKey);
    if (firstRow === undefined) {
      rowOfKey.set(target.phoneKey, target.row);
      return stored;
    }
    const detail = `row ${firstRow} has the same number; it is called once`;
    return {
      ...stored,
      status: "DUPLICATE",
      nextAttemptAt: null,
      faults: [{ column: "phoneNumber", code: "duplicate", detail }],
    };
  });
}

/** The input that a target was made from. */
function inputOf({ phone, extension, variables, reference, metadata }: BatchTarget): TargetInput {
  return {
    phoneNumber: phone,
    ...(extension !== undefined && { extension }),
    ...(variables && { variables }),
    ...(reference !== undefined && { reference }),
    ...(metadata && { metadata }),
  };
}

/** The fields that are not null: null removes a field. */
function withoutNulls(input: TargetInput): TargetInput {
  const fields = Object.entries(input).filter(([, value]) => value !== null);
  return Object.fromEntries(fields) as unknown as TargetInput;
}

function targetNotFound(batchId: string, position: number): Refusal {
  return new Refusal("target_not_found", `batch "${batchId}" has no target at position ${position}`);
}

/** The end of a running batch at its speed so far, ms since 1970-01-01 UTC; null before a target has ended. */
function estimatedEnd(
  { status, startedAt }: Batch,
  { WAITING = 0, CALLING = 0, COMPLETED = 0, FAILED = 0 }: Readonly<Partial<Record<TargetStatus, number>>>,
  now: number,
): number | null {
  const ended = COMPLETED + FAILED;
  if (status !== "RUNNING" || startedAt === null || ended === 0 || now <= startedAt) return null;
  return Math.round(now + ((WAITING + CALLING) * (now - startedAt)) / ended);
}
