import type { PerUser } from "../../application/user-limits/per-user.ts";
import { TARGET_STATUSES } from "../../domain/batches/batch.ts";
import type { TargetInput, UpdateTargetInput } from "../../domain/batches/batch-input.ts";
import { variablesOf } from "../../domain/batches/message-template.ts";
import { csvTargets, ndjsonTargets, type TargetRow } from "../../domain/batches/target-rows.ts";
import { isObject } from "../../domain/input/input-checks.ts";
import { parseJson } from "../../domain/input/json-body.ts";
import { invalidInput } from "../../domain/refusal.ts";
import type { ReadJson } from "../bodies/body.ts";
import { importBody, importFormat } from "../bodies/import-body.ts";
import type { HttpDependencies } from "../dependencies.ts";
import { createOptions, preferenceApplied } from "../replies/creation.ts";
import { page } from "../replies/list-reply.ts";
import { jsonReply, noContentAfter, withVary } from "../replies/reply.ts";
import { targetsCsv, wantsCsv } from "../replies/targets-csv.ts";
import {
  choicesParameter,
  limitParameter,
  positionCursorParameter,
  type QueryParameter,
  readQuery,
  textParameter,
} from "../requests/query-parameter.ts";
import type { RequestContext } from "../requests/request-context.ts";
import { type HttpRoute, operationsOf } from "../route.ts";
import { batchTargetView, importReportView } from "../views/batch-view.ts";
import { batchIdOf, positionOf } from "./record-id.ts";

const path = { batchId: "The id of the batch, with the prefix batch_." };
const targetPath = { ...path, position: "The position of the target." };
/**
 * Maximum number of keys and values in a JSON body with targets; more would delay live audio, so larger lists are
 * streamed.
 */
export const MAX_BATCH_PARTS = 50_000;
/** Maximum size of the body of a correction, bytes: variables and metadata. */
const MAX_TARGET_BODY = 1 << 20;
const IMPORT_RUNS = "another of your imports is running; try again when it has ended";
const DEFAULT_LIMIT = 100;
const listQuery = {
  status: choicesParameter("status", "Only targets in one of these states, separated by commas.", TARGET_STATUSES),
  limit: limitParameter(1000, `${DEFAULT_LIMIT}; as CSV: all`),
  cursor: positionCursorParameter(),
};
const MAX_COLUMNS_LENGTH = 10_000;
const VARIABLE_COLUMNS: QueryParameter<Readonly<Record<string, string>>> = {
  name: "variable_columns",
  description: 'Columns of variables whose columns have other names, as a JSON object: `{"name":"First name"}`.',
  schema: { type: "string", maxLength: MAX_COLUMNS_LENGTH },
  rule: `a JSON object such as {"name":"First name"}, of at most ${MAX_COLUMNS_LENGTH.toLocaleString("en")} characters`,
  read(text) {
    if (text.length > MAX_COLUMNS_LENGTH) return undefined;
    const parsedJson = parseJson(new TextEncoder().encode(text), { depth: 1, parts: 1_000 });
    const columns = "value" in parsedJson ? parsedJson.value : undefined;
    const isColumns = isObject(columns) && Object.values(columns).every((column) => typeof column === "string");
    return isColumns ? (columns as Record<string, string>) : undefined;
  },
};
const importQuery = {
  phone_column: textParameter(
    "phone_column",
    "The column of a CSV file with the numbers. Default: the one with a usual name, such as phone; required if several have one.",
  ),
  reference_column: textParameter("reference_column", "The column of a CSV file with the references."),
  variable_columns: VARIABLE_COLUMNS,
};
const BATCH_PROBLEMS = ["demo_token_restricted", "batch_not_found"] as const;
const BODY_PROBLEMS = [
  ...(["invalid_request", "invalid_json", "body_too_large", "unsupported_media_type"] as const),
  ...(["request_timeout", "server_busy"] as const),
];

/**
 * The routes for the targets of batches.
 * @param imports bounds the imports of each user
 */
export function batchTargetRoutes(
  { batches, limits, system }: Pick<HttpDependencies, "batches" | "limits" | "system">,
  readJson: ReadJson,
  imports: PerUser,
): HttpRoute[] {
  const operation = operationsOf("Batches");

  /** The rows of a JSON body. */
  async function* jsonRows(context: RequestContext): AsyncGenerator<TargetRow> {
    const body = await readJson(context, limits.bodyBytes, { parts: MAX_BATCH_PARTS });
    const targets = Array.isArray(body) ? body : (body as { targets?: unknown } | null)?.targets;
    if (!Array.isArray(targets))
      throw invalidInput([
        { pointer: "/targets", code: "required", detail: 'send {"targets": […]}, an array, or a file as text/csv' },
      ]);
    for (let index = 0; index < targets.length; index++) yield { row: index + 1, input: targets[index] as TargetInput };
  }

  return [
    {
      method: "POST",
      path: "/v1/batches/:batchId/targets",
      operation: operation("addTargets", "Add targets to a draft", {
        access: "call",
        cost: ["bodies", "imports"],
        description:
          "JSON for a few targets (at most 50,000 keys and values), NDJSON or CSV for up to 100,000: they are checked and " +
          "stored as they arrive, at most 64 MiB. A CSV file has a header row; its columns are the number, the reference, the " +
          "extension, and variables of the message. Rows with faults are stored as INVALID, so that they can be corrected.",
        path,
        query: importQuery,
        headers: ["Prefer"],
        body: { schema: "AddTargets", media: ["application/x-ndjson", "text/csv"] },
        responses: {
          200: { description: "The result of the import.", schema: "ImportReport", headers: ["Preference-Applied"] },
        },
        problems: [...BODY_PROBLEMS, ...BATCH_PROBLEMS, "instance_not_found", "batch_not_draft", "batch_full"],
      }),
      async run(context) {
        const { phone_column, reference_column, variable_columns } = readQuery(context.search, importQuery);
        const id = batchIdOf(context);
        const format = importFormat(context.request);
        const { message } = await batches.get(context.caller, id);
        return imports.run(context.caller.userId, IMPORT_RUNS, async () => {
          const columns = {
            ...{ phone: phone_column, reference: reference_column, variableColumns: variable_columns },
            variables: variablesOf(message),
          };
          const rows =
            format === "json"
              ? jsonRows(context)
              : format === "csv"
                ? csvTargets(importBody(context.request, system), columns)
                : ndjsonTargets(importBody(context.request, system));
          const { strict } = createOptions(context);
          const report = await batches.addTargets(context.caller, id, rows, { strict });
          return jsonReply(200, importReportView(report), preferenceApplied(context));
        });
      },
    },
    {
      method: "GET",
      path: "/v1/batches/:batchId/targets",
      operation: operation("listTargets", "List the targets of a batch, by position", {
        access: "read",
        cost: ["pages", "turns"],
        description:
          "With `Accept: text/csv` the response is a CSV file with the results. A file with `?status=INVALID` can be corrected " +
          "and imported again.",
        path,
        query: listQuery,
        responses: {
          200: {
            description: "One page, or a CSV file.",
            schema: "BatchTargetList",
            media: ["text/csv"],
            headers: ["Link", "Content-Disposition"],
          },
        },
        problems: ["invalid_request", ...BATCH_PROBLEMS],
      }),
      async run(context) {
        const { status, limit, cursor } = readQuery(context.search, listQuery);
        const id = batchIdOf(context);
        if (wantsCsv(context)) {
          const batch = await batches.get(context.caller, id);
          const read = (page: { limit: number; after: string | undefined }) =>
            batches.targets(context.caller, id, { status }, page, { withWaits: false });
          return withVary(targetsCsv(batch, read, { limit, after: cursor }), "Accept");
        }
        const read = async (page: { limit?: number | undefined; after?: string | undefined }) => {
          const targets = await batches.targets(context.caller, id, { status }, page);
          return targets.map((target) => ({ id: String(target.position), target }));
        };
        const reply = await page(context, limit ?? DEFAULT_LIMIT, cursor, read, ({ target }) =>
          batchTargetView(target),
        );
        return withVary(reply, "Accept");
      },
    },
    {
      method: "PATCH",
      path: "/v1/batches/:batchId/targets/:position",
      operation: operation("updateTarget", "Correct a target of a draft", {
        access: "call",
        cost: ["bodies"],
        description: "Changes the fields that the body names, and checks the target again; null removes a field.",
        path: targetPath,
        headers: ["Prefer"],
        body: { schema: "UpdateTarget" },
        responses: {
          200: { description: "The target as it is now.", schema: "BatchTarget", headers: ["Preference-Applied"] },
        },
        problems: [...BODY_PROBLEMS, ...BATCH_PROBLEMS, "instance_not_found", "target_not_found", "batch_not_draft"],
      }),
      async run(context) {
        const [id, position] = [batchIdOf(context), positionOf(context)];
        const body = await readJson(context, MAX_TARGET_BODY);
        const { strict } = createOptions(context);
        const target = await batches.updateTarget(context.caller, id, position, body as UpdateTargetInput, {
          strict,
        });
        return jsonReply(200, batchTargetView(target), preferenceApplied(context));
      },
    },
    {
      method: "DELETE",
      path: "/v1/batches/:batchId/targets/:position",
      operation: operation("removeTarget", "Remove a target from a draft", {
        access: "call",
        cost: "small",
        path: targetPath,
        responses: { 204: { description: "The target was removed." } },
        problems: [...BATCH_PROBLEMS, "target_not_found", "batch_not_draft"],
      }),
      run: async (context) =>
        noContentAfter(batches.removeTarget(context.caller, batchIdOf(context), positionOf(context))),
    },
  ];
}
