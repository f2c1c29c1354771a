import type { BatchStatus, TargetStatus } from "../domain/batches/batch.ts";
import type {
  CancelBatchInput,
  CreateBatchInput,
  StartBatchInput,
  TargetInput,
  UpdateTargetInput,
} from "../domain/batches/batch-input.ts";
import type { CreateOptions, Query, RequestOptions, Transport } from "./http-transport.ts";
import { allItems, type PageQuery } from "./list-pages.ts";
import type { Batch, BatchDetails, BatchPlan, BatchTarget, CreatedBatch, ImportReport } from "./views.ts";

/** Filter for batches; the fields are named after the query parameters. */
export interface ListBatchesQuery extends PageQuery {
  readonly status?: BatchStatus | undefined;
}

/** Filter for targets; the fields are named after the query parameters. */
export interface ListTargetsQuery extends PageQuery {
  /** Only targets in one of these states. */
  readonly status?: readonly TargetStatus[] | undefined;
}

/** Options of {@link BatchesClient.addTargets}. */
export interface AddTargetsOptions extends RequestOptions {
  /** The format of a file. Default: `csv`. */
  readonly format?: "csv" | "ndjson" | undefined;
  /** The CSV column that contains the numbers. Default: the column with a common name, such as `phone`. */
  readonly phoneColumn?: string | undefined;
  /** The CSV column that contains the references. Default: `reference`. */
  readonly referenceColumn?: string | undefined;
  /** The CSV column of each variable whose column has another name: `{ name: "First name" }`. */
  readonly variableColumns?: Readonly<Record<string, string>> | undefined;
}

/** Targets of an import: a list, or a file as text, as a `Blob` or `File`, or as a stream of its bytes. */
export type TargetSource = readonly TargetInput[] | string | Blob | ReadableStream<Uint8Array>;

/** Batches of calls. All methods throw `RingportError`. */
export interface BatchesClient {
  /** Stores a draft with its first targets; `start: true` starts it too. */
  create(input: CreateBatchInput, options?: CreateOptions): Promise<CreatedBatch>;
  /** The plan of a batch that is not stored. */
  dryRun(input: CreateBatchInput, options?: RequestOptions): Promise<BatchPlan>;
  /** All batches, newest first, read in pages of `limit` batches. */
  list(query?: ListBatchesQuery, options?: RequestOptions): AsyncGenerator<Batch, void, undefined>;
  get(id: string, options?: RequestOptions): Promise<BatchDetails>;
  /** Deletes a batch that is a draft or has ended, with its targets; its calls remain. */
  delete(id: string, options?: RequestOptions): Promise<void>;
  /**
   * Adds targets to a draft. A stream is sent as it is read. The request is not retried: a second attempt would add the
   * targets again, as duplicates. The server decides how long it may take.
   *
   * ```ts
   * const { stored, faults } = await ringport.batches.addTargets(batch.id, await openAsBlob("people.csv"));
   * ```
   */
  addTargets(id: string, targets: TargetSource, options?: AddTargetsOptions): Promise<ImportReport>;
  /** All targets by position, read in pages of `limit` targets. */
  targets(id: string, query?: ListTargetsQuery, options?: RequestOptions): AsyncGenerator<BatchTarget, void, undefined>;
  /** The targets with their results, as CSV text. */
  results(id: string, query?: Pick<ListTargetsQuery, "status">, options?: RequestOptions): Promise<string>;
  /** Corrects a target of a draft, which is checked again; null removes a field. */
  updateTarget(id: string, position: number, input: UpdateTargetInput, options?: RequestOptions): Promise<BatchTarget>;
  removeTarget(id: string, position: number, options?: RequestOptions): Promise<void>;
  /** The current plan: the numbers to call, when and from which number, and what prevents calls. */
  plan(id: string, options?: RequestOptions): Promise<BatchPlan>;
  /** Starts a draft, now or at its start time. Repeating it has no effect. */
  start(id: string, input?: StartBatchInput, options?: RequestOptions): Promise<BatchDetails>;
  /** Stops placing calls; live calls continue. */
  pause(id: string, options?: RequestOptions): Promise<BatchDetails>;
  resume(id: string, options?: RequestOptions): Promise<BatchDetails>;
  /** Ends the waiting targets; live calls continue to their end, unless `liveCalls` is `end`. */
  cancel(id: string, input?: CancelBatchInput, options?: RequestOptions): Promise<BatchDetails>;
}

const PAGE_SIZE = 100;
const TARGETS_PAGE_SIZE = 500;

export function batchesClient(transport: Transport): BatchesClient {
  const root = "/v1/batches";
  const pathOf = (id: string) => `${root}/${encodeURIComponent(id)}`;
  const targetPath = (id: string, position: number) => `${pathOf(id)}/targets/${position}`;
  const post = async <T>(path: string, body: unknown, options: CreateOptions = {}): Promise<T> =>
    (await transport.post<T>(path, body, options.idempotencyKey, options)).body;
  const step = (id: string, name: string, body: unknown, options?: RequestOptions): Promise<BatchDetails> =>
    post(`${pathOf(id)}/${name}`, body, options);
  return {
    create: (input, options) => post(root, { ...input, dryRun: false }, options),
    dryRun: (input, options) => post(root, { ...input, dryRun: true }, options),
    list: ({ limit = PAGE_SIZE, cursor, status } = {}, options) =>
      allItems((cursor) => transport.page(root, { limit, cursor, status }, options), cursor),
    get: (id, options) => transport.get(pathOf(id), {}, options),
    delete: (id, options) => transport.delete(pathOf(id), options),
    addTargets(id, targets, options = {}) {
      const isList = isTargetList(targets);
      const { format = "csv", phoneColumn, referenceColumn, variableColumns } = options;
      const variable_columns = variableColumns && JSON.stringify(variableColumns);
      const query: Query = isList
        ? {}
        : { phone_column: phoneColumn, reference_column: referenceColumn, variable_columns };
      const body = isList ? targets.map((target) => `${JSON.stringify(target)}\n`).join("") : targets;
      const type = isList || format === "ndjson" ? "application/x-ndjson" : "text/csv";
      return transport.upload(`${pathOf(id)}/targets`, query, { type, body }, options);
    },
    targets: (id, { limit = TARGETS_PAGE_SIZE, cursor, status } = {}, options) =>
      allItems((cursor) => transport.page(`${pathOf(id)}/targets`, { limit, cursor, status }, options), cursor),
    results: (id, { status } = {}, options) => transport.text(`${pathOf(id)}/targets`, { status }, "text/csv", options),
    updateTarget: (id, position, input, options) => transport.patch(targetPath(id, position), input, options),
    removeTarget: (id, position, options) => transport.delete(targetPath(id, position), options),
    plan: (id, options) => transport.get(`${pathOf(id)}/plan`, {}, options),
    start: (id, input = {}, options) => step(id, "start", input, options),
    pause: (id, options) => step(id, "pause", {}, options),
    resume: (id, options) => step(id, "resume", {}, options),
    cancel: (id, input = {}, options) => step(id, "cancel", input, options),
  };
}

function isTargetList(targets: TargetSource): targets is readonly TargetInput[] {
  return Array.isArray(targets);
}
