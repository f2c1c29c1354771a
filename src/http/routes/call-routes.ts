import { deadline } from "../../application/deadline.ts";
import type { PerUser } from "../../application/user-limits/per-user.ts";
import type { Principal } from "../../domain/access/principal.ts";
import { type Call, isActive } from "../../domain/calls/call.ts";
import type { CreateCallInput } from "../../domain/calls/call-input.ts";
import type { ReadJson } from "../bodies/body.ts";
import type { HttpDependencies } from "../dependencies.ts";
import { createOptions, creationReply } from "../replies/creation.ts";
import { logPage, page } from "../replies/list-reply.ts";
import { noContentAfter, record } from "../replies/reply.ts";
import {
  cursorParameter,
  expandParameter,
  LOG_CURSOR,
  limitParameter,
  readQuery,
} from "../requests/query-parameter.ts";
import { type PreferredWait, withPreferredWait } from "../requests/wait-preference.ts";
import type { HttpRoute } from "../route.ts";
import { CALL_EXPANSIONS, CALL_FILTERS, callView, createdCallView, type Expansion } from "../views/call-view.ts";
import { callIdOf } from "./record-id.ts";

const path = { callId: "The id of the call, with the prefix call_." };
const expand = expandParameter(CALL_EXPANSIONS);
const getQuery = { expand };
const listQuery = {
  ...CALL_FILTERS,
  expand,
  limit: limitParameter(200, "50"),
  cursor: cursorParameter("call"),
};
const timelineQuery = { limit: limitParameter(1000, "as many as fit into about 1 MiB"), cursor: LOG_CURSOR };

/**
 * The routes for the user's calls.
 * @param server public URL of the interface, base path included
 * @param waits bounds each user's waiting requests
 */
export function callRoutes(
  deps: Pick<HttpDependencies, "calls" | "limits" | "system">,
  readJson: ReadJson,
  server: () => string,
  waits: PerUser,
): HttpRoute[] {
  const { calls, limits } = deps;
  /** The transcripts of these calls, if the request asked for them. */
  const transcriptsFor = async (
    caller: Principal,
    records: readonly Call[],
    expand: ReadonlySet<Expansion> | undefined,
  ) => (expand?.has("transcript") ? calls.transcripts(caller, records) : undefined);
  return [
    {
      method: "GET",
      path: "/v1/calls/:callId",
      operation: {
        id: "getCall",
        tag: "Calls",
        summary: "Read a call",
        description: "With `Prefer: wait=N` the response waits up to N seconds, at most 60, until the call is final.",
        access: "read",
        cost: ["waits"],
        path,
        query: getQuery,
        headers: ["If-None-Match", "Prefer"],
        responses: {
          200: {
            description: "The call.",
            schema: "Call",
            headers: ["ETag", "Preference-Applied"],
          },
          304: { description: "The client's version is current.", headers: ["ETag", "Preference-Applied"] },
        },
        problems: ["invalid_request", "call_not_found"],
      },
      async run(context) {
        const query = readQuery(context.search, getQuery);
        const id = callIdOf(context);
        return withPreferredWait(context, waits, async (wait) => {
          const call = await finalCall(deps, context.caller, id, wait);
          const transcripts = await transcriptsFor(context.caller, [call], query.expand);
          return record(context, callView(call, server, query.expand, transcripts?.get(call.id)));
        });
      },
    },
    {
      method: "POST",
      path: "/v1/calls",
      operation: {
        id: "createCall",
        tag: "Calls",
        summary: "Place a call",
        description:
          "Queues a call; it is dialled as soon as its instance is ACTIVE. If the instance already has an active call, no new " +
          "call is created; the response is 200 with the existing call.",
        access: "call",
        cost: ["bodies", "inspections"],
        headers: ["Idempotency-Key", "Prefer"],
        body: { schema: "CreateCall" },
        responses: {
          201: {
            description: "The call was created.",
            schema: "CreatedCall",
            headers: ["Location", "Idempotent-Replayed", "Preference-Applied"],
          },
          200: {
            description: "The instance already has this active call; no new call was created.",
            schema: "CreatedCall",
            headers: ["Idempotent-Replayed", "Preference-Applied"],
          },
        },
        problems: [
          "invalid_request",
          "invalid_json",
          "phone_number_invalid",
          "voice_invalid",
          "voice_unavailable",
          "text_unspeakable",
          "agent_unavailable",
          "audio_unsupported",
          "idempotency_key_invalid",
          "demo_token_restricted",
          "destination_not_allowed",
          "caller_id_not_allowed",
          "instance_not_found",
          "audio_not_found",
          "call_not_found",
          "queue_full",
          "storage_quota",
          "idempotency_key_in_progress",
          "body_too_large",
          "unsupported_media_type",
          "idempotency_key_reused",
          "request_timeout",
          "daily_call_limit",
          "server_busy",
        ],
      },
      async run(context) {
        const body = await readJson(context, limits.bodyBytes);
        // The use case checks the body, so that calls without HTTP get the same refusals.
        const options = { ...createOptions(context), signal: context.signal };
        const call = await calls.create(context.caller, body as CreateCallInput, options);
        return creationReply(context, call, createdCallView(call));
      },
    },
    {
      method: "GET",
      path: "/v1/calls",
      operation: {
        id: "listCalls",
        tag: "Calls",
        summary: "List calls, newest first",
        access: "read",
        cost: ["pages"],
        query: listQuery,
        responses: {
          200: { description: "One page.", schema: "CallList", headers: ["Link"] },
        },
        problems: ["invalid_request"],
      },
      async run(context) {
        const { limit = 50, cursor, expand, ...filter } = readQuery(context.search, listQuery);
        let transcripts: Awaited<ReturnType<typeof transcriptsFor>>;
        return page(
          context,
          limit,
          cursor,
          async (page) => {
            const records = await calls.list(context.caller, filter, page);
            transcripts = await transcriptsFor(context.caller, records, expand);
            return records;
          },
          (call) => callView(call, server, expand, transcripts?.get(call.id)),
        );
      },
    },
    {
      method: "DELETE",
      path: "/v1/calls/:callId",
      operation: {
        id: "endCall",
        tag: "Calls",
        summary: "End an active call",
        description:
          "Hangs up at once; the call becomes FAILED with the reason terminated. If the end cannot be stored within 5 s, the " +
          "response is 503: a live call still ends, and a waiting call is not dialled while the server runs. Repeat the " +
          "request until it returns 204.",
        access: "call",
        cost: "small",
        path,
        responses: { 204: { description: "The end is stored." } },
        problems: ["call_not_found"],
      },
      run: async (context) => noContentAfter(calls.hangUp(context.caller, callIdOf(context))),
    },
    {
      method: "GET",
      path: "/v1/calls/:callId/events",
      operation: {
        id: "listCallEvents",
        tag: "Calls",
        summary: "Read the timeline of a call, oldest first",
        description:
          "With `Prefer: wait=N` an empty page of an active call waits up to N seconds, at most 60, for an event.",
        access: "read",
        cost: ["waits", "pages"],
        path,
        query: timelineQuery,
        headers: ["Prefer"],
        responses: {
          200: {
            description: "The events so far.",
            schema: "EventList",
            headers: ["Link", "Next-Cursor", "Preference-Applied"],
          },
        },
        problems: ["invalid_request", "call_not_found", "log_reset"],
      },
      async run(context) {
        const query = readQuery(context.search, timelineQuery);
        const id = callIdOf(context);
        return withPreferredWait(context, waits, async (wait) =>
          logPage(context, await calls.timeline(context.caller, id, query, wait)),
        );
      },
    },
  ];
}

/**
 * Waits until the call is final, up to a time limit, and returns it.
 * @throws {Refusal} `call_not_found`, and `stopping` if this process stops before the call has ended
 */
async function finalCall(
  { calls, system }: Pick<HttpDependencies, "calls" | "system">,
  caller: Principal,
  callId: string,
  wait: PreferredWait | undefined,
): Promise<Call> {
  const call = await calls.get(caller, callId);
  if (!wait || !isActive(call.status)) return call;
  const { signal, cancel } = deadline(system, wait.waitMs, wait.signal);
  try {
    return await calls.wait(caller, callId, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
    return await calls.get(caller, callId);
  } finally {
    cancel();
  }
}
