import type { CallStatus, CallType } from "../../src/domain/calls/call.ts";
import type { RECORDS } from "./records.ts";
import type { StoredRow } from "./stored-record.ts";

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
  receipts: ReceiptTable;
  removed_calls: RemovedCallTable;
  stored_usage: StoredUsageTable;
  trusted_time: TrustedTimeTable;
  owners: OwnerTable;
}

export type CallRow = Database["calls"];
export type EventRow = Database["events"];
export type InstanceRow = Database["instances"];

/** Columns without a field of the record. */
interface AddedColumns {
  instances: {
    /** Bytes that `stored_usage` counts for it. */
    stored_bytes: number;
  };
  calls: {
    /** The type of its message. */
    type: CallType;
    /** The creation by the purge clock, for the limit of its token; null without a token. */
    counted_at: number | null;
    /** The instance, if a demo token created the call: it is counted for that too. */
    demo_scope: string | null;
    /** Bytes that `stored_usage` counts for it. */
    stored_bytes: number;
  };
  events: {
    /** The position in the log of the user. */
    position: number;
  };
  webhook_deliveries: {
    /** 1: a test or a replay. */
    requested: 1 | null;
  };
  accounts: {
    /** The address as addresses are compared. */
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
