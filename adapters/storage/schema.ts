import type { Selectable } from "kysely";
import type { CallStatus, CallType } from "../../src/domain/call.ts";
import type { ConsentStatus } from "../../src/domain/consent.ts";
import type { EventType } from "../../src/domain/events.ts";
import type { InstanceStatus } from "../../src/domain/instance.ts";
import type { Speaker } from "../../src/domain/transcript.ts";
import type { DeliveryStatus, DisabledReason, WebhookDelivery } from "../../src/domain/webhook.ts";
import type { AccountRecord, CodePurpose } from "../../src/ports/storage.ts";

/**
 * The tables, the same in both databases. Times are ms since 1970-01-01 UTC. JSON columns are text, which takes every
 * JavaScript string (JSON.stringify escapes NUL and lone surrogates).
 */
export interface Database {
  users: UserTable;
  tokens: TokenTable;
  instances: InstanceTable;
  credentials: CredentialTable;
  line_records: LineRecordTable;
  consents: ConsentTable;
  calls: CallTable;
  call_audio: CallAudioTable;
  finished_counts: FinishedCountTable;
  events: EventTable;
  event_counters: EventCounterTable;
  receipts: ReceiptTable;
  removed_calls: RemovedCallTable;
  stored_usage: StoredUsageTable;
  transcripts: TranscriptTable;
  trusted_time: TrustedTimeTable;
  webhooks: WebhookTable;
  webhook_deliveries: WebhookDeliveryTable;
  owners: OwnerTable;
  accounts: AccountTable;
  account_sessions: AccountSessionTable;
  account_codes: AccountCodeTable;
  audit_log: AuditTable;
}

export interface UserTable {
  id: string;
  name: string;
  created_at: number;
}

export interface TokenTable {
  id: string;
  user_id: string;
  label: string;
  hash: string;
  demo_instance_id: string | null;
  /** JSON. */
  allowed_prefixes: string | null;
  max_calls_per_day: number | null;
  /** JSON. */
  scopes: string | null;
  created_at: number;
  expires_at: number | null;
  revoked_at: number | null;
  last_used_at: number | null;
}

export interface InstanceTable {
  id: string;
  user_id: string;
  name: string;
  status: InstanceStatus;
  /** JSON. */
  metadata: string;
  provider: string;
  phone: string | null;
  /** JSON. */
  caller_id: string | null;
  linked_at: number | null;
  /** JSON. */
  pause: string | null;
  /** JSON. */
  dialled_number: string | null;
  created_at: number;
  updated_at: number;
  erased_at: number | null;
  /** Bytes that `stored_usage` counts for it. */
  stored_bytes: number;
  version: number;
}

/** Sealed credentials, in a table of their own: reading an instance never loads them. */
export interface CredentialTable {
  instance_id: string;
  sealed: Uint8Array;
}

/** Sealed records of lines; their number is bounded per instance. */
export interface LineRecordTable {
  instance_id: string;
  key: string;
  sealed: Uint8Array;
}

export interface ConsentTable {
  user_id: string;
  phone: string;
  status: ConsentStatus;
  /** JSON. */
  source: string | null;
  created_at: number;
  updated_at: number;
}

export interface CallTable {
  id: string;
  instance_id: string;
  user_id: string;
  token_id: string | null;
  /** JSON. */
  allowed_prefixes: string | null;
  max_calls_per_day: number | null;
  status: CallStatus;
  type: CallType;
  target_phone: string;
  /** JSON. */
  caller_id: string | null;
  /** JSON. */
  sip: string | null;
  sip_call_id: string | null;
  /** JSON. */
  message: string;
  reference: string | null;
  /** JSON. */
  metadata: string | null;
  /** JSON. */
  outcome: string | null;
  /** JSON. */
  result: string | null;
  result_error: string | null;
  turns: string | null;
  /** JSON. */
  media_statistics: string | null;
  /** JSON. */
  quality: string | null;
  recorded_ms: number | null;
  created_at: number;
  started_at: number | null;
  ended_at: number | null;
  slot: number;
  owner: string | null;
  dialing_at: number | null;
  /** The creation by the purge clock, for the limit of its token; null without a token. */
  counted_at: number | null;
  /** The instance, if a demo token created the call: it is counted for that too. */
  demo_scope: string | null;
  /** Bytes that `stored_usage` counts for it. */
  stored_bytes: number;
  version: number;
}

/** Audio files of active calls. */
export interface CallAudioTable {
  call_id: string;
  /** From 0. Only a large file in SQLite has several parts. */
  part: number;
  bytes: Uint8Array;
}

/** Deleted calls that still count for their token; no other data of them is kept. */
export interface RemovedCallTable {
  token_id: string;
  /** `counted_at` of the call. */
  created_at: number;
}

/** Totals of what users, and the instances of demo tokens, have stored. */
export interface StoredUsageTable {
  owner: string;
  kind: "bytes";
  amount: number;
}

/** The number of final calls, so that counting never reads them; per instance, so that no row is hot. */
export interface FinishedCountTable {
  instance_id: string;
  status: CallStatus;
  calls: number;
}

export interface EventTable {
  id: string;
  type: EventType;
  at: number;
  call_id: string | null;
  instance_id: string;
  user_id: string;
  /** JSON. */
  data: string;
  /** The position in the log of the user. */
  position: number;
}

/** The last position in the log of each user. */
export interface EventCounterTable {
  user_id: string;
  position: number;
  /** The last event that the migration numbered. Up to here positions follow the ids. */
  numbered: number;
}

/** Idempotency keys of requests that created something. */
export interface ReceiptTable {
  user_id: string;
  /** The instance of a demo token; empty for other tokens. */
  scope: string;
  key: string;
  /** Empty if the record was removed. */
  fingerprint: string;
  record_id: string;
  /** Only in receipts of earlier versions: the call existed already, in this status. */
  existing_status: CallStatus | null;
  created_at: number;
}

/** Lines of transcripts. */
export interface TranscriptTable {
  call_id: string;
  position: number;
  speaker: Speaker;
  /** JSON. */
  text: string;
  at: number;
  start_ms: number;
  end_ms: number;
  confidence: number | null;
}

/** The time up to which the wall clock is trusted; one row. */
export interface TrustedTimeTable {
  id: number;
  at: number;
  claimed_at: number | null;
  waited_ms: number;
  step_ms: number | null;
  stepped_ago_ms: number | null;
}

export interface WebhookTable {
  id: string;
  user_id: string;
  url: string;
  /** JSON; null: every type. */
  events: string | null;
  description: string | null;
  /** JSON; null: none. */
  header_names: string | null;
  sealed_headers: Uint8Array | null;
  disabled_reason: DisabledReason | null;
  sealed_key: Uint8Array;
  sealed_old_key: Uint8Array | null;
  old_key_until: number | null;
  position: number;
  created_at: number;
  updated_at: number;
  version: number;
}

export interface WebhookDeliveryTable {
  id: string;
  webhook_id: string;
  event_id: string;
  event_type: WebhookDelivery["eventType"];
  body: string | null;
  /** 1: a test or a replay. */
  requested: 1 | null;
  status: DeliveryStatus;
  attempts: number;
  /** Null if the delivery is over. */
  next_attempt_at: number | null;
  last_attempt_at: number | null;
  last_status: number | null;
  last_error: string | null;
  created_at: number;
}

export interface AccountTable {
  id: string;
  user_id: string;
  email: string;
  /** The address as addresses are compared. */
  email_key: string;
  password_hash: string;
  role: AccountRecord["role"];
  created_at: number;
  removal_begun_at: number | null;
}

export interface AccountSessionTable {
  id: string;
  account_id: string;
  hash: string;
  created_at: number;
  last_used_at: number;
  expires_at: number;
  /** JSON. */
  user_agent: string | null;
}

export interface AccountCodeTable {
  id: string;
  purpose: CodePurpose;
  hash: string;
  account_id: string | null;
  created_at: number;
  expires_at: number;
}

export interface AuditTable {
  id: string;
  at: number;
  account_id: string | null;
  email: string | null;
  action: string;
  /** JSON. */
  subject: string | null;
}

export const WHOLE_DATABASE = "server";

/** The owner of each resource, which alone may write; only PostgreSQL has rows. */
export interface OwnerTable {
  /** The resource, such as {@link WHOLE_DATABASE}. */
  name: string;
  /** Rises with every owner. */
  epoch: number;
  /** The storage that owns it; null if it was given back. */
  owner: string | null;
  /** By the clock of the database. */
  expires_at: number;
}

export type CallRow = Selectable<CallTable>;
export type InstanceRow = Selectable<InstanceTable>;
export type EventRow = Selectable<EventTable>;
export type TranscriptRow = Selectable<TranscriptTable>;
