import type { StreamEventName } from "../application/call-audio/streams/stream-client.ts";
import type { BatchStatus, TargetStatus } from "../domain/batches/batch.ts";
import type { RetryReason } from "../domain/batches/retry.ts";
import type { WaitReason } from "../domain/batches/target-wait.ts";
import type { CallStatus, CallType } from "../domain/calls/call.ts";
import type { CompletedReason, FailedReason, HeardEvidence } from "../domain/calls/outcome.ts";
import type { Speaker } from "../domain/calls/transcript.ts";
import type { EventData, EventType } from "../domain/events.ts";
import type { DeliveryStatus } from "../domain/webhooks/webhook.ts";

// Generated from all-shapes.ts by `UPDATE_DOCS=1 npx vitest run --project unit test/http/response-types.test.ts`.

/** An active call in the queue of an instance. */
export interface CallSummary {
  id: string;
  type: CallType;
  /** COMPLETED and FAILED are final. */
  status: CallStatus;
  /** E.164. */
  target_phone: string;
  /** RFC 3339, UTC, with milliseconds. */
  created_at: string;
}

/** The response to the creation of a call. */
export interface CreatedCall {
  id: string;
  instance_id: string;
  type: CallType;
  /** COMPLETED and FAILED are final. */
  status: CallStatus;
  /** E.164. */
  target_phone: string;
  /** RFC 3339, UTC, with milliseconds. */
  created_at: string;
}

/** One utterance on a call. */
export interface TranscriptLine {
  /** `caller` is the audio that the stream's client plays to the callee. */
  speaker: Speaker;
  text: string;
  /** Time at which it was spoken. */
  timestamp: string;
  /** From pickup, ms. */
  start_ms: number;
  end_ms: number;
  /** The engine's confidence, 0 to 1; null if the engine does not report one. */
  confidence: number | null;
}

/** The latencies of one turn of an agent, ms; null if the turn has no such moment. */
export interface TurnMetrics {
  /** Input that the agent replied to. */
  input: "begin" | "key" | "words" | "silence" | "voicemail" | "transfer_failed" | "unheard" | "fault" | "ending";
  /** Time from the callee's last speech to the decision that the turn had ended; null if the engine decides that itself. */
  eou_delay_ms: number | null;
  /** Time from that decision, or else from the callee's last speech, to the final text. */
  stt_final_ms: number | null;
  /** Time from the request for a reply to the model's first token; null without a model. */
  llm_ttft_ms: number | null;
  /** Time from the request for a reply to its first sentence. */
  first_sentence_ms: number | null;
  /** Time from the first sentence to its first samples. */
  tts_ttfb_ms: number | null;
  /** Silence at the beginning of the agent's audio. */
  tts_leading_silence_ms: number | null;
  /** Time from the request for a reply to the first of its samples that was sent. */
  first_audio_sent_ms: number | null;
  /** Time from the callee's last speech, or key, to the agent's first audible sample. */
  turn_gap_ms: number | null;
  /** True if the callee interrupted the agent's words. */
  interrupted: boolean;
  /** Time from the beginning of the callee's speech to the agent's last sample; null unless speech interrupted the turn. */
  interrupt_latency_ms: number | null;
}

/** Measurements of a call that an agent conducted. */
export interface CallMetrics {
  /** In order; at most the first 500. */
  turns: TurnMetrics[];
}

/** Statistics of a call's audio during one interval, counted on our side. */
export interface QualityInterval {
  /** The end of the interval, from the connection of the call; it begins at the end of the previous interval. */
  until_ms: number;
  packets_sent: number;
  packets_received: number;
  /** Remote packets that never arrived, or arrived too late to be played. */
  packets_lost: number;
  /** Interarrival jitter (RFC 3550), at its highest. */
  jitter_ms: number;
  /** At its highest; null if the remote side does not report it. */
  round_trip_ms: number | null;
  /** Share of all our packets so far that the remote side lost, 0 to 1; null if it does not report it. */
  remote_loss: number | null;
}

/** Quality of a call's audio over time. */
export interface CallQuality {
  /** Oldest first, fewer than 120: 5 s each at first, longer in long calls; the last one may be shorter. */
  intervals: QualityInterval[];
}

/** End of a call. */
export interface Outcome {
  reason: CompletedReason | FailedReason;
  /** The raw cause: SIP status, Q.850 cause, network code. */
  detail: string | null;
  answered_by: "human" | "machine" | "fax" | "screening" | "unknown" | null;
  /** Played length of the message, ms; never more than duration_ms, null if the server died during the call. */
  heard_ms: number | null;
  /** The share of the accepted message that was played, 0 to 1: heard_ms divided by the length of the message, less what an event such as text_skipped reports; null for a call without a fixed message, for an answered call without evidence that the callee's side received our audio (heard_evidence is none), if the length is unknown, and if heard_ms is null. */
  heard_ratio: number | null;
  /** The evidence that the callee's side received our audio: its own audio, only its RTCP, or none; null if the server died during the call, and for calls of earlier versions. */
  heard_evidence: HeardEvidence | null;
  /** From pickup to the end, ms; 0 if the call was not picked up. */
  duration_ms: number;
}

/** Statistics of a call's audio on the network, counted on our side. */
export interface StreamStatistics {
  codec: string;
  packets_sent: number;
  /** 0 on a call that was picked up: the audio was one-way. */
  packets_received: number;
  /** Remote packets that never arrived, or arrived too late to be played. */
  packets_lost: number;
  packets_reordered: number;
  packets_duplicated: number;
  /** Broken packets: wrong keys, or not RTP. */
  packets_invalid: number;
  /** RTP packets from other senders; null if the network does not count them. */
  packets_injected: number | null;
  /** Interarrival jitter (RFC 3550). */
  jitter_ms: number;
  /** null if the remote side does not report it. */
  round_trip_ms: number | null;
  /** Share of our packets that the remote side lost, 0 to 1; null if it does not report it. */
  remote_loss: number | null;
  /** Estimated mean opinion score, 1 to 4.5; null before the first packet. */
  mos: number | null;
  /** Time the remote side kept the call on hold, ms. */
  held_ms: number;
}

/** The recording of a call. */
export interface Recording {
  duration_ms: number;
  /** Address of the WAV file, for the same token. */
  url: string;
}

/** A call. */
export interface Call {
  id: string;
  instance_id: string;
  type: CallType;
  /** COMPLETED and FAILED are final. */
  status: CallStatus;
  /** E.164. */
  target_phone: string;
  /** RFC 3339, UTC, with milliseconds. */
  created_at: string;
  from?: CallerId | undefined;
  /** Only of a call with `expiresAfterMs`: the end of its time in the queue. */
  expires_at?: string | undefined;
  /** The batch that placed the call. */
  batch_id?: string | undefined;
  /** Time at which the call connected; null until then. */
  started_at: string | null;
  /** Time at which the call ended; null until then. */
  ended_at: string | null;
  /** With expand=outcome; null until the call is final. */
  outcome?: Outcome | null | undefined;
  /** With expand=transcript: what was spoken, in the order of speaking; null until there is any. */
  transcript?: TranscriptLine[] | null | undefined;
  /** With expand=result: what the agent found out, by name; null until the call has ended, or if it found out nothing. */
  result?: { [key: string]: unknown } | null | undefined;
  /** With expand=result, if the call has a resultSchema, or its result could not be stored: why the result is null; null until the call has ended. */
  result_error?: string | null | undefined;
  /** With expand=metrics: the latencies of the agent's turns; null until the call has ended, or if no agent conducted it. */
  metrics?: CallMetrics | null | undefined;
  /** With expand=quality: the quality of the audio over time, even during the call; null until something was measured, or if the network has no statistics. */
  quality?: CallQuality | null | undefined;
  /** With expand=media: the message, and how the audio travelled over the network. For a call without a fixed message null until there are statistics, unless the call is to be recorded or has a Call-ID. */
  media?: AudioMedia | SpeechMedia | LiveMedia | null | undefined;
  /** With expand=reference: as given at the creation; null if it was not. */
  reference?: string | null | undefined;
  /** With expand=reference: as given at the creation; {} if it was not. */
  metadata?: { [key: string]: unknown } | undefined;
}

/** The caller as the callee sees it; the network fills in missing fields. */
export interface CallerId {
  /** E.164. */
  phoneNumber?: string | undefined;
  displayName?: string | undefined;
  /** Number and name are withheld from the callee. */
  withheld?: boolean | undefined;
}

/** An instance in a list, or in the response to its creation. */
export interface Instance {
  id: string;
  name: string;
  status: "CREATED" | "CONFIGURED" | "ACTIVE";
  metadata: { [key: string]: unknown };
  callerId?: CallerId | undefined;
  /** RFC 3339, UTC, with milliseconds. */
  created_at: string;
  /** RFC 3339, UTC, with milliseconds. */
  updated_at: string;
  connection?: Connection | undefined;
}

/** The line of an instance. */
export interface Connection {
  state: "unlinked" | "linking" | "connecting" | "online" | "reconnecting" | "offline";
  /** E.164. */
  phone: string | null;
  /** Time at which a probe last found the line online. */
  last_seen_at: string | null;
  /** Reason why the line is not online; null while it is. */
  reason: string | null;
  /** Information for the owner of the number besides the status; null if there is none. */
  condition: "pairing_code" | "qr_expired" | "passkey_required" | "replaced" | "restricted" | "client_outdated" | null;
  /** A sentence about an online line's condition; omitted if there is none. */
  condition_reason?: string | undefined;
  /** Time at which that condition ends; null if it is unknown. */
  condition_until?: string | null | undefined;
  /** The telephony provider of the instance. */
  provider: string;
  /** Time until which its calls wait, for a pause of its number or a busy line; omitted if they do not. */
  paused_until?: string | undefined;
  pause_reason?: string | undefined;
}

/** An instance with its active calls. */
export interface InstanceDetails {
  id: string;
  name: string;
  status: "CREATED" | "CONFIGURED" | "ACTIVE";
  metadata: { [key: string]: unknown };
  callerId?: CallerId | undefined;
  /** RFC 3339, UTC, with milliseconds. */
  created_at: string;
  /** RFC 3339, UTC, with milliseconds. */
  updated_at: string;
  /** The active calls, oldest first. */
  callQueue: CallSummary[];
  connection?: Connection | undefined;
}

/** The QR code that links a phone number. */
export interface LinkingCode {
  instanceId: string;
  /** Base64 of a PNG image, without a data: prefix. */
  qrCodeBase64: string;
  message: string;
}

/** A page that shows the QR code of an instance to anyone who has its address. */
export interface LinkPage {
  /** Address of the page; no token is needed. */
  url: string;
  /** RFC 3339, UTC, with milliseconds. */
  expires_at: string;
}

/** Content of the link page of an instance. */
export interface LinkPageState {
  /** The name of the instance. */
  name: string;
  linked: boolean;
  /** The linked number, E.164. */
  phone: string | null;
  /** The current code as a PNG image, Base64; null once linked. */
  qrCodeBase64: string | null;
}

/** A code that links a phone number when it is typed on the phone. */
export interface PairingCode {
  instanceId: string;
  pairingCode: string;
  /** RFC 3339, UTC, with milliseconds. */
  expires_at: string;
  message: string;
}

/** An endpoint that gets events. */
export interface Webhook {
  id: string;
  url: string;
  /** The delivered types; null for every type. */
  events: EventType[] | null;
  description: string | null;
  /** Names of the headers that are sent along, in lower case; their values are never shown. */
  header_names: string[];
  enabled: boolean;
  /** gone: the endpoint returned 410; failing: it failed for days; null while the webhook is enabled. */
  disabled_reason: "requested" | "gone" | "failing" | null;
  /** RFC 3339, UTC, with milliseconds. */
  created_at: string;
  /** RFC 3339, UTC, with milliseconds. */
  updated_at: string;
}

/** A webhook with a new secret, which is shown only once. */
export interface WebhookWithSecret {
  id: string;
  url: string;
  /** The delivered types; null for every type. */
  events: EventType[] | null;
  description: string | null;
  /** Names of the headers that are sent along, in lower case; their values are never shown. */
  header_names: string[];
  enabled: boolean;
  /** gone: the endpoint returned 410; failing: it failed for days; null while the webhook is enabled. */
  disabled_reason: "requested" | "gone" | "failing" | null;
  /** RFC 3339, UTC, with milliseconds. */
  created_at: string;
  /** RFC 3339, UTC, with milliseconds. */
  updated_at: string;
  /** The secret that verifies its messages. */
  secret: string;
}

/** The event that a test sends to a webhook; it is in no log. */
export interface WebhookTest {
  id: string;
  type: "webhook.test";
  /** RFC 3339, UTC, with milliseconds. */
  timestamp: string;
  call_id: null;
  instance_id: null;
  sequence: null;
  data: { webhook_id: string };
}

/** One event on its way to one webhook. */
export interface WebhookDelivery {
  id: string;
  webhook_id: string;
  /** The webhook-id of the message. */
  event_id: string;
  /** The type of the event; webhook.test for a test. */
  event_type: string;
  status: DeliveryStatus;
  attempts: number;
  /** null if no attempt is due. */
  next_attempt_at: string | null;
  /** RFC 3339, UTC, with milliseconds. */
  last_attempt_at: string | null;
  /** Status code of the last response; null without one. */
  last_status: number | null;
  /** Reason for the failure of the last attempt. */
  last_error: string | null;
  /** RFC 3339, UTC, with milliseconds. */
  created_at: string;
}

/** A batch: one message for many callees. */
export interface Batch {
  id: string;
  name: string;
  /** COMPLETED and CANCELLED are final. */
  status: BatchStatus;
  /** Reason for the pause or the cancellation; null without one. */
  reason: string | null;
  /** The instances that place the calls. */
  instance_ids: string[];
  type: "FIXED_TTS" | "FIXED_AUDIO" | "DYNAMIC_AGENT";
  schedule: BatchSchedule;
  /** Conditions on which a target is called again; null: never. */
  retry: BatchRetry | null;
  /** Maximum number of concurrent calls; null: as many as the instances carry. */
  max_concurrent: number | null;
  /** Minimum time between a call to a callee outside of the batch and one in it, ms. */
  gap_ms: number;
  /** Pauses the batch if this share of its last calls failed for the same reason; null: it never does. */
  breaker: { share: number; calls: number } | null;
  /** RFC 3339, UTC, with milliseconds. */
  created_at: string;
  /** RFC 3339, UTC, with milliseconds. */
  updated_at: string;
  /** RFC 3339, UTC, with milliseconds. */
  started_at: string | null;
  /** RFC 3339, UTC, with milliseconds. */
  ended_at: string | null;
}

/** The times at which the calls of a batch may be dialled. */
export interface BatchSchedule {
  /** No call is placed before this time. */
  start_at: string | null;
  /** No call is placed from this time on. */
  end_at: string | null;
  /** Local hours, and days from 1 Monday to 7 Sunday; null: at any hour, every day. */
  hours: { from: string; to: string; days: number[] | null } | null;
  /** Zone of the hours: callee, or an IANA name. */
  zone: string;
}

/** Conditions on which a target is called again. */
export interface BatchRetry {
  on: RetryReason[];
  /** Maximum number of calls after the first one. */
  times: number;
  backoff: { first_ms: number; factor: number; max_ms: number };
}

/** Number of targets of a batch, in total and by status. */
export interface BatchCounts {
  /** All targets. */
  targets: number;
  /** Number of targets by status. */
  by_status: { [key: string]: number };
  /** Targets that have ended, the most frequent reason first. */
  by_reason: { status: TargetStatus; reason: string; targets: number }[];
  /** Targets that wait for another call, by the reason of the last one; `machine` after a machine. */
  waiting_after: { reason: string; targets: number }[];
}

/** A batch with its progress. */
export interface BatchDetails {
  id: string;
  name: string;
  /** COMPLETED and CANCELLED are final. */
  status: BatchStatus;
  /** Reason for the pause or the cancellation; null without one. */
  reason: string | null;
  /** The instances that place the calls. */
  instance_ids: string[];
  type: "FIXED_TTS" | "FIXED_AUDIO" | "DYNAMIC_AGENT";
  schedule: BatchSchedule;
  /** Conditions on which a target is called again; null: never. */
  retry: BatchRetry | null;
  /** Maximum number of concurrent calls; null: as many as the instances carry. */
  max_concurrent: number | null;
  /** Minimum time between a call to a callee outside of the batch and one in it, ms. */
  gap_ms: number;
  /** Pauses the batch if this share of its last calls failed for the same reason; null: it never does. */
  breaker: { share: number; calls: number } | null;
  /** RFC 3339, UTC, with milliseconds. */
  created_at: string;
  /** RFC 3339, UTC, with milliseconds. */
  updated_at: string;
  /** RFC 3339, UTC, with milliseconds. */
  started_at: string | null;
  /** RFC 3339, UTC, with milliseconds. */
  ended_at: string | null;
  /** The message as it was given, without the bytes of an audio file. */
  message: { [key: string]: unknown };
  counts: BatchCounts;
  /** Estimated end at the speed so far; null if it is unknown, or if the batch is not RUNNING. */
  estimated_end_at: string | null;
}

/** The response to the creation of a batch. */
export interface CreatedBatch {
  id: string;
  name: string;
  /** COMPLETED and CANCELLED are final. */
  status: BatchStatus;
  /** Reason for the pause or the cancellation; null without one. */
  reason: string | null;
  /** The instances that place the calls. */
  instance_ids: string[];
  type: "FIXED_TTS" | "FIXED_AUDIO" | "DYNAMIC_AGENT";
  schedule: BatchSchedule;
  /** Conditions on which a target is called again; null: never. */
  retry: BatchRetry | null;
  /** Maximum number of concurrent calls; null: as many as the instances carry. */
  max_concurrent: number | null;
  /** Minimum time between a call to a callee outside of the batch and one in it, ms. */
  gap_ms: number;
  /** Pauses the batch if this share of its last calls failed for the same reason; null: it never does. */
  breaker: { share: number; calls: number } | null;
  /** RFC 3339, UTC, with milliseconds. */
  created_at: string;
  /** RFC 3339, UTC, with milliseconds. */
  updated_at: string;
  /** RFC 3339, UTC, with milliseconds. */
  started_at: string | null;
  /** RFC 3339, UTC, with milliseconds. */
  ended_at: string | null;
  /** The message as it was given, without the bytes of an audio file. */
  message: { [key: string]: unknown };
  counts: BatchCounts;
  /** Estimated end at the speed so far; null if it is unknown, or if the batch is not RUNNING. */
  estimated_end_at: string | null;
  report: ImportReport;
}

/** The numbers to call, when and from which number, and what prevents calls. */
export interface BatchPlan {
  /** Number of targets by status. */
  targets: { [key: string]: number };
  faults: RowFaults[];
  /** Faults of the batch itself; each with a JSON Pointer into it. */
  problems: { pointer: string; code: string; detail: string }[];
  instances: PlannedInstance[];
  /** The first dial; null if the plan has no calls. */
  starts_at: string | null;
  /** The end of the last call; null if the plan has no calls. */
  ends_at: string | null;
  /** Length of a call that the plan assumes, ms. */
  call_ms: number;
  call_ms_source: "message" | "history" | "assumed";
  /** The first 1,000 calls. */
  calls: { position: number; phone_number: string; instance_id: string; at: string }[];
}

/** An instance's part in a plan. */
export interface PlannedInstance {
  instance_id: string;
  name: string;
  /** E.164; null if it is unknown. */
  phone: string | null;
  /** Number of calls that it would place. */
  calls: number;
  /** Number of calls that it carries at once. */
  lines: number;
  /** Time between two dials, ms. */
  pace_ms: number;
  /** Reason why it cannot call now; null if it can. */
  blocked: string | null;
}

/** One callee of a batch. */
export interface BatchTarget {
  /** Place in the batch, from 1. */
  position: number;
  /** Line of the file, or place in the list, from 1. */
  row: number;
  /** E.164; as it was given if the target is invalid. */
  phone_number: string;
  extension?: string | undefined;
  variables: { [key: string]: string | number | boolean };
  reference: string | null;
  metadata: { [key: string]: unknown };
  status: TargetStatus;
  /** Set only for an invalid or duplicate target. */
  faults: TargetFault[];
  /** Number of calls so far. */
  attempts: number;
  /** Earliest time of the next call; null if it does not wait. */
  next_attempt_at: string | null;
  /** What it waits for; null if it does not wait, or if the cause is unknown. */
  waiting: TargetWait | null;
  /** Its active or last call. */
  call_id: string | null;
  /** Reason why it, or its last call, has ended. */
  reason: string | null;
  /** The result of its last call; null before its end. */
  result: TargetResult | null;
  /** RFC 3339, UTC, with milliseconds. */
  updated_at: string;
}

/** The cause and the end of a target's wait. */
export interface TargetWait {
  /** The start or the pause of the batch, hours, the gap after a call outside of the batch, a retry, a free line, or a limit. */
  reason: WaitReason;
  /** Reason of its last call, if it is called again; `machine` after a machine. */
  after: string | null;
  /** End of this wait; null if it is unknown. */
  until: string | null;
}

/** The result of an import of targets. */
export interface ImportReport {
  /** Rows read. */
  rows: number;
  /** Number of targets by status. */
  stored: { [key: string]: number };
  /** The first 1,000 rows with faults; the list of targets has all of them. */
  faults: RowFaults[];
}

/** The faults of one row of an import. */
export interface RowFaults {
  /** Line of the file, or place in the list, from 1. */
  row: number;
  /** Place in the batch, from 1. */
  position: number;
  /** E.164; as it was given if the target is invalid. */
  phone_number: string;
  faults: TargetFault[];
}

/** A fault of a target. */
export interface TargetFault {
  /** The variable or field that is wrong; empty for the whole row. */
  column: string;
  /** The column of the file, if its name differs from `column`. */
  file_column?: string | undefined;
  code: string;
  /** The fault and its fix; it begins with the column of the file, if there is one. */
  detail: string;
}

/** The result of a target's last call. */
export interface TargetResult {
  reason: string;
  detail: string | null;
  answered_by: "human" | "machine" | "fax" | "screening" | "unknown" | null;
  heard_ms: number | null;
  heard_ratio: number | null;
  heard_evidence: HeardEvidence | null;
  duration_ms: number;
  /** Time of the answer; null without one. */
  started_at: string | null;
  /** RFC 3339, UTC, with milliseconds. */
  ended_at: string;
  /** The result that an agent reported; null without one. */
  result: { [key: string]: unknown } | null;
}

/** A stored audio file. */
export interface AudioFile {
  id: string;
  name: string | null;
  /** SHA-256 of the file, lower-case hex. */
  sha256: string;
  format: "wav" | "mp3";
  /** Size of the file. */
  bytes: number;
  duration_ms: number;
  /** True if the file is truncated: it is shorter than its header states. */
  truncated: boolean;
  /** RFC 3339, UTC, with milliseconds. */
  created_at: string;
  /** null: it is kept until it is deleted. */
  expires_at: string | null;
}

/** Permission to call a number. */
export interface Consent {
  /** E.164. */
  phone: string;
  /** granted: its owner wants to be called; do_not_call: its owner does not. */
  status: "granted" | "do_not_call";
  /** How you obtained the consent; null if not recorded. */
  source: string | null;
  /** RFC 3339, UTC, with milliseconds. */
  created_at: string;
  /** RFC 3339, UTC, with milliseconds. */
  updated_at: string;
}

/** An available voice. */
export interface Voice {
  id: string;
  /** BCP 47. */
  language: string;
  engine: string;
  name: string;
  quality: "robotic" | "natural";
  /** Of xx-YY-1, the best voice of its language on this server: the permanent id of that voice at present. */
  alias_of: string | null;
  /** Address of a sample as a WAV file, for the same token. */
  sample_url: string;
}

/** A ticket for the stream of one call. */
export interface StreamTicket {
  /** Valid once, as `?ticket=`. */
  ticket: string;
  /** RFC 3339, UTC, with milliseconds. */
  expires_at: string;
  /** Address to connect to: the address of the stream, ticket included. */
  url: string;
}

/** A stream's message with spoken text. */
export interface StreamTranscript {
  type: "transcript";
  text: string;
  /** RFC 3339, UTC, with milliseconds. */
  timestamp: string;
  /** false: the text may still change. */
  final: boolean;
  speaker: Speaker;
}

/** A stream's message with an event of the call. */
export interface StreamCallEvent {
  type: "call_event";
  event: StreamEventName;
  /** RFC 3339, UTC, with milliseconds. */
  timestamp: string;
  /** With `dtmf`: the key that the callee pressed. */
  digit?: string | undefined;
  /** With `mark`: its name. */
  name?: string | undefined;
  /** With `cleared`: how much of all the audio was heard, ms. */
  heard_ms?: number | undefined;
  /** With `buffer_high` and `buffer_low`: how much audio is queued, ms. */
  queued_ms?: number | undefined;
  /** With `audio_dropped`: how much of the callee's audio is missing here, ms. */
  dropped_ms?: number | undefined;
  /** With `beep`: its tone, Hz. */
  hz?: number | undefined;
  /** With `line_tone`: the tone that was recognised. */
  tone?: "fax" | "special_information" | "busy" | "continuous" | "ringback" | undefined;
  /** With `beep` and `line_tone`: when it began, ms after pickup. With `answered_by`: when it was known. */
  at_ms?: number | undefined;
  /** With `answered_by`: the probable answerer. */
  answered_by?: "human" | "machine" | "fax" | "screening" | "unknown" | undefined;
  /** With `answered_by`: 0 to 1. */
  confidence?: number | undefined;
  /** With `completed`, `failed` and `answered_by`: why. With `transcripts_unavailable`: `no_engine` or `engine_failed`. */
  reason?: string | null | undefined;
  /** With `engine_failed`. true: only a part is missing; false: no further transcripts follow. */
  recoverable?: boolean | undefined;
}

/** How much of a client's stream the server has processed. */
export interface StreamProgress {
  type: "progress";
  /** Number of messages processed from clients of this call so far, over all connections; `progress` does not count. */
  messages: number;
  /** Audio that is queued, ms. */
  queued_ms: number;
}

/** The reply of a stream to a text message that it does not understand. */
export interface StreamError {
  type: "error";
  code: string;
  detail: string;
}

/** A message to a listener: the call has not been picked up yet. */
export interface ListenWaiting {
  type: "waiting";
  status: CallStatus;
}

/** A message to a listener: the audio begins. */
export interface ListenStarted {
  type: "started";
  /** Hz, of each channel. */
  sample_rate: number;
  encoding: "pcm_s16le";
  /** In the order of the interleaved samples: the callee, and what was played to them. */
  channels: ("callee" | "played")[];
}

/** A message to a listener: audio is missing here, because the client read too slowly. */
export interface ListenGap {
  type: "gap";
  lost_ms: number;
}

/** The last message to a listener: the call has ended. */
export interface ListenEnded {
  type: "call_ended";
  status: "COMPLETED" | "FAILED";
  reason: CompletedReason | FailedReason;
}

/** One fault of a request. */
export interface Fault {
  /** JSON Pointer into the body; "" for the body itself, and for a fault outside of the body. */
  pointer: string;
  /** The query parameter that is wrong. */
  parameter?: string | undefined;
  code: string;
  detail: string;
}

/** An error (RFC 9457). */
export interface Problem {
  /** Address of the page that explains the code. */
  type: string;
  title: string;
  status: number;
  detail: string;
  /** The path of the request. */
  instance: string;
  /** Stable, for programs. */
  code: string;
  request_id: string;
  /** With 400: every fault. */
  errors?: Fault[] | undefined;
  /** With 413: maximum bytes of a body. With `daily_call_limit`: maximum calls in 24 hours. */
  limit?: number | undefined;
}

/** The state of the server. */
export interface State {
  status: "ok" | "ready";
  /** Present while new calls over SIP wait because the audio of the live ones is late. */
  audio?: "overloaded" | undefined;
}

/** The media of a call that plays an audio file. */
export interface AudioMedia {
  format: "wav" | "mp3";
  duration_ms: number;
  /** True if the file is truncated: it is shorter than its header states. */
  truncated: boolean;
  bytes?: { header: number; played: number; ignored: number } | undefined;
  /** The stored file that the call named. */
  audio_id?: string | undefined;
  /** Statistics of the audio on the network; null until the call has ended, or if the network has none. */
  stream: StreamStatistics | null;
  /** Present if the call is to be recorded; null until the call has ended, or if nothing was kept. */
  recording?: Recording | null | undefined;
  /** Present once a call over SIP was dialled: the Call-ID of its last INVITE, as the provider's logs have it. */
  sip_call_id?: string | undefined;
}

/** The media of a call that speaks a text. */
export interface SpeechMedia {
  voice_id: string;
  characters: number;
  /** Statistics of the audio on the network; null until the call has ended, or if the network has none. */
  stream: StreamStatistics | null;
  /** Present if the call is to be recorded; null until the call has ended, or if nothing was kept. */
  recording?: Recording | null | undefined;
  /** Present once a call over SIP was dialled: the Call-ID of its last INVITE, as the provider's logs have it. */
  sip_call_id?: string | undefined;
}

/** The media of a call without a fixed message. */
export interface LiveMedia {
  /** Statistics of the audio on the network; null until the call has ended, or if the network has none. */
  stream: StreamStatistics | null;
  /** Present if the call is to be recorded; null until the call has ended, or if nothing was kept. */
  recording?: Recording | null | undefined;
  /** Present once a call over SIP was dialled: the Call-ID of its last INVITE, as the provider's logs have it. */
  sip_call_id?: string | undefined;
}

/** An entry of a timeline, of one type. */
export interface EventOf<Type extends EventType> {
  id: string;
  type: Type;
  /** RFC 3339, UTC, with milliseconds. */
  timestamp: string;
  /** null for an event of an instance or a batch. */
  call_id: string | null;
  /** null for an event of a batch. */
  instance_id: string | null;
  /** Counts the events of the call from 1, without gaps; null for an event of an instance or a batch. */
  sequence: number | null;
  data: EventData[Type];
}

/** An entry of a timeline; its `type` determines its `data`. */
export type Event = { [Type in EventType]: EventOf<Type> }[EventType];

/** A filter of calls, by the names of the query parameters. */
export interface CallFilters {
  /** Only calls of this instance. */
  readonly instance_id?: string | undefined;
  /** Only calls in one of these statuses. */
  readonly status?: CallStatus | readonly CallStatus[] | undefined;
  /** Only calls of this type. */
  readonly type?: CallType | undefined;
  /** Only calls with exactly this reference. */
  readonly reference?: string | undefined;
  /** Only calls to this number. */
  readonly target_phone?: string | undefined;
  /** Only calls that this batch has placed. */
  readonly batch_id?: string | undefined;
  /** Only calls created after this time. RFC 3339. */
  readonly created_after?: string | undefined;
  /** Only calls created before this time. RFC 3339. */
  readonly created_before?: string | undefined;
}

/** Every named response. */
export interface NamedResponses {
  CallSummary: CallSummary;
  CreatedCall: CreatedCall;
  TranscriptLine: TranscriptLine;
  TurnMetrics: TurnMetrics;
  CallMetrics: CallMetrics;
  QualityInterval: QualityInterval;
  CallQuality: CallQuality;
  Outcome: Outcome;
  StreamStatistics: StreamStatistics;
  Recording: Recording;
  Call: Call;
  CallList: Call[];
  CallerId: CallerId;
  Instance: Instance;
  InstanceList: Instance[];
  Connection: Connection;
  InstanceDetails: InstanceDetails;
  LinkingCode: LinkingCode;
  LinkPage: LinkPage;
  LinkPageState: LinkPageState;
  PairingCode: PairingCode;
  Event: Event;
  EventList: Event[];
  Webhook: Webhook;
  WebhookList: Webhook[];
  WebhookWithSecret: WebhookWithSecret;
  WebhookTest: WebhookTest;
  WebhookDelivery: WebhookDelivery;
  WebhookDeliveryList: WebhookDelivery[];
  Batch: Batch;
  BatchList: Batch[];
  BatchSchedule: BatchSchedule;
  BatchRetry: BatchRetry;
  BatchCounts: BatchCounts;
  BatchDetails: BatchDetails;
  CreatedBatch: CreatedBatch;
  BatchPlan: BatchPlan;
  PlannedInstance: PlannedInstance;
  BatchTarget: BatchTarget;
  BatchTargetList: BatchTarget[];
  TargetWait: TargetWait;
  ImportReport: ImportReport;
  RowFaults: RowFaults;
  TargetFault: TargetFault;
  TargetResult: TargetResult;
  AudioFile: AudioFile;
  AudioFileList: AudioFile[];
  Consent: Consent;
  ConsentList: Consent[];
  Voice: Voice;
  VoiceList: Voice[];
  StreamTicket: StreamTicket;
  StreamTranscript: StreamTranscript;
  StreamCallEvent: StreamCallEvent;
  StreamProgress: StreamProgress;
  StreamError: StreamError;
  ListenWaiting: ListenWaiting;
  ListenStarted: ListenStarted;
  ListenGap: ListenGap;
  ListenEnded: ListenEnded;
  Fault: Fault;
  Problem: Problem;
  State: State;
}

/** The value of a named response. */
export type View<Name extends keyof NamedResponses> = NamedResponses[Name];
