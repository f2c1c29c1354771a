import * as v from "valibot";
import { STREAM_EVENTS } from "../application/call-audio/streams/stream-client.ts";
import { CALL_STATUSES, CALL_TYPES } from "../domain/call.ts";
import { EVENT_TYPES } from "../domain/events.ts";
import { COMPLETED_REASONS, FAILED_REASONS, HEARD_EVIDENCE } from "../domain/outcome.ts";
import { SPEAKERS } from "../domain/transcript.ts";

/** The shapes of all answers, for `/openapi.json`; answers.ts says the same to TypeScript, and a type test holds both together. */

const timestamp = v.pipe(v.string(), v.isoTimestamp(), v.description("RFC 3339, UTC, with milliseconds."));
const milliseconds = v.pipe(v.number(), v.integer(), v.minValue(0));
const instanceId = v.pipe(v.string(), v.startsWith("inst_"));
const callId = v.pipe(v.string(), v.startsWith("call_"));

const callStatus = v.pipe(v.picklist(CALL_STATUSES), v.description("COMPLETED and FAILED are final."));
const phone = v.pipe(v.string(), v.description("E.164."));

const summary = {
  id: callId,
  type: v.picklist(CALL_TYPES),
  status: callStatus,
  target_phone: phone,
  created_at: timestamp,
};
const { id, ...rest } = summary;
const created = { id, instance_id: instanceId, ...rest };

const CallSummary = v.strictObject(summary);
const CreatedCall = v.strictObject(created);

const share = v.pipe(v.number(), v.minValue(0), v.maxValue(1));

const Outcome = v.strictObject({
  reason: v.picklist([...COMPLETED_REASONS, ...FAILED_REASONS]),
  detail: v.pipe(v.nullable(v.string()), v.description("The raw cause: SIP status, Q.850 cause, network code.")),
  answered_by: v.nullable(v.picklist(["human", "machine", "unknown"])),
  heard_ms: v.pipe(milliseconds, v.description("How much of the message was played to the callee.")),
  heard_ratio: v.pipe(
    v.nullable(share),
    v.description(
      "heard_ms divided by the length of the message; null for a call without a fixed message, and if it is not known.",
    ),
  ),
  heard_evidence: v.pipe(
    v.nullable(v.picklist(HEARD_EVIDENCE)),
    v.description(
      "What shows that the callee's side received our audio: audio of its own, its RTCP alone, or nothing; null for calls of earlier versions.",
    ),
  ),
  duration_ms: v.pipe(milliseconds, v.description("From the answer to the end; 0 when nobody answered.")),
});

const TranscriptLine = v.strictObject({
  speaker: v.pipe(
    v.picklist(SPEAKERS),
    v.description("The caller is whoever the client of the stream plays to the callee."),
  ),
  text: v.string(),
  timestamp: v.pipe(timestamp, v.description("When it was said.")),
  start_ms: v.pipe(milliseconds, v.description("From the answer of the call.")),
  end_ms: milliseconds,
  confidence: v.pipe(v.nullable(share), v.description("How sure the engine is; null where it does not tell.")),
});

const count = v.pipe(v.number(), v.integer(), v.minValue(0));
const StreamStatistics = v.strictObject({
  codec: v.string(),
  packets_sent: count,
  packets_received: v.pipe(count, v.description("0 on an answered call: the audio was one-way.")),
  packets_lost: v.pipe(count, v.description("Packets of the far side that never came, or too late to be played.")),
  packets_reordered: count,
  packets_duplicated: count,
  packets_invalid: v.pipe(count, v.description("Packets that were broken: wrong keys, no RTP.")),
  packets_injected: v.pipe(
    v.nullable(count),
    v.description("RTP packets of strangers; null where the network does not count them."),
  ),
  jitter_ms: v.pipe(v.number(), v.minValue(0), v.description("Interarrival jitter (RFC 3550).")),
  round_trip_ms: v.pipe(
    v.nullable(v.pipe(v.number(), v.minValue(0))),
    v.description("null where the far side does not tell."),
  ),
  remote_loss: v.pipe(
    v.nullable(share),
    v.description("Share of our packets that the far side lost; null where it does not tell."),
  ),
  mos: v.pipe(
    v.nullable(v.pipe(v.number(), v.minValue(1), v.maxValue(5))),
    v.description("Estimated mean opinion score; null before anything came."),
  ),
  held_ms: v.pipe(v.number(), v.minValue(0), v.description("How long the far side held us.")),
});
const stream = v.pipe(
  v.nullable(StreamStatistics),
  v.description(
    "How the audio went over the network; null until the call is over, and where the network does not count.",
  ),
);

const Recording = v.strictObject({
  duration_ms: milliseconds,
  url: v.pipe(v.string(), v.description("Where it can be heard: a WAV file, for the same token.")),
});
const recording = v.optional(
  v.pipe(
    v.nullable(Recording),
    v.description("Only of a call that is to be recorded: null until it is over, and where nothing is kept."),
  ),
);

const AudioMedia = v.strictObject({
  format: v.picklist(["wav", "mp3"]),
  duration_ms: milliseconds,
  truncated: v.pipe(v.boolean(), v.description("The file claimed more audio than it holds.")),
  stream,
  recording,
});
const SpeechMedia = v.strictObject({
  voice_id: v.string(),
  characters: v.pipe(v.number(), v.integer(), v.minValue(1)),
  stream,
  recording,
});
const LiveMedia = v.strictObject({ stream, recording });

const CallerId = v.strictObject({
  phoneNumber: v.optional(phone),
  displayName: v.optional(v.string()),
  withheld: v.optional(v.pipe(v.boolean(), v.description("Number and name are withheld from the callee."))),
});

const Call = v.strictObject({
  ...created,
  from: v.optional(CallerId),
  started_at: v.pipe(v.nullable(timestamp), v.description("When the call connected; null until then.")),
  ended_at: v.pipe(v.nullable(timestamp), v.description("When the call ended; null until then.")),
  outcome: v.optional(v.pipe(v.nullable(Outcome), v.description("With expand=outcome; null until the call is final."))),
  transcript: v.optional(
    v.pipe(
      v.nullable(v.array(TranscriptLine)),
      v.description("With expand=transcript: what was said, in the order of speaking; null until there is one."),
    ),
  ),
  media: v.optional(
    v.pipe(
      v.nullable(v.union([AudioMedia, SpeechMedia, LiveMedia])),
      v.description(
        "With expand=media: what the callee is to hear, and how the audio went over the network. For a call without a " +
          "fixed message null until there is a stream to tell of, unless it is to be recorded.",
      ),
    ),
  ),
});

const instance = {
  id: instanceId,
  name: v.string(),
  status: v.picklist(["CREATED", "CONFIGURED", "ACTIVE"]),
  metadata: v.record(v.string(), v.unknown()),
  callerId: v.optional(CallerId),
  created_at: timestamp,
  updated_at: timestamp,
};
const Instance = v.strictObject(instance);

const Connection = v.strictObject({
  state: v.picklist(["unlinked", "linking", "connecting", "online", "reconnecting", "offline"]),
  phone: v.nullable(phone),
  last_seen_at: v.pipe(v.nullable(timestamp), v.description("When a probe last found the line online.")),
  reason: v.pipe(v.nullable(v.string()), v.description("Why the line is not online; null while it is.")),
  provider: v.pipe(v.string(), v.description("The telephony that carries the instance.")),
});

const InstanceDetails = v.strictObject({
  ...instance,
  callQueue: v.pipe(v.array(CallSummary), v.description("The active calls, oldest first.")),
  connection: v.optional(Connection),
});

const LinkingCode = v.strictObject({
  instanceId,
  qrCodeBase64: v.pipe(v.string(), v.description("Base64 of a PNG image, without a data: prefix.")),
  message: v.string(),
});

const Event = v.strictObject({
  id: v.pipe(v.string(), v.startsWith("evt_")),
  type: v.picklist(EVENT_TYPES),
  timestamp,
  call_id: v.pipe(v.nullable(callId), v.description("null for an event of an instance.")),
  instance_id: instanceId,
  data: v.record(v.string(), v.nullable(v.union([v.string(), v.number(), v.boolean()]))),
});

const Voice = v.strictObject({
  id: v.string(),
  language: v.pipe(v.string(), v.description("BCP 47.")),
  engine: v.string(),
  name: v.string(),
  quality: v.picklist(["robotic", "natural"]),
  sample_url: v.pipe(v.string(), v.description("Where the voice can be heard: a WAV file, for the same token.")),
});

const StreamTicket = v.strictObject({
  ticket: v.pipe(v.string(), v.description("Good once, for `?ticket=`.")),
  expires_at: timestamp,
  url: v.pipe(v.string(), v.description("Where to connect: the address of the stream with the ticket in it.")),
});

const StreamTranscript = v.strictObject({
  type: v.literal("transcript"),
  text: v.string(),
  timestamp,
  final: v.pipe(v.boolean(), v.description("false: the text may still change.")),
  speaker: v.picklist(["callee", "caller"]),
});

const StreamCallEvent = v.strictObject({
  type: v.literal("call_event"),
  event: v.picklist(STREAM_EVENTS),
  timestamp,
  digit: v.optional(v.pipe(v.string(), v.description("With `dtmf`: the key that the callee pressed."))),
  name: v.optional(v.pipe(v.string(), v.description("With `mark`: its name."))),
  heard_ms: v.optional(v.pipe(v.number(), v.description("With `cleared`: how much of all the audio was heard."))),
  queued_ms: v.optional(
    v.pipe(v.number(), v.description("With `buffer_high` and `buffer_low`: how much waits to be played.")),
  ),
  dropped_ms: v.optional(
    v.pipe(v.number(), v.description("With `audio_dropped`: how much of the callee's audio is missing here.")),
  ),
  hz: v.optional(v.pipe(v.number(), v.description("With `beep`: its tone."))),
  at_ms: v.optional(v.pipe(v.number(), v.description("With `beep`: when it began, ms after the answer."))),
  reason: v.optional(
    v.pipe(
      v.nullable(v.string()),
      v.description(
        "With `completed` and `failed`: why. With `transcripts_unavailable`: `no_engine` or `engine_failed`.",
      ),
    ),
  ),
  recoverable: v.optional(
    v.pipe(v.boolean(), v.description("With `engine_failed`: only a part is missing; false: nothing more comes.")),
  ),
});

const StreamProgress = v.strictObject({
  type: v.literal("progress"),
  messages: v.pipe(
    v.number(),
    v.description("Messages taken from clients of this call so far, over all connections; `progress` does not count."),
  ),
  queued_ms: v.pipe(v.number(), v.description("Audio that waits to be played.")),
});

const StreamError = v.strictObject({ type: v.literal("error"), code: v.string(), detail: v.string() });

const Fault = v.strictObject({
  pointer: v.pipe(
    v.string(),
    v.description('JSON Pointer into the body; "" for the body itself, and for what is not in it.'),
  ),
  parameter: v.optional(v.pipe(v.string(), v.description("The query parameter that is wrong."))),
  code: v.string(),
  detail: v.string(),
});
const Problem = v.strictObject({
  type: v.pipe(v.string(), v.description("Leads to the page that explains the code.")),
  title: v.string(),
  status: v.pipe(v.number(), v.integer(), v.minValue(400), v.maxValue(599)),
  detail: v.string(),
  instance: v.pipe(v.string(), v.description("The path of the request.")),
  code: v.pipe(v.string(), v.description("Stable; programs decide by it.")),
  request_id: v.string(),
  errors: v.optional(v.pipe(v.array(Fault), v.description("With 400: every fault."))),
  limit: v.optional(
    v.pipe(v.number(), v.description("With 413: most bytes of a body. With `daily_call_limit`: calls in 24 hours.")),
  ),
});

const State = v.strictObject({ status: v.picklist(["ok", "ready"]) });

/** Every named answer. */
export const SCHEMAS = {
  CallSummary,
  CreatedCall,
  TranscriptLine,
  Outcome,
  StreamStatistics,
  Recording,
  Call,
  CallList: v.array(Call),
  CallerId,
  Instance,
  InstanceList: v.array(Instance),
  Connection,
  InstanceDetails,
  LinkingCode,
  Event,
  EventList: v.array(Event),
  Voice,
  VoiceList: v.array(Voice),
  StreamTicket,
  StreamTranscript,
  StreamCallEvent,
  StreamProgress,
  StreamError,
  Fault,
  Problem,
  State,
};

export type SchemaName = keyof typeof SCHEMAS;
