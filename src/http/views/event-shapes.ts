import * as v from "valibot";
import { ANSWER_REASONS, ANSWERERS, GREETING_ENDS } from "../../domain/answering/answering-machine.ts";
import { TARGET_STATUSES } from "../../domain/batches/batch.ts";
import { CALL_TYPES } from "../../domain/calls/call.ts";
import { IGNORED_REASONS } from "../../domain/calls/file-bytes.ts";
import { EVENT_TYPES, type EventData, type EventType, INCOMPLETE_REASONS, TOOL_FAULTS } from "../../domain/events.ts";
import { LINE_TONES } from "../../domain/tones/line-tones.ts";
import { TEST_EVENT_TYPE } from "../../domain/webhooks/webhook.ts";
import { outcomeShape } from "./call-details.ts";
import { callId, instanceId, isoTime, milliseconds, phone, shape } from "./shape.ts";

type DataSchema<T extends EventType> = v.StrictObjectSchema<v.ObjectEntries, undefined> &
  v.GenericSchema<unknown, EventData[T]>;

const noData = v.strictObject({});
const afterAnswer = v.pipe(milliseconds, v.description("After the answer, ms."));
const reference = v.optional(v.pipe(v.string(), v.description("The call's reference, if it has one.")));
const sip_call_id = v.optional(v.pipe(v.string(), v.description("The Call-ID of a SIP call's INVITE.")));
const referenceData = v.strictObject({ reference, sip_call_id });
const finalData = v.strictObject({
  ...outcomeShape.entries,
  reference,
  sip_call_id,
  metadata: v.optional(v.pipe(v.record(v.string(), v.unknown()), v.description("The call's metadata, if it has any."))),
}) as unknown as DataSchema<"completed" | "failed">; // metadata is JSON, which the schema need not check
const listener = {
  user_id: v.string(),
  token_id: v.pipe(
    v.nullable(v.string()),
    v.description("The token of the connection; null without a token, as in the console."),
  ),
};
const batchReference = { batch_id: v.pipe(v.string(), v.startsWith("batch_")) };
const targetCounts = v.pipe(
  v.record(v.string(), v.pipe(v.number(), v.integer(), v.minValue(0))),
  v.description("Number of targets by state."),
);
const reasonData = v.strictObject({ reason: v.string() });

/** The `data` of each event. */
export const EVENT_DATA: { readonly [T in EventType]: DataSchema<T> } = {
  queued: v.strictObject({ type: v.picklist(CALL_TYPES), reference }),
  route: v.strictObject({
    trunk: v.string(),
    attempt: v.pipe(v.number(), v.integer(), v.minValue(1)),
    reason: v.pipe(v.nullable(v.string()), v.description("Reasons why the trunks before it did not take the call.")),
    sip_call_id,
  }),
  address_resolved: v.strictObject({
    resolved_address: v.pipe(v.string(), v.description("Such as `5511987654321@s.whatsapp.net`.")),
  }),
  ringing: referenceData,
  alerting: noData,
  early_media: noData,
  answered: referenceData,
  audio_truncated: v.strictObject({ played_ms: milliseconds }),
  text_skipped: v.strictObject({
    text: v.pipe(v.string(), v.description("The passage that the voice does not speak, at most 200 characters of it.")),
    characters: v.pipe(
      v.number(),
      v.integer(),
      v.minValue(1),
      v.description("Number of its letters, digits and emoji."),
    ),
  }),
  audio_ignored: v.strictObject({
    bytes: v.pipe(v.number(), v.integer(), v.minValue(1)),
    reason: v.picklist(IGNORED_REASONS),
  }),
  message_ready: v.strictObject({ message_ms: milliseconds }),
  message_delayed: v.strictObject({ at_ms: afterAnswer, silence_ms: milliseconds }),
  agent_started: v.strictObject({
    agent: v.pipe(v.string(), v.description("The engine that conducts the call, such as `scripted`.")),
  }),
  tool_used: v.strictObject({
    tool: v.string(),
    ms: milliseconds,
    fault: v.pipe(
      v.nullable(v.picklist(TOOL_FAULTS)),
      v.description("Reason why it has no result; null if it has one."),
    ),
  }),
  transferred: v.strictObject({
    to: phone,
    detail: v.pipe(v.nullable(v.string()), v.description("The network's words, such as `SIP 200 OK`.")),
  }),
  transfer_failed: v.strictObject({
    to: phone,
    reason: v.pipe(v.string(), v.description("Reason why the call continues, such as `SIP 486 Busy Here`.")),
  }),
  result_ready: v.strictObject({
    error: v.pipe(v.nullable(v.string()), v.description("Reason why there is no result; null if there is one.")),
  }),
  dtmf: v.strictObject({ digit: v.string(), at_ms: v.optional(afterAnswer) }),
  callee_speech: v.strictObject({ start_ms: afterAnswer, end_ms: afterAnswer }),
  beep: v.strictObject({ hz: v.number(), at_ms: afterAnswer }),
  line_tone: v.strictObject({
    tone: v.picklist(LINE_TONES),
    frequencies: v.pipe(v.array(v.number()), v.description("Hz: one, those of a pair, or those of a sequence.")),
    at_ms: afterAnswer,
  }),
  answered_by: v.strictObject({
    answered_by: v.picklist(ANSWERERS),
    reason: v.picklist(ANSWER_REASONS),
    confidence: v.pipe(v.number(), v.minValue(0), v.maxValue(1)),
    at_ms: afterAnswer,
  }),
  leaving_message: v.strictObject({
    after: v.pipe(v.picklist(GREETING_ENDS), v.description("Sign that the machine records.")),
  }),
  extension_dialled: v.strictObject({
    extension: v.string(),
    in_band: v.pipe(v.boolean(), v.description("The keys were sent as tones; false: as the network's own keys.")),
  }),
  listening_started: v.strictObject(listener),
  listening_ended: v.strictObject({
    ...listener,
    listened_ms: v.pipe(milliseconds, v.description("Length of the audio they heard, ms.")),
  }),
  held: noData,
  resumed: noData,
  signalling: v.strictObject({
    direction: v.picklist(["sent", "received"]),
    message: v.pipe(v.string(), v.description("Secrets are masked.")),
  }),
  "media.one_way": noData,
  "media.inbound_silent": v.strictObject({ after_ms: milliseconds }),
  "media.address_refused": v.strictObject({ address: v.string(), detail: v.string() }),
  recording_incomplete: v.strictObject({
    reason: v.picklist(INCOMPLETE_REASONS),
    recorded_ms: milliseconds,
  }),
  recording_deleted: v.strictObject({ reason: v.picklist(["requested", "retention"]) }),
  timeline_incomplete: v.strictObject({ dropped: v.pipe(v.number(), v.integer(), v.minValue(1)) }),
  completed: finalData,
  failed: finalData,
  "instance.created": v.strictObject({ name: v.string() }),
  "instance.linked": v.strictObject({ phone: v.nullable(phone) }),
  "instance.active": noData,
  "instance.offline": reasonData,
  "instance.unlinked": reasonData,
  "instance.paused": v.strictObject({
    paused_until: isoTime,
    reason: v.pipe(v.string(), v.description("Reason for the pause of the number, with the figures.")),
  }),
  "instance.deleted": noData,
  batch_scheduled: v.strictObject({ ...batchReference, start_at: isoTime }),
  batch_started: v.strictObject(batchReference),
  batch_paused: v.strictObject({ ...batchReference, reason: v.string() }),
  batch_resumed: v.strictObject(batchReference),
  batch_completed: v.strictObject({ ...batchReference, targets: targetCounts }),
  batch_cancelled: v.strictObject({ ...batchReference, targets: targetCounts }),
  target_done: v.strictObject({
    ...batchReference,
    position: v.pipe(v.number(), v.integer(), v.minValue(1), v.description("Position of the target in its batch.")),
    status: v.picklist(TARGET_STATUSES),
    reason: v.pipe(v.string(), v.description("The reason of its last call's outcome, or why it was not called.")),
    attempts: v.pipe(v.number(), v.integer(), v.minValue(0), v.description("Number of calls to it.")),
    call_id: v.pipe(v.nullable(callId), v.description("Last call of the target; null if it was not called.")),
  }),
};

/** An entry of a timeline, by its type. */
export const EVENTS = Object.fromEntries(EVENT_TYPES.map((type) => [type, entry(type)])) as {
  readonly [T in EventType]: ReturnType<typeof entry<T>>;
};

function entry<T extends EventType>(type: T) {
  return v.strictObject({
    id: v.pipe(v.string(), v.startsWith("evt_")),
    type: v.literal(type),
    timestamp: isoTime,
    call_id: v.pipe(v.nullable(callId), v.description("null for an event of an instance or a batch.")),
    instance_id: v.pipe(v.nullable(instanceId), v.description("null for an event of a batch.")),
    sequence: v.pipe(
      v.nullable(v.pipe(v.number(), v.integer(), v.minValue(1))),
      v.description("Counts the events of the call from 1, without gaps; null for an event of an instance or a batch."),
    ),
    data: EVENT_DATA[type],
  });
}

export const eventShape = v.variant(
  "type",
  Object.values(EVENTS) as [(typeof EVENTS)["queued"], (typeof EVENTS)["route"]],
);

export const webhookTestShape = shape("The event that a test sends to a webhook; it is in no log.", {
  id: v.pipe(v.string(), v.startsWith("evt_")),
  type: v.literal(TEST_EVENT_TYPE),
  timestamp: isoTime,
  call_id: v.null(),
  instance_id: v.null(),
  sequence: v.null(),
  data: v.strictObject({ webhook_id: v.string() }),
});
