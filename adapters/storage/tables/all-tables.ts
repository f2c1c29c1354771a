import { type RawBuilder, sql } from "kysely";
import type { TargetStatus } from "../../../src/domain/batches/batch.ts";
import type { CallStatus, CallType } from "../../../src/domain/calls/call.ts";
import type { NumberPlace, StoredRow } from "./field-columns.ts";
import { RECORDS } from "./stored-fields.ts";

type Records = typeof RECORDS;
type RecordRows = {
  [Table in keyof Records]: StoredRow<Records[Table]> &
    (Table extends keyof AddedColumns ? AddedColumns[Table] : unknown);
};

/**
 * The tables, the same in both databases. Times are ms since 1970-01-01 UTC. JSON columns are text, which takes every
 * JavaScript string (JSON.stringify escapes NUL and lone surrogates).
 */
export interface Database extends RecordRows {
  credentials: CredentialTable;
  line_records: LineRecordTable;
  call_audio: CallAudioTable;
  finished_counts: FinishedCountTable;
  event_counters: EventCounterTable;
  batch_counts: BatchCountTable;
  receipts: ReceiptTable;
  removed_calls: RemovedCallTable;
  stored_usage: StoredUsageTable;
  trusted_time: TrustedTimeTable;
  owners: OwnerTable;
}

export type CallRow = Database["calls"];
export type EventRow = Database["events"];
export type InstanceRow = Database["instances"];

/** Columns that have no field in the record. */
interface AddedColumns {
  instances: {
    /** Number of bytes that `stored_usage` counts for it. */
    stored_bytes: number;
  };
  calls: {
    /** The type of its message. */
    type: CallType;
    /** Time of the creation by the purge clock, for the limit of its token; null without a token. */
    counted_at: number | null;
    /** The instance, if a demo token created the call: the call also counts against its limits. */
    demo_scope: string | null;
    /** Number of bytes that `stored_usage` counts for it. */
    stored_bytes: number;
    /** The stored audio file that its message names. */
    audio_id: string | null;
  };
  batches: {
    /** The stored audio file that its message names. */
    audio_id: string | null;
  };
  stored_audio: {
    /** Number of bytes that `stored_usage` counts for it. */
    stored_bytes: number;
  };
  events: {
    /** The position in the user's log. */
    position: number;
  };
  webhook_deliveries: {
    /** 1: a test or a replay. */
    requested: 1 | null;
  };
  accounts: {
    /** The address in the form used for comparison. */
    email_key: string;
    removal_begun_at: number | null;
  };
}

/** Sealed credentials, in a separate table: reading an instance never loads them. */
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

/** Audio files of active calls, of batches that have not ended, and of users. */
export interface CallAudioTable {
  /** Id of the call, the batch, or the stored audio file. */
  call_id: string;
  /** Number of the part, from 0. Only a large file in SQLite has several parts. */
  part: number;
  bytes: Uint8Array;
}

/** Deleted calls that still count against their token; no other data of them is kept. */
export interface RemovedCallTable {
  token_id: string;
  /** The call's `counted_at`. */
  created_at: number;
}

/** Totals of what users, and the instances of demo tokens, have stored. */
export interface StoredUsageTable {
  owner: string;
  kind: "bytes";
  amount: number;
}

/** The number of final calls, so that counting never reads the calls; per instance, so that no row is hot. */
export interface FinishedCountTable {
  instance_id: string;
  status: CallStatus;
  calls: number;
}

/** The number of a batch's targets by state and reason, so that counting never reads them. */
export interface BatchCountTable {
  batch_id: string;
  status: TargetStatus;
  /** Empty for targets that have not ended. */
  reason: string;
  targets: number;
}

/** The last position in each user's log. */
export interface EventCounterTable {
  user_id: string;
  position: number;
  /** The last event that the migration numbered. Up to this event, positions follow the ids. */
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
  /** Status of a call that already existed; only in receipts of earlier versions. */
  existing_status: CallStatus | null;
  created_at: number;
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

export const WHOLE_DATABASE = "server";

/** The owner of each resource, the only storage that may write; only PostgreSQL has rows. */
export interface OwnerTable {
  /** The resource, such as {@link WHOLE_DATABASE}. */
  name: string;
  /** Number of the owner; increases with every owner. */
  epoch: number;
  /** The storage that owns it; null if it has been released. */
  owner: string | null;
  /** End of the lease, by the database's clock. */
  expires_at: number;
}

type Places = {
  readonly [Table in keyof Database]: { readonly [Column in keyof Database[Table]]: readonly NumberPlace[] };
};

const NONE = ["none"] as const;
const KEPT = ["kept"] as const;

/**
 * Every table and column of the database, and what happens to a phone number in it. A new column does not compile until
 * it is here or in stored-fields.ts.
 */
export const NUMBER_PLACES: Places = {
  users: RECORDS.users.numbers,
  tokens: RECORDS.tokens.numbers,
  instances: { ...RECORDS.instances.numbers, stored_bytes: NONE },
  credentials: { instance_id: NONE, sealed: NONE },
  line_records: { instance_id: NONE, key: ["record"], sealed: NONE },
  consents: RECORDS.consents.numbers,
  calls: {
    ...RECORDS.calls.numbers,
    type: NONE,
    counted_at: NONE,
    demo_scope: NONE,
    stored_bytes: NONE,
    audio_id: NONE,
  },
  removed_calls: { token_id: NONE, created_at: NONE },
  stored_usage: { owner: NONE, kind: NONE, amount: NONE },
  call_audio: { call_id: NONE, part: NONE, bytes: NONE },
  stored_audio: { ...RECORDS.stored_audio.numbers, stored_bytes: NONE },
  batches: { ...RECORDS.batches.numbers, audio_id: NONE },
  batch_targets: RECORDS.batch_targets.numbers,
  batch_counts: { batch_id: NONE, status: NONE, reason: NONE, targets: NONE },
  finished_counts: { instance_id: NONE, status: NONE, calls: NONE },
  events: { ...RECORDS.events.numbers, position: NONE },
  event_counters: { user_id: NONE, position: NONE, numbered: NONE },
  receipts: {
    ...{ user_id: NONE, scope: NONE, record_id: NONE, existing_status: NONE, created_at: NONE },
    key: KEPT, // a repeated request must not call again
    fingerprint: NONE, // a hash, deleted with the call
  },
  transcripts: RECORDS.transcripts.numbers,
  trusted_time: { id: NONE, at: NONE, claimed_at: NONE, waited_ms: NONE, step_ms: NONE, stepped_ago_ms: NONE },
  webhooks: RECORDS.webhooks.numbers,
  webhook_deliveries: { ...RECORDS.webhook_deliveries.numbers, requested: NONE },
  owners: { name: NONE, epoch: NONE, owner: NONE, expires_at: NONE },
  accounts: { ...RECORDS.accounts.numbers, email_key: NONE, removal_begun_at: NONE },
  account_sessions: RECORDS.account_sessions.numbers,
  account_codes: RECORDS.account_codes.numbers,
  audit_log: RECORDS.audit_log.numbers,
};

/** The columns of a table whose numbers are treated in this way. */
export function columnsWith<Table extends keyof Database>(table: Table, place: NumberPlace): (keyof Database[Table])[] {
  const columns = Object.entries(NUMBER_PLACES[table]) as [keyof Database[Table], readonly NumberPlace[]][];
  return columns.filter(([, places]) => places.includes(place)).map(([column]) => column);
}

/** Tables that one migration creates and drops. */
const TEMPORARY_TABLES = ["unscoped_receipts", "whole_audio"];
/** The names of all tables. */
export const TABLE_NAMES: readonly string[] = [...Object.keys(NUMBER_PLACES), ...TEMPORARY_TABLES];

// A database uses a partial index only if the query repeats its condition word for word. So each condition is written
// here once, without parameters. Migrations repeat them, because migrations never change.

/** A call that holds a slot of its instance's queue. */
export const IS_ACTIVE: RawBuilder<boolean> = sql<boolean>`status in ('QUEUED', 'RINGING', 'IN_PROGRESS')`;
/** A call that occupies a line of its instance: it is ringing or answered, or its phone may already be ringing. */
export const IS_ON_LINE: RawBuilder<boolean> = sql<boolean>`(status in ('RINGING', 'IN_PROGRESS') or (status = 'QUEUED' and dialing_at is not null))`;
/** An active call with a stored audio file. */
export const IS_USING_AUDIO: RawBuilder<boolean> = sql<boolean>`audio_id is not null and status in ('QUEUED', 'RINGING', 'IN_PROGRESS')`;
/** A stored audio file that was not deleted. */
export const IS_KEPT_AUDIO: RawBuilder<boolean> = sql<boolean>`deleted_at is null`;
/** A stored audio file that was deleted, and may still be in use. */
export const IS_DELETED_AUDIO: RawBuilder<boolean> = sql<boolean>`deleted_at is not null`;
/** A stored audio file that will expire. */
export const IS_EXPIRING_AUDIO: RawBuilder<boolean> = sql<boolean>`expires_at is not null and deleted_at is null`;
export const IS_FINAL: RawBuilder<boolean> = sql<boolean>`status in ('COMPLETED', 'FAILED')`;
export const IS_QUEUED: RawBuilder<boolean> = sql<boolean>`status = 'QUEUED'`;
/** A queued call that no process has claimed. */
export const IS_WAITING: RawBuilder<boolean> = sql<boolean>`status = 'QUEUED' and owner is null`;
/** A waiting call with the server's time limit in the queue. */
export const IS_UNLIMITED: RawBuilder<boolean> = sql<boolean>`expires_at is null`;
/** A waiting call with its own time limit in the queue. */
export const IS_EXPIRING: RawBuilder<boolean> = sql<boolean>`status = 'QUEUED' and owner is null and expires_at is not null`;
/** A waiting call that has been postponed. */
export const IS_POSTPONED: RawBuilder<boolean> = sql<boolean>`status = 'QUEUED' and owner is null and not_before is not null`;
/** A call that has been dialled. */
export const IS_DIALLED: RawBuilder<boolean> = sql<boolean>`dialing_at > 0`;
/** A call with a recording. */
export const IS_RECORDED: RawBuilder<boolean> = sql<boolean>`recorded_ms > 0`;
/** A batch that has not ended. */
export const IS_OPEN_BATCH: RawBuilder<boolean> = sql<boolean>`status in ('SCHEDULED', 'RUNNING', 'PAUSED')`;
/** A batch that has ended. */
export const IS_ENDED_BATCH: RawBuilder<boolean> = sql<boolean>`status in ('COMPLETED', 'CANCELLED')`;
/** A batch that has not ended, drafts included. */
export const IS_UNENDED_BATCH: RawBuilder<boolean> = sql<boolean>`status not in ('COMPLETED', 'CANCELLED')`;
/** A count of targets that have not ended. */
export const IS_UNFINISHED_COUNT: RawBuilder<boolean> = sql<boolean>`status in ('WAITING', 'CALLING') and targets > 0`;
/** A target that waits for its next call. */
export const IS_WAITING_TARGET: RawBuilder<boolean> = sql<boolean>`status = 'WAITING'`;
/** A target with an active call. */
export const IS_CALLING_TARGET: RawBuilder<boolean> = sql<boolean>`status = 'CALLING'`;
/** A target whose number no other target of its batch may have. */
export const IS_UNIQUE_TARGET: RawBuilder<boolean> = sql<boolean>`status not in ('INVALID', 'DUPLICATE')`;
/** An instance whose number is linked. */
export const IS_LINKED: RawBuilder<boolean> = sql<boolean>`status in ('CONFIGURED', 'ACTIVE')`;
/** An instance without a number. */
export const IS_UNLINKED: RawBuilder<boolean> = sql<boolean>`status = 'CREATED'`;
/** An event that names a linked number. */
export const IS_LINK: RawBuilder<boolean> = sql<boolean>`type = 'instance.linked'`;
export const IS_NOT_DELETED: RawBuilder<boolean> = sql<boolean>`status <> 'DELETED'`;
/** An instance whose deletion is unfinished. */
export const IS_HALF_DELETED: RawBuilder<boolean> = sql<boolean>`status = 'DELETED' and erased_at is null`;
/** A webhook that is not disabled. */
export const IS_ENABLED: RawBuilder<boolean> = sql<boolean>`disabled_reason is null`;
/** A delivery that is not pending. */
export const IS_FINISHED: RawBuilder<boolean> = sql<boolean>`status <> 'pending'`;
/** A delivery that its receiver has accepted. */
export const IS_DELIVERED: RawBuilder<boolean> = sql<boolean>`status = 'delivered'`;
/** A test or replay that a user requested and that is not pending. */
export const IS_REQUESTED_AND_FINISHED: RawBuilder<boolean> = sql<boolean>`requested = 1 and status <> 'pending'`;
/** A token that has been revoked. */
export const IS_REVOKED: RawBuilder<boolean> = sql<boolean>`revoked_at is not null`;
/** The one account of the administrator. */
export const IS_ADMIN: RawBuilder<boolean> = sql<boolean>`role = 'admin'`;
/** The one code of the first start. */
export const IS_FIRST_CODE: RawBuilder<boolean> = sql<boolean>`purpose = 'first'`;
/** A code that lets a person register. */
export const IS_INVITATION: RawBuilder<boolean> = sql<boolean>`purpose = 'invitation'`;
/** A code for a new password, one for each account. */
export const IS_RESET_CODE: RawBuilder<boolean> = sql<boolean>`purpose = 'reset'`;
