import { nextTurn } from "../../base/turn-budget.ts";
import type { Principal } from "../../domain/access/principal.ts";
import type { Batch, BatchTarget, TargetStatus } from "../../domain/batches/batch.ts";
import type { TargetInput, UpdateTargetInput } from "../../domain/batches/batch-input.ts";
import { duplicateOf, type TargetPlace, withDuplicates } from "../../domain/batches/duplicates.ts";
import { fileColumnsOfFaults } from "../../domain/batches/fault-column.ts";
import type { TargetRow } from "../../domain/batches/target-rows.ts";
import { isObject } from "../../domain/input/input-checks.ts";
import { invalidInput, Refusal } from "../../domain/refusal.ts";
import type { Telephony } from "../../ports/telephony.ts";
import type { CallCreation, CallCreationContext } from "../calls/creation/call-creation.ts";
import type { Lines } from "../instances/lines.ts";
import type { CreateOptions } from "../use-cases.ts";
import { batchProtection } from "./batch-hours.ts";
import type { ImportReport, RowFaults } from "./batch-use-cases.ts";
import { networksOf, TargetChecks } from "./target-checks.ts";

type TargetOptions = Pick<CreateOptions, "strict">;

/** Optional fields of a target, removed unless a correction has them. */
const NO_FIELDS = { extension: null, variables: null, reference: null, metadata: null } as const;
/** Number of rows checked and stored at a time. */
const PIECE_SIZE = 100;
/** Number of targets read at a time. */
const PAGE_SIZE = 500;
/** Maximum number of rows in a report of faults. */
const MAX_REPORTED = 1_000;

/** The targets of drafts: imports, corrections, and the pages of a plan. */
export class BatchTargets {
  readonly #context: CallCreationContext;
  readonly #creation: CallCreation;
  readonly #lines: Lines;

  constructor(context: CallCreationContext, creation: CallCreation, lines: Lines) {
    this.#context = context;
    this.#creation = creation;
    this.#lines = lines;
  }

  /**
   * Checks and stores rows in pieces, so that memory does not grow with their number.
   * @param networks networks of the batch's instances; looked up by default
   */
  async add(
    principal: Principal,
    batch: Batch,
    rows: AsyncIterable<TargetRow> | readonly TargetRow[],
    options: TargetOptions,
    networks?: readonly Telephony[],
  ): Promise<ImportReport> {
    const checks = await this.#checks(principal, batch, networks);
    const report: MutableReport = { rows: 0, stored: {}, faults: [] };
    for await (const piece of inPieces(rows)) await this.#storePiece(checks, batch, piece, report, options);
    return report;
  }

  /** The targets that an import of these rows would store. */
  async *checkedTargets(
    principal: Principal,
    batch: Batch,
    rows: readonly TargetRow[],
    options: TargetOptions,
    networks: readonly Telephony[],
  ): AsyncGenerator<readonly BatchTarget[]> {
    const checks = await this.#checks(principal, batch, networks);
    const placeByKey = new Map<string, TargetPlace>();
    let position = 0;
    for await (const piece of inPieces(rows))
      yield withDuplicates(await checks.check(piece, options), placeByKey, position).map((target) => {
        position++;
        return { ...target, batchId: batch.id, position, attempts: 0, callId: null, version: 1 };
      });
  }

  /** The targets of a stored batch, in pages. */
  async *pages(batchId: string): AsyncGenerator<readonly BatchTarget[]> {
    for (let after: string | undefined; ; ) {
      const page = await this.#context.storage.batches.targets(batchId, {}, { limit: PAGE_SIZE, after });
      yield page;
      const last = page.at(-1);
      if (!last || page.length < PAGE_SIZE) return;
      after = String(last.position);
      await nextTurn();
    }
  }

  async update(
    principal: Principal,
    batch: Batch,
    position: number,
    input: UpdateTargetInput,
    options: TargetOptions,
  ): Promise<BatchTarget> {
    const { batches } = this.#context.storage;
    if (!isObject(input))
      throw invalidInput([{ pointer: "", code: "invalid_json", detail: "the body must be a JSON object" }]);
    const checks = await this.#checks(principal, batch);
    for (;;) {
      const target = await batches.target(batch.id, position);
      if (!target) throw targetNotFound(batch.id, position);
      const correction = withoutNulls({ ...inputOf(target), ...input } as TargetInput);
      const columns = fileColumnsOfFaults(target.faults);
      const [checkedTarget] = await checks.check([{ row: target.row, input: correction, columns }], options);
      const patch = { ...NO_FIELDS, ...checkedTarget };
      let updatedTarget = await batches.updateTarget(batch.id, position, target.version, patch, []);
      if (updatedTarget === "taken")
        updatedTarget = await batches.updateTarget(
          batch.id,
          position,
          target.version,
          { ...patch, ...duplicateOf() },
          [],
        );
      if (updatedTarget && updatedTarget !== "taken") return updatedTarget;
    }
  }

  async #checks(principal: Principal, batch: Batch, callNetworks?: readonly Telephony[]): Promise<TargetChecks> {
    const networks = callNetworks ?? (await networksOf(this.#context, principal, batch.instanceIds));
    const protection = await batchProtection(this.#context, this.#lines, batch);
    return new TargetChecks(this.#context, this.#creation, principal, batch, { networks, protection });
  }

  async #storePiece(
    checks: TargetChecks,
    { id }: Batch,
    rows: readonly TargetRow[],
    report: MutableReport,
    options: TargetOptions,
  ): Promise<void> {
    const { storage, limits } = this.#context;
    const storedTargets = await storage.batches.addTargets(
      id,
      await checks.check(rows, options),
      limits.targetsPerBatch,
    );
    const firstRow = rows[0]?.row ?? 1;
    if (storedTargets === "not_draft")
      throw new Refusal(
        "batch_not_draft",
        `batch "${id}" was started; row ${firstRow} and the rows after it were not stored`,
      );
    if (storedTargets === "at_limit")
      throw new Refusal(
        "batch_full",
        `a batch has at most ${limits.targetsPerBatch} targets; row ${firstRow} and the rows after it were not stored: split the file, and add them to another batch`,
      );
    report.rows += storedTargets.length;
    for (const { row, position, phone, status, faults } of storedTargets) {
      report.stored[status] = (report.stored[status] ?? 0) + 1;
      if (faults && report.faults.length < MAX_REPORTED) report.faults.push({ row, position, phone, faults });
    }
  }
}

/** The refusal of a target that does not exist. */
export function targetNotFound(batchId: string, position: number): Refusal {
  return new Refusal("target_not_found", `batch "${batchId}" has no target at position ${position}`);
}

interface MutableReport {
  rows: number;
  stored: Partial<Record<TargetStatus, number>>;
  faults: RowFaults[];
}

/** Rows in pieces, with a turn of the event loop after each. */
async function* inPieces(rows: AsyncIterable<TargetRow> | readonly TargetRow[]): AsyncGenerator<TargetRow[]> {
  let piece: TargetRow[] = [];
  for await (const row of rows) {
    piece.push(row);
    if (piece.length < PIECE_SIZE) continue;
    yield piece;
    piece = [];
    await nextTurn();
  }
  if (piece.length > 0) yield piece;
}

/** The input that produces a target. */
function inputOf({ phone, extension, variables, reference, metadata }: BatchTarget): TargetInput {
  return {
    phoneNumber: phone,
    ...(extension !== undefined && { extension }),
    ...(variables && { variables }),
    ...(reference !== undefined && { reference }),
    ...(metadata && { metadata }),
  };
}

/** An input without its null fields: null removes a field. */
function withoutNulls(input: TargetInput): TargetInput {
  const fields = Object.entries(input).filter(([, value]) => value !== null);
  return Object.fromEntries(fields) as unknown as TargetInput;
}
