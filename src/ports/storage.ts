import { CodedError } from "../base/error.ts";
import type { AccountStore } from "./storage/account-store.ts";
import type { CallStore } from "./storage/call-store.ts";
import type { ConsentStore } from "./storage/consent-store.ts";
import type { EventStore } from "./storage/event-store.ts";
import type { InstanceStore } from "./storage/instance-store.ts";
import type { LineRecordStore } from "./storage/line-record-store.ts";
import type { LoginStore } from "./storage/login-store.ts";
import type { ReceiptStore } from "./storage/receipt-store.ts";
import type { RetentionStore } from "./storage/retention-store.ts";
import type { SealedStore } from "./storage/sealed-store.ts";
import type { TranscriptStore } from "./storage/transcript-store.ts";
import type { WebhookStore } from "./storage/webhook-store.ts";

export type { AccountStore, TokenInsertion, TokenRecord, User } from "./storage/account-store.ts";
export type {
  ByteBudget,
  CallPatch,
  CallQuota,
  CallStore,
  CallTally,
  Insertion,
  RemovedCalls,
} from "./storage/call-store.ts";
export type { ConsentStore } from "./storage/consent-store.ts";
export type { EventStore, LogPage } from "./storage/event-store.ts";
export type { InstancePatch, InstanceStore } from "./storage/instance-store.ts";
export type { LineRecordStore } from "./storage/line-record-store.ts";
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
export type { Page } from "./storage/page.ts";
export type { NewReceipt, Receipt, ReceiptKey, ReceiptStore } from "./storage/receipt-store.ts";
export type { RetentionStore, TrustedTime } from "./storage/retention-store.ts";
export type { SealedKind, SealedPlace, SealedStore, SealedValue } from "./storage/sealed-store.ts";
export { SEALED_KINDS } from "./storage/sealed-store.ts";
export type { TranscriptStore } from "./storage/transcript-store.ts";
export type { DueDelivery, WebhookPatch, WebhookStore } from "./storage/webhook-store.ts";

/**
 * Durable storage of calls, instances, tokens, accounts and their log.
 *
 * Rules for every implementation:
 * - A write and its events are stored together or not at all, durably before the promise resolves.
 * - Every write with events leaves an event with a known id unchanged, so a write whose result was lost can be repeated.
 * - Every new event gets the next position in the log of its user, in commit order. Once a reader has read an event of
 *   a user, every event of a lower position is readable. Ids and times prove no order.
 * - An update names the version that it expects. If the stored version differs, nothing is written and the result is
 *   undefined.
 * - The database itself enforces the queue rule against concurrent writers: at most one active call per (instance,
 *   slot), and at most one RINGING or IN_PROGRESS call per instance.
 * - If the database is full, locked, gone or otherwise unable, a method throws {@link StorageUnavailable}, and nothing was
 *   stored.
 * - A method waits for nothing but the database.
 */
export interface Storage {
  /**
   * Migrates the schema, which is safe from several processes at once, and gets ready.
   * @throws {StorageLocked} another server uses this database
   */
  open(options: OpenOptions): Promise<void>;
  /** Closes the storage and gives the lease back. */
  close(): Promise<void>;
  /** The lease of an exclusive opening; undefined if a kernel lock proves that there is no other server. */
  readonly lease?: Lease | undefined;
  /**
   * Checks that this storage is still the only owner of its database: called every second if there is no lease. Every
   * write makes the same check. Missing: nothing can end that.
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
  readonly events: EventStore;
  readonly receipts: ReceiptStore;
  readonly transcripts: TranscriptStore;
  readonly retention: RetentionStore;
  readonly webhooks: WebhookStore;
  readonly sealed: SealedStore;
}

/** Options of {@link Storage.open}. */
export interface OpenOptions {
  /** Opens it as the only server of this database, not as a program that runs next to the server. */
  readonly exclusive: boolean;
  /** Time the lease lasts without a renewal, ms; only for a storage with leases. Default: 10,000. */
  readonly leaseMs?: number | undefined;
}

/** The right to be the server of a database. It expires by the database's clock unless it is renewed. */
export interface Lease {
  /** Rises with every owner. Once there is a higher epoch, writes of this storage throw {@link LeaseLost}. */
  readonly epoch: number;
  /** Time it lasts after a renewal, ms. */
  readonly ms: number;
  /**
   * Extends the lease to `ms` after the moment at which the database executes this.
   * @throws {LeaseLost} another server has taken the lease
   * @throws {StorageUnavailable} the database is unreachable; the lease may have been renewed
   */
  renew(): Promise<void>;
}

/** The database cannot serve the request now; the caller may try again. */
export class StorageUnavailable extends CodedError {
  override readonly name = "StorageUnavailable";
  /** The code of the matching problem document. */
  readonly code = "storage_unavailable";
}

/** Another server has taken over the database: no record was stored, and trying again does not help. */
export class LeaseLost extends StorageUnavailable {}

/** Another server already uses this database. */
export class StorageLocked extends CodedError {
  override readonly name = "StorageLocked";
  readonly code = "storage_locked";
  /** Time until that server's lease expires if it is not renewed, ms; undefined for a lock without an end. */
  readonly remainingMs: number | undefined;

  constructor(message: string, options: { cause?: unknown; remainingMs?: number } = {}) {
    super(message, options);
    this.remainingMs = options.remainingMs;
  }
}
