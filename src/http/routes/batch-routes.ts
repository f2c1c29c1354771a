import { PerUser } from "../../application/user-limits/per-user.ts";
import { MAX_AT_ONCE } from "../../application/user-limits/user-limits.ts";
import { BATCH_STATUSES } from "../../domain/batches/batch.ts";
import type { CancelBatchInput, CreateBatchInput, StartBatchInput } from "../../domain/batches/batch-input.ts";
import type { ReadJson } from "../bodies/body.ts";
import type { HttpDependencies } from "../dependencies.ts";
import { createOptions, creationReply, preferenceApplied } from "../replies/creation.ts";
import { page } from "../replies/list-reply.ts";
import { jsonReply, noContentAfter, record } from "../replies/reply.ts";
import { choiceParameter, cursorParameter, limitParameter, readQuery } from "../requests/query-parameter.ts";
import { type HttpRoute, NOT_MODIFIED, operationsOf } from "../route.ts";
import { batchDetailsView, batchPlanView, batchView, createdBatchView } from "../views/batch-view.ts";
import { batchTargetRoutes, MAX_BATCH_PARTS } from "./batch-target-routes.ts";
import { batchIdOf } from "./record-id.ts";

const path = { batchId: "The id of the batch, with the prefix batch_." };
/** Maximum size of the body of a step, bytes. */
const MAX_STEP_BODY = 4 * 1024;
const DEFAULT_LIMIT = 50;
const listQuery = {
  status: choiceParameter("status", "Only batches in this state.", BATCH_STATUSES),
  limit: limitParameter(200, String(DEFAULT_LIMIT)),
  cursor: cursorParameter("batch"),
};
const BATCH_PROBLEMS = ["demo_token_restricted", "batch_not_found"] as const;
const BODY_PROBLEMS = [
  ...(["invalid_request", "invalid_json", "body_too_large", "unsupported_media_type"] as const),
  ...(["request_timeout", "server_busy"] as const),
];
const NO_BODY = {};
const PLAN_RUNS = `${MAX_AT_ONCE.plans} of your plans are being made; try again when one is ready`;

/** The routes for the user's batches. */
export function batchRoutes(
  deps: Pick<HttpDependencies, "batches" | "limits" | "system">,
  readJson: ReadJson,
): HttpRoute[] {
  const { batches, limits } = deps;
  const imports = new PerUser(MAX_AT_ONCE.imports);
  const plans = new PerUser(MAX_AT_ONCE.plans);
  const operation = operationsOf("Batches");

  return [
    {
      method: "POST",
      path: "/v1/batches",
      operation: operation("createBatch", "Create a batch of calls", {
        access: "call",
        cost: ["bodies", "inspections", "plans"],
        description:
          "Stores a DRAFT with its first targets; `start` starts it too. Targets with faults are stored as INVALID and listed in " +
          "`report`. With `dryRun` no batch is stored: the response is 200 with its plan.",
        headers: ["Idempotency-Key", "Prefer"],
        body: { schema: "CreateBatch" },
        responses: {
          201: {
            description: "The batch was created.",
            schema: "CreatedBatch",
            headers: ["Location", "Idempotent-Replayed", "Preference-Applied"],
          },
          200: {
            description: "The plan, with `dryRun`.",
            schema: "BatchPlan",
            headers: ["Preference-Applied"],
          },
        },
        problems: [
          ...BODY_PROBLEMS,
          ...([
            "voice_invalid",
            "voice_unavailable",
            "text_unspeakable",
            "agent_unavailable",
            "audio_unsupported",
          ] as const),
          ...(["idempotency_key_invalid", "idempotency_key_in_progress", "idempotency_key_reused"] as const),
          ...(["demo_token_restricted", "caller_id_not_allowed", "instance_not_found", "audio_not_found"] as const),
          ...(["storage_quota", "batch_quota", "batch_full", "batch_invalid", "batch_empty"] as const),
        ],
      }),
      async run(context) {
        const body = (await readJson(context, limits.bodyBytes, { parts: MAX_BATCH_PARTS })) as CreateBatchInput;
        const options = { ...createOptions(context), signal: context.signal };
        if (body?.dryRun === true) {
          const plan = await plans.run(context.caller.userId, PLAN_RUNS, () =>
            batches.dryRun(context.caller, body, options),
          );
          return jsonReply(200, batchPlanView(plan), preferenceApplied(context));
        }
        const batch = await batches.create(context.caller, body, options);
        return creationReply(context, batch, createdBatchView(batch));
      },
    },
    {
      method: "GET",
      path: "/v1/batches",
      operation: operation("listBatches", "List batches, newest first", {
        access: "read",
        cost: ["pages"],
        query: listQuery,
        responses: { 200: { description: "One page.", schema: "BatchList", headers: ["Link"] } },
        problems: ["invalid_request", "demo_token_restricted"],
      }),
      async run(context) {
        const { status, limit = DEFAULT_LIMIT, cursor } = readQuery(context.search, listQuery);
        const read = (page: { limit?: number | undefined; after?: string | undefined }) =>
          batches.list(context.caller, { status }, page);
        return page(context, limit, cursor, read, batchView);
      },
    },
    {
      method: "GET",
      path: "/v1/batches/:batchId",
      operation: operation("getBatch", "Read a batch and its progress", {
        access: "read",
        cost: "small",
        path,
        headers: ["If-None-Match"],
        responses: {
          200: { description: "The batch.", schema: "BatchDetails", headers: ["ETag"] },
          304: NOT_MODIFIED,
        },
        problems: BATCH_PROBLEMS,
      }),
      run: async (context) => record(context, batchDetailsView(await batches.get(context.caller, batchIdOf(context)))),
    },
    {
      method: "DELETE",
      path: "/v1/batches/:batchId",
      operation: operation("deleteBatch", "Delete a batch that is a draft or has ended", {
        access: "call",
        cost: "small",
        description: "Deletes its targets too. Its calls remain.",
        path,
        responses: { 204: { description: "The batch was deleted." } },
        problems: [...BATCH_PROBLEMS, "batch_open"],
      }),
      run: async (context) => noContentAfter(batches.delete(context.caller, batchIdOf(context))),
    },
    {
      method: "GET",
      path: "/v1/batches/:batchId/plan",
      operation: operation("planBatch", "Read the plan of the waiting targets", {
        access: "read",
        cost: ["plans"],
        description: "The numbers to call, when and from which number, and what prevents calls, as of now.",
        path,
        responses: { 200: { description: "The plan.", schema: "BatchPlan" } },
        problems: [...BATCH_PROBLEMS, "server_busy"],
      }),
      async run(context) {
        const id = batchIdOf(context);
        const plan = await plans.run(context.caller.userId, PLAN_RUNS, () => batches.plan(context.caller, id));
        return jsonReply(200, batchPlanView(plan));
      },
    },
    {
      method: "POST",
      path: "/v1/batches/:batchId/start",
      operation: operation("startBatch", "Start a batch, or schedule it", {
        access: "call",
        cost: ["bodies"],
        description:
          "Starts the calls now, or at `schedule.startAt`. Everything is checked first. Repeating it has no effect.",
        path,
        headers: ["Prefer"],
        body: { schema: "StartBatch", optional: true },
        responses: { 200: { description: "The batch.", schema: "BatchDetails", headers: ["Preference-Applied"] } },
        problems: [
          ...BODY_PROBLEMS,
          ...BATCH_PROBLEMS,
          ...(["instance_not_found", "batch_invalid", "batch_empty", "batch_state"] as const),
        ],
      }),
      async run(context) {
        const id = batchIdOf(context);
        const body = (await readJson(context, MAX_STEP_BODY, { emptyValue: NO_BODY })) as StartBatchInput;
        const { strict } = createOptions(context);
        const batch = await batches.start(context.caller, id, body, { strict });
        return jsonReply(200, batchDetailsView(batch), preferenceApplied(context));
      },
    },
    {
      method: "POST",
      path: "/v1/batches/:batchId/pause",
      operation: operation("pauseBatch", "Pause a batch", {
        access: "call",
        cost: "small",
        description: "Stops placing calls; live calls continue. Repeating it has no effect.",
        path,
        responses: { 200: { description: "The batch.", schema: "BatchDetails" } },
        problems: [...BATCH_PROBLEMS, "batch_state"],
      }),
      run: async (context) => jsonReply(200, batchDetailsView(await batches.pause(context.caller, batchIdOf(context)))),
    },
    {
      method: "POST",
      path: "/v1/batches/:batchId/resume",
      operation: operation("resumeBatch", "Resume a paused batch", {
        access: "call",
        cost: "small",
        description: "Repeating it has no effect.",
        path,
        responses: { 200: { description: "The batch.", schema: "BatchDetails" } },
        problems: [...BATCH_PROBLEMS, "batch_state"],
      }),
      run: async (context) =>
        jsonReply(200, batchDetailsView(await batches.resume(context.caller, batchIdOf(context)))),
    },
    {
      method: "POST",
      path: "/v1/batches/:batchId/cancel",
      operation: operation("cancelBatch", "Cancel a batch", {
        access: "call",
        cost: ["bodies"],
        description:
          "Ends waiting targets as CANCELLED. Live calls continue to their end, or end now with `liveCalls: end`.",
        path,
        headers: ["Prefer"],
        body: { schema: "CancelBatch", optional: true },
        responses: { 200: { description: "The batch.", schema: "BatchDetails", headers: ["Preference-Applied"] } },
        problems: [...BODY_PROBLEMS, ...BATCH_PROBLEMS, "batch_state"],
      }),
      async run(context) {
        const id = batchIdOf(context);
        const body = (await readJson(context, MAX_STEP_BODY, { emptyValue: NO_BODY })) as CancelBatchInput;
        const { strict } = createOptions(context);
        const batch = await batches.cancel(context.caller, id, body, { strict });
        return jsonReply(200, batchDetailsView(batch), preferenceApplied(context));
      },
    },
    ...batchTargetRoutes(deps, readJson, imports),
  ];
}
