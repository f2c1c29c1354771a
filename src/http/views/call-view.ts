// Shapes of responses. The fields of requests are in src/domain/calls/call-input.ts.

import * as v from "valibot";
import { outcomeData } from "../../application/calls/live/outcomes.ts";
import {
  CALL_STATUSES,
  CALL_TYPES,
  type CallFilter,
  isActive,
  type Call as StoredCall,
} from "../../domain/calls/call.ts";
import type { TranscriptLine as Line } from "../../domain/calls/transcript.ts";
import {
  choiceParameter,
  choicesParameter,
  idParameter,
  phoneParameter,
  type QueryParameter,
  textParameter,
  timeParameter,
} from "../requests/query-parameter.ts";
import type { View } from "../response-types.ts";
import { maybeTimestamp, timestamp } from "../timestamp.ts";
import { callMetricsShape, outcomeShape, transcriptLineShape, transcriptLineView, turnView } from "./call-details.ts";
import {
  audioMediaShape,
  callQualityShape,
  intervalView,
  liveMediaShape,
  mediaView,
  speechMediaShape,
} from "./media-view.ts";
import { callId, instanceId, isoTime, phone, shape } from "./shape.ts";

export const CALL_EXPANSIONS = ["outcome", "transcript", "media", "reference", "result", "metrics", "quality"] as const;
export type Expansion = (typeof CALL_EXPANSIONS)[number];

/** Query parameters that filter a list of calls. */
export const CALL_FILTERS: {
  readonly [Field in keyof CallFilter]-?: QueryParameter<Exclude<CallFilter[Field], undefined>>;
} = {
  instanceId: idParameter("instance_id", "Only calls of this instance.", "inst"),
  status: choicesParameter("status", "Only calls in one of these statuses, separated by commas.", CALL_STATUSES),
  type: choiceParameter("type", "Only calls of this type.", CALL_TYPES),
  reference: textParameter("reference", "Only calls with exactly this reference."),
  targetPhone: phoneParameter("target_phone", "Only calls to this number."),
  batchId: idParameter("batch_id", "Only calls that this batch has placed.", "batch"),
  createdAfter: timeParameter("created_after", "Only calls created after this time."),
  createdBefore: timeParameter("created_before", "Only calls created before this time."),
};

const summaryEntries = {
  id: callId,
  type: v.picklist(CALL_TYPES),
  status: v.pipe(v.picklist(CALL_STATUSES), v.description("COMPLETED and FAILED are final.")),
  target_phone: phone,
  created_at: isoTime,
};
const { id, ...otherEntries } = summaryEntries;
const createdEntries = { id, instance_id: instanceId, ...otherEntries };

export const callSummaryShape = shape("An active call in the queue of an instance.", summaryEntries);

export const createdCallShape = shape("The response to the creation of a call.", createdEntries);

export const callerIdShape = shape("The caller as the callee sees it; the network fills in missing fields.", {
  phoneNumber: v.optional(phone),
  displayName: v.optional(v.string()),
  withheld: v.optional(v.pipe(v.boolean(), v.description("Number and name are withheld from the callee."))),
});

export const callShape = shape("A call.", {
  ...createdEntries,
  from: v.optional(callerIdShape),
  expires_at: v.optional(
    v.pipe(isoTime, v.description("Only of a call with `expiresAfterMs`: the end of its time in the queue.")),
  ),
  batch_id: v.optional(v.pipe(v.string(), v.startsWith("batch_"), v.description("The batch that placed the call."))),
  started_at: v.pipe(v.nullable(isoTime), v.description("Time at which the call connected; null until then.")),
  ended_at: v.pipe(v.nullable(isoTime), v.description("Time at which the call ended; null until then.")),
  outcome: v.optional(
    v.pipe(v.nullable(outcomeShape), v.description("With expand=outcome; null until the call is final.")),
  ),
  transcript: v.optional(
    v.pipe(
      v.nullable(v.array(transcriptLineShape)),
      v.description("With expand=transcript: what was spoken, in the order of speaking; null until there is any."),
    ),
  ),
  result: v.optional(
    v.pipe(
      v.nullable(v.record(v.string(), v.unknown())),
      v.description(
        "With expand=result: what the agent found out, by name; null until the call has ended, or if it found out nothing.",
      ),
    ),
  ),
  result_error: v.optional(
    v.pipe(
      v.nullable(v.string()),
      v.description(
        "With expand=result, if the call has a resultSchema, or its result could not be stored: why the result is null; null until the call has ended.",
      ),
    ),
  ),
  metrics: v.optional(
    v.pipe(
      v.nullable(callMetricsShape),
      v.description(
        "With expand=metrics: the latencies of the agent's turns; null until the call has ended, or if no agent conducted it.",
      ),
    ),
  ),
  quality: v.optional(
    v.pipe(
      v.nullable(callQualityShape),
      v.description(
        "With expand=quality: the quality of the audio over time, even during the call; null until something was " +
          "measured, or if the network has no statistics.",
      ),
    ),
  ),
  media: v.optional(
    v.pipe(
      v.nullable(v.union([audioMediaShape, speechMediaShape, liveMediaShape])),
      v.description(
        "With expand=media: the message, and how the audio travelled over the network. For a call without a fixed message " +
          "null until there are statistics, unless the call is to be recorded or has a Call-ID.",
      ),
    ),
  ),
  reference: v.optional(
    v.pipe(
      v.nullable(v.string()),
      v.description("With expand=reference: as given at the creation; null if it was not."),
    ),
  ),
  metadata: v.optional(
    v.pipe(
      v.record(v.string(), v.unknown()),
      v.description("With expand=reference: as given at the creation; {} if it was not."),
    ),
  ),
});

/** A call in the queue of its instance. */
export function callSummaryView(call: StoredCall): View<"CallSummary"> {
  return {
    id: call.id,
    type: call.message.type,
    status: call.status,
    target_phone: call.targetPhone,
    created_at: timestamp(call.createdAt),
  };
}

/** A call in the response to its creation. */
export function createdCallView(call: StoredCall): View<"CreatedCall"> {
  const { id, ...otherFields } = callSummaryView(call);
  return { id, instance_id: call.instanceId, ...otherFields };
}

/**
 * A call in the response to a read, with the requested objects.
 * @param server public URL of the interface, base path included
 * @param transcript transcript of the call; used only if it was requested
 */
export function callView(
  call: StoredCall,
  server: () => string,
  expand?: ReadonlySet<Expansion>,
  transcript: readonly Line[] = [],
): View<"Call"> {
  const { created_at, ...createdView } = createdCallView(call);
  const view: View<"Call"> = {
    ...createdView,
    ...(call.from && { from: { ...call.from } }),
    ...(call.expiresAt !== undefined && { expires_at: timestamp(call.expiresAt) }),
    ...(call.batchId !== undefined && { batch_id: call.batchId }),
    started_at: maybeTimestamp(call.startedAt),
    ended_at: maybeTimestamp(call.endedAt),
    created_at,
  };
  if (!expand) return view;
  if (expand.has("outcome")) view.outcome = call.outcome && outcomeData(call.outcome);
  if (expand.has("transcript")) view.transcript = transcript.length > 0 ? transcript.map(transcriptLineView) : null;
  if (expand.has("result")) {
    view.result = call.result ?? null;
    const hasSchema = call.message.type === "DYNAMIC_AGENT" && call.message.resultSchema;
    if (hasSchema || call.resultError) view.result_error = resultError(call);
  }
  if (expand.has("metrics")) view.metrics = call.turns === undefined ? null : { turns: call.turns.map(turnView) };
  if (expand.has("quality"))
    view.quality = call.quality === undefined ? null : { intervals: call.quality.map(intervalView) };
  if (expand.has("media")) view.media = mediaView(call, server);
  if (expand.has("reference")) {
    view.reference = call.reference ?? null;
    view.metadata = call.metadata ?? {};
  }
  return view;
}

/** Reason why a call has no result although its schema requires one, or its agent had one. */
function resultError({ status, startedAt, result, resultError }: StoredCall): string | null {
  if (resultError || result || isActive(status)) return resultError ?? null;
  return startedAt === null ? "the call was not picked up" : "the server ended before the result was known";
}
