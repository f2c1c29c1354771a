import { CodedError } from "../base/error.ts";
import type { Consent, ConsentStatus } from "../domain/dialling-rules/consent.ts";
import type { AccountStore } from "./storage/account-store.ts";
import type { AudioStore } from "./storage/audio-store.ts";
import type { BatchStore } from "./storage/batch-store.ts";
import type { CallStore, TranscriptStore } from "./storage/call-store.ts";
import type { EventStore } from "./storage/event-store.ts";
import type { InstanceStore, LineRecordStore } from "./storage/instance-store.ts";
import type { Page } from "./storage/list-page.ts";
import type { LoginStore } from "./storage/login-store.ts";
import type { ReceiptStore } from "./storage/receipt-store.ts";
import type { WebhookStore } from "./storage/webhook-store.ts";

export type { AccountStore, TokenInsertion, TokenRecord, User } from "./storage/account-store.ts";
export type { AudioInsertion, AudioLimits, AudioStore } from "./storage/audio-store.ts";
export type { BatchPatch, BatchStore, DueTargets, NewTarget, TargetPatch } from "./storage/batch-store.ts";
export type {
  ByteBudget,
  CallPatch,
  CallQuota,
  CallStore,
  CallTally,
  Insertion,
  RemovedCalls,
  TranscriptStore,
} from "./storage/call-store.ts";
export type { EventStore, LogPage } from "./storage/event-store.ts";
export type { InstancePatch, InstanceStore, LineRecordStore } from "./storage/instance-store.ts";
export type { Page } from "./storage/list-page.ts";
export type {
  AccountDecision,
  AccountRecord,
  AccountRemoval,
  AuditPage,
  AuditRecord,
  CodePurpose,
  CodeRecord,
  LoginStore,
  NewAccount,
  RegistrationResult,
  SessionRecord,
  UsedCode,
} from "./storage/login-store.ts";
export type { NewReceipt, Receipt, ReceiptKey, ReceiptStore } from "./storage/receipt-store.ts";
export type { DueDelivery, WebhookPatch, WebhookStore } from "./storage/webhook-store.ts";

/**
 * Durable storage of calls, instances, tokens, accounts and their log.
 *
 * Rules for every implementation:
 * - A write and its events are stored together or not at all, durably before the promise resolves.
 * - Every write with events leaves an event with a known id unchanged, so a write whose result was lost can be
 *   repeated.
 * - Every new event gets the next position in the log of its user, in commit order. Once a reader has read an event of
 *   a user, every event at a lower position is readable. Ids and times do not determine the order.
 * - An update names the version that it expects. If the stored version differs, nothing is written and the result is
 *   undefined.
 * - The database itself enforces the queue rule against concurrent writers: at most one active call per (instance,
 *   slot), and at most one claimed, RINGING or IN_PROGRESS call per (instance, line).
 * - If the database is full, locked, unreachable or fails in another way, a method throws {@link StorageUnavailable},
 *   and nothing was stored.
 * - A method waits only for the database.
 */
export interface Storage {
  /**
   * Migrates the schema (safe to run from several processes at once) and prepares the storage for use.
   * @throws {StorageLocked} another server uses this database
   */
  open(options: OpenOptions): Promise<void>;
  /** Closes the storage and releases the lease. */
  close(): Promise<void>;
  /** The lease of an exclusive opening; undefined if a kernel lock proves that there is no other server. */
  readonly lease?: Lease | undefined;
  /**
   * Checks that this storage is still the only owner of its database: called every second if there is no lease. Every
   * write makes the same check. Omitted if ownership cannot end.
   * @throws {LeaseLost} another server has taken over
   */
  readonly verifyOwner?: (() => Promise<void>) | undefined;
  /** Users and their tokens. */
  readonly accounts: AccountStore;
  /** Store of accounts and sign-ins. */
  readonly logins: LoginStore;
  readonly instances: InstanceStore;
  readonly lineRecords: LineRecordStore;
  readonly consents: ConsentStore;
  readonly calls: CallStore;
  readonly batches: BatchStore;
  readonly audio: AudioStore;
  readonly events: EventStore;
  readonly receipts: ReceiptStore;
  readonly transcripts: TranscriptStore;
  readonly retention: RetentionStore;
  readonly webhooks: WebhookStore;
  readonly sealed: SealedStore;
}

/** Options of {@link Storage.open}. */
export interface OpenOptions {
  /** Opens the storage as the only server of its database, not as a program that runs alongside the server. */
  readonly exclusive: boolean;
  /** Duration of the lease without a renewal, ms; only for a storage with leases. Default: 10,000. */
  readonly leaseMs?: number | undefined;
}

/** The right to be the server of a database. It expires according to the database's clock unless it is renewed. */
export interface Lease {
  /**
   * Number of the owner; it rises with each new owner. Once there is a higher epoch, writes of this storage throw
   * {@link LeaseLost}.
   */
  readonly epoch: number;
  /** Duration of the lease after a renewal, ms. */
  readonly ms: number;
  /**
   * Extends the lease to `ms` after the time at which the database executes this.
   * @throws {LeaseLost} another server has taken the lease
   * @throws {StorageUnavailable} the database is unreachable; the lease may have been renewed
   */
  renew(): Promise<void>;
}

/** Users' records about the numbers they call. A user has at most one consent for a number. */
export interface ConsentStore {
  get(userId: string, phone: string): Promise<Consent | undefined>;
  /** A user's consents for these numbers, in any order. */
  ofNumbers(userId: string, phones: readonly string[]): Promise<Consent[]>;
  /**
   * Stores a consent, replacing an earlier consent for the same number, whose `createdAt` it keeps. The last of
   * concurrent writes wins. No record is stored for a user whose account was deleted, even if that happens at the same
   * time.
   * @param maxConsents maximum number of consents of its user; concurrent writes never exceed it. Default: unlimited
   * @returns the stored consent and whether it is new, or the reason why none was stored
   */
  put(
    consent: Consent,
    maxConsents?: number,
  ): Promise<{ readonly created: boolean; readonly consent: Consent } | "at_limit" | "user_deleted">;
  /** Returns true if there was such a consent. */
  delete(userId: string, phone: string): Promise<boolean>;
  /** A user's consents by ascending number; `after` is the number of the last consent seen. */
  list(userId: string, filter: { readonly status?: ConsentStatus | undefined }, page: Page): Promise<Consent[]>;
}

/** The time up to which a server trusts the wall clock; ms since 1970-01-01 UTC. */
export interface TrustedTime {
  readonly at: number;
  /** A wall clock ahead of `at`: its first reading, and the uptime since then, ms. */
  readonly claim: { readonly at: number; readonly waitedMs: number } | null;
  /** A step to a later time within the last day of uptime, and the uptime since then, ms. Missing if there was none. */
  readonly step?: { readonly ms: number; readonly waitedMs: number } | undefined;
}

/** The state of the purge clock, the size of the stored data, and the scrubbing of deleted records. */
export interface RetentionStore {
  trustedTime(): Promise<TrustedTime | undefined>;
  saveTrustedTime(time: TrustedTime): Promise<void>;
  /** Number of bytes that count towards the budget of a user, or of an instance's demo tokens: see `ByteBudget`. */
  storedBytes(owner: string): Promise<number>;
  /**
   * Removes traces of deleted records from the database files. Without `thorough` it must be short, because live calls
   * wait for it, and traces may remain. With `thorough` it may take seconds, and needs as much free space as the
   * database occupies. A storage without files does nothing.
   */
  scrub(options: { thorough: boolean }): Promise<void>;
}

/** Kinds of sealed values: the credentials of an instance, a record of its line, a key or the headers of a webhook. */
export const SEALED_KINDS = [
  "credentials",
  "line_record",
  "webhook_key",
  "webhook_old_key",
  "webhook_headers",
] as const;
/** One of {@link SEALED_KINDS}. */
export type SealedKind = (typeof SEALED_KINDS)[number];

/** The place of a sealed value within its kind. */
export interface SealedPlace {
  /** Id of the instance or webhook. */
  readonly id: string;
  /** Key of the line's record; otherwise empty. */
  readonly key: string;
}

/** One sealed value. */
export interface SealedValue extends SealedPlace {
  readonly sealed: Uint8Array;
}

/** All sealed values, wherever they are stored: for changing the sealing key. */
export interface SealedStore {
  /** Values of a kind by ascending id, then key, both compared by code points; only those after the place `after`. */
  list(kind: SealedKind, limit: number, after?: SealedPlace): Promise<SealedValue[]>;
  /** Replaces a value, but no other part of its record, if it has not changed. Returns true if it was replaced. */
  replace(kind: SealedKind, value: SealedValue, sealed: Uint8Array): Promise<boolean>;
}

/** Thrown if the database cannot serve the request now; the caller may try again. */
export class StorageUnavailable extends CodedError {
  override readonly name = "StorageUnavailable";
  /** The code of the matching problem document. */
  readonly code = "storage_unavailable";
}

/** Thrown if another server has taken over the database: no record was stored, and trying again does not help. */
export class LeaseLost extends StorageUnavailable {}

/** Thrown if another server already uses this database. */
export class StorageLocked extends CodedError {
  override readonly name = "StorageLocked";
  readonly code = "storage_locked";
  /** Time until that server's lease expires if it is not renewed, ms; undefined for a lock that does not expire. */
  readonly remainingMs: number | undefined;

  constructor(message: string, options: { cause?: unknown; remainingMs?: number } = {}) {
    super(message, options);
    this.remainingMs = options.remainingMs;
  }
}
