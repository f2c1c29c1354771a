import type { Batch, BatchTarget } from "../../../src/domain/batches/batch.ts";
import type { Call } from "../../../src/domain/calls/call.ts";
import type { QualityInterval } from "../../../src/domain/calls/quality-series.ts";
import { type StoredAudio, storedAudioId } from "../../../src/domain/calls/stored-audio.ts";
import type { TranscriptLine } from "../../../src/domain/calls/transcript.ts";
import type { Consent } from "../../../src/domain/dialling-rules/consent.ts";
import type { Event } from "../../../src/domain/events.ts";
import type { Instance } from "../../../src/domain/instances/instance.ts";
import type { Webhook, WebhookDelivery } from "../../../src/domain/webhooks/webhook.ts";
import type {
  AccountRecord,
  AuditRecord,
  CallPatch,
  CodeRecord,
  SessionRecord,
  TokenRecord,
  User,
} from "../../../src/ports/storage.ts";
import type { CallRow, Database } from "./all-tables.ts";
import { bytes, type FieldCodec, json, number, optional, storedRecord, text } from "./field-columns.ts";

type PackedInterval = readonly [number, number, number, number, number, number | null, number | null];

/** Intervals without their field names: a long call has a hundred of them, and lists read them too. */
const PACKED_QUALITY: FieldCodec = {
  write: (intervals: readonly QualityInterval[]) =>
    JSON.stringify(
      intervals.map(
        (interval): PackedInterval => [
          interval.untilMs,
          interval.packetsSent,
          interval.packetsReceived,
          interval.packetsLost,
          interval.jitterMs,
          interval.roundTripMs,
          interval.remoteLoss,
        ],
      ),
    ),
  read: (columnText) =>
    (JSON.parse(columnText) as PackedInterval[]).map(
      ([untilMs, packetsSent, packetsReceived, packetsLost, jitterMs, roundTripMs, remoteLoss]): QualityInterval => ({
        untilMs,
        packetsSent,
        packetsReceived,
        packetsLost,
        jitterMs,
        roundTripMs,
        remoteLoss,
      }),
    ),
};

/** The token that created a call or a batch, and its limits. */
const CREATOR = {
  tokenId: text("token_id", "none"),
  allowedPrefixes: optional(json("allowed_prefixes", "kept")),
  maxCallsPerDay: optional(number("max_calls_per_day")),
};

/**
 * The records of each table and their columns. Tables without records, and columns without a field, are in
 * all-tables.ts.
 */
export const RECORDS = {
  users: storedRecord<User>()({
    id: text("id", "none"),
    name: text("name", "none"),
    createdAt: number("created_at"),
  }),

  tokens: storedRecord<TokenRecord>()({
    id: text("id", "none"),
    userId: text("user_id", "none"),
    label: text("label", "none"),
    hash: text("hash", "none"),
    demoInstanceId: text("demo_instance_id", "none"),
    allowedPrefixes: json("allowed_prefixes", "kept"), // a limit of the token
    maxCallsPerDay: number("max_calls_per_day"),
    scopes: json("scopes", "none"),
    createdAt: number("created_at"),
    expiresAt: number("expires_at"),
    revokedAt: number("revoked_at"),
    lastUsedAt: number("last_used_at"),
  }),

  instances: storedRecord<Instance>()({
    id: text("id", "none"),
    userId: text("user_id", "none"),
    name: text("name", "kept"), // text from its owner, like the metadata
    status: text("status", "none"),
    metadata: json("metadata", "kept"),
    provider: text("provider", "none"),
    phone: text("phone", "reported"),
    callerId: optional(json("caller_id", "kept")), // the number that its owner calls from
    linkedAt: optional(number("linked_at")),
    pause: optional(json("pause", "none")),
    dialledNumber: optional(json("dialled_number", "none")), // a keyed hash
    createdAt: number("created_at"),
    updatedAt: number("updated_at"),
    erasedAt: number("erased_at"),
    version: number("version"),
  }),

  /** Consents keep their number, so that people who asked not to be called stay protected. */
  consents: storedRecord<Consent>()({
    userId: text("user_id", "none"),
    phone: text("phone", "kept"),
    status: text("status", "none"),
    source: json("source", "kept"),
    createdAt: number("created_at"),
    updatedAt: number("updated_at"),
  }),

  /** The column `demo_scope` marks the call of a demo token. */
  calls: storedRecord<Omit<Call, "isDemo">>()({
    id: text("id", "none"),
    instanceId: text("instance_id", "none"),
    userId: text("user_id", "none"),
    ...CREATOR,
    status: text("status", "none"),
    targetPhone: text("target_phone", "call"),
    from: optional(json("caller_id", "kept")),
    sip: optional(json("sip", "call")),
    sipCallId: optional(text("sip_call_id", "call")),
    message: json("message", "call"),
    reference: optional(text("reference", "call")),
    metadata: optional(json("metadata", "call")),
    batchId: optional(text("batch_id", "none")),
    batchPosition: optional(number("batch_position")),
    batchAttempt: optional(number("batch_attempt")),
    outcome: json("outcome", "call"),
    result: optional(json("result", "call")),
    resultError: optional(text("result_error", "call")),
    turns: optional(json("turns", "call")),
    mediaStatistics: json("media_statistics", "none"),
    quality: optional({ ...json("quality", "none"), codec: PACKED_QUALITY }),
    recordedMs: number("recorded_ms"),
    createdAt: number("created_at"),
    expiresAt: optional(number("expires_at")),
    notBefore: optional(number("not_before")),
    startedAt: number("started_at"),
    endedAt: number("ended_at"),
    slot: number("slot"),
    owner: text("owner", "none"),
    dialingAt: number("dialing_at"),
    line: number("line"),
    version: number("version"),
  }),

  stored_audio: storedRecord<StoredAudio>()({
    id: text("id", "none"),
    userId: text("user_id", "none"),
    name: text("name", "kept"), // text from its owner
    sha256: text("sha256", "none"),
    size: number("size_bytes"),
    file: json("file", "none"),
    createdAt: number("created_at"),
    expiresAt: number("expires_at"),
    deletedAt: number("deleted_at"),
  }),

  /** A batch's texts come from its owner. */
  batches: storedRecord<Batch>()({
    id: text("id", "none"),
    userId: text("user_id", "none"),
    ...CREATOR,
    name: text("name", "kept"),
    status: text("status", "none"),
    instanceIds: json("instance_ids", "none"),
    message: json("message", "kept"),
    schedule: json("schedule", "none"),
    retry: optional(json("retry", "none")),
    maxConcurrent: optional(number("max_concurrent")),
    gapMs: number("gap_ms"),
    breaker: optional(json("breaker", "none")),
    reason: text("reason", "none"),
    lastPosition: number("last_position"),
    startedAt: number("started_at"),
    endedAt: number("ended_at"),
    createdAt: number("created_at"),
    updatedAt: number("updated_at"),
    version: number("version"),
  }),

  batch_targets: storedRecord<BatchTarget>()({
    batchId: text("batch_id", "none"),
    position: number("position"),
    row: number("source_row"),
    phone: json("phone", "target"),
    extension: optional(text("extension", "none")),
    variables: optional(json("variables", "target")),
    reference: optional(json("reference", "target")),
    metadata: optional(json("metadata", "target")),
    status: text("status", "none"),
    faults: optional(json("faults", "target")),
    phoneKey: text("phone_key", "target"),
    zones: text("zones", "none"),
    attempts: number("attempts"),
    nextAttemptAt: number("next_attempt_at"),
    callId: text("call_id", "none"),
    reason: text("reason", "none"),
    result: optional(json("result", "target")),
    updatedAt: number("updated_at"),
    version: number("version"),
  }),

  events: storedRecord<Omit<Event, "instanceId"> & { readonly instanceId: string }>()({
    id: text("id", "none"),
    type: text("type", "none"),
    timestamp: number("at"),
    callId: text("call_id", "none"),
    instanceId: text("instance_id", "none"), // empty for an event of a batch
    userId: text("user_id", "none"),
    data: json("data", "call", "link"),
  }),

  transcripts: storedRecord<TranscriptLine>()({
    callId: text("call_id", "none"),
    position: number("position"),
    speaker: text("speaker", "none"),
    text: json("text", "call"),
    timestamp: number("at"),
    startMs: number("start_ms"),
    endMs: number("end_ms"),
    confidence: number("confidence"),
  }),

  webhooks: storedRecord<Webhook>()({
    id: text("id", "none"),
    userId: text("user_id", "none"),
    url: text("url", "none"),
    events: json("events", "none"),
    description: text("description", "none"),
    headerNames: { ...json("header_names", "none"), fallback: [] },
    sealedHeaders: bytes("sealed_headers"),
    disabledReason: text("disabled_reason", "none"),
    sealedKey: bytes("sealed_key"),
    sealedOldKey: bytes("sealed_old_key"),
    oldKeyUntil: number("old_key_until"),
    position: number("position"),
    createdAt: number("created_at"),
    updatedAt: number("updated_at"),
    version: number("version"),
  }),

  webhook_deliveries: storedRecord<WebhookDelivery>()({
    id: text("id", "none"),
    webhookId: text("webhook_id", "none"),
    eventId: text("event_id", "none"),
    eventType: text("event_type", "none"),
    body: text("body", "none"), // only for tests; other deliveries read their event
    status: text("status", "none"),
    attempts: number("attempts"),
    nextAttemptAt: number("next_attempt_at"),
    lastAttemptAt: number("last_attempt_at"),
    lastStatus: number("last_status"),
    lastError: text("last_error", "none"),
    createdAt: number("created_at"),
  }),

  accounts: storedRecord<AccountRecord>()({
    id: text("id", "none"),
    userId: text("user_id", "none"),
    email: text("email", "none"),
    passwordHash: text("password_hash", "none"),
    role: text("role", "none"),
    createdAt: number("created_at"),
  }),

  account_sessions: storedRecord<SessionRecord>()({
    id: text("id", "none"),
    accountId: text("account_id", "none"),
    hash: text("hash", "none"),
    createdAt: number("created_at"),
    lastUsedAt: number("last_used_at"),
    expiresAt: number("expires_at"),
    userAgent: json("user_agent", "none"),
  }),

  account_codes: storedRecord<CodeRecord>()({
    id: text("id", "none"),
    purpose: text("purpose", "none"),
    hash: text("hash", "none"),
    accountId: text("account_id", "none"),
    createdAt: number("created_at"),
    expiresAt: number("expires_at"),
  }),

  audit_log: storedRecord<AuditRecord>()({
    id: text("id", "none"),
    at: number("at"),
    accountId: text("account_id", "none"),
    email: text("email", "none"),
    action: text("action", "none"),
    subject: json("subject", "kept"),
  }),
};

/** The row of a new call. */
export function callRow(call: Call): CallRow {
  return {
    ...RECORDS.calls.row(call),
    type: call.message.type,
    counted_at: null,
    demo_scope: call.isDemo ? call.instanceId : null,
    stored_bytes: 0,
    audio_id: storedAudioId(call.message) ?? null,
  };
}

/** The row of a new batch. */
export function batchRow(batch: Batch): Database["batches"] {
  return { ...RECORDS.batches.row(batch), audio_id: storedAudioId(batch.message) ?? null };
}

/** The call in a row. */
export function callOf(row: CallRow): Call {
  const call = RECORDS.calls.record(row);
  return row.demo_scope === null ? call : { ...call, isDemo: true };
}

/** The columns that a patch changes. */
export function callColumns(patch: CallPatch): Partial<CallRow> {
  return { ...RECORDS.calls.changes(patch), ...(patch.message && { type: patch.message.type }) };
}
