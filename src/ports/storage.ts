import type { Call, CallStatus, CallType } from "../domain/call.ts";
import type { Event, LoggedEvent } from "../domain/events.ts";
import type { Instance } from "../domain/instance.ts";
import type { QueuePolicy } from "../domain/queue-policy.ts";
import type { TranscriptLine } from "../domain/transcript.ts";

/**
 * Where calls, instances, tokens and their log are kept.
 *
 * Rules every implementation keeps:
 * - A write and the events handed to it are stored together or not at all, and durably before the promise resolves.
 * - An event whose id is stored already is left as it is, in every write that carries events: a write whose answer was
 *   lost can be repeated.
 * - Every new event gets the next position in the log of its user, in the order of the commits: whoever has read an
 *   event of a user has been able to read every event of a lower position. Ids and times prove no order.
 * - An update names the version it expects; another version means nothing was written, and it answers undefined.
 * - The queue rule is held by the database itself: at most one active call per (instance, slot), and at most one
 *   call of an instance RINGING or IN_PROGRESS, whoever else writes at the same time.
 * - A database that is full, locked, gone or otherwise unable throws {@link StorageUnavailable}; nothing was stored.
 * - No method waits for anything but the database.
 */
export interface Storage {
  /**
   * Migrates (safe from several processes at once) and makes ready.
   * @throws {StorageLocked} another server works on this database
   */
  open(options: OpenOptions): Promise<void>;
  /** Closes it, and gives the lease back. */
  close(): Promise<void>;
  /** The lease of an exclusive opening; undefined where the kernel's lock proves that there is no other server. */
  readonly lease?: Lease | undefined;
  readonly accounts: AccountStore;
  readonly instances: InstanceStore;
  readonly calls: CallStore;
  readonly events: EventStore;
  readonly receipts: ReceiptStore;
  readonly transcripts: TranscriptStore;
  readonly retention: RetentionStore;
}

/** How a storage is opened. */
export interface OpenOptions {
  /** As the one server of this database, not as a program beside it. */
  readonly exclusive: boolean;
  /** How long the lease lasts without a renewal, ms; only for a storage with leases. Default: 10,000. */
  readonly leaseMs?: number | undefined;
}

/** The right to be the server of a database. It runs out, by the database's clock, unless it is renewed. */
export interface Lease {
  /** Rises with every owner. A write of this storage throws {@link OwnershipLost} once there is a higher one. */
  readonly epoch: number;
  /** How long it lasts from a renewal on, ms. */
  readonly ms: number;
  /**
   * Lets it last `ms` from the moment at which the database carries this out.
   * @throws {OwnershipLost} another server has taken it
   * @throws {StorageUnavailable} the database cannot be asked; the lease may have been renewed
   */
  renew(): Promise<void>;
}

/** The database cannot do it now; the caller may try again. */
export class StorageUnavailable extends Error {
  override readonly name = "StorageUnavailable";
  /** The code of the matching problem document. */
  readonly code = "storage_unavailable";
}

/** Another server has taken the database over: nothing was stored, and trying again is of no use. */
export class OwnershipLost extends StorageUnavailable {}

/** Another server already works on this database. */
export class StorageLocked extends Error {
  override readonly name = "StorageLocked";
  /** How long that server's lease lasts yet if it is not renewed, ms; undefined where a lock has no end. */
  readonly remainingMs: number | undefined;

  constructor(message: string, options: { cause?: unknown; remainingMs?: number } = {}) {
    super(message, options);
    this.remainingMs = options.remainingMs;
  }
}

/** Where in a list a page begins: the sort key of the last item seen. */
export interface Page {
  /** Most items to answer; undefined: all. */
  readonly limit?: number | undefined;
  /** Items strictly after this id in the list's order. */
  readonly after?: string | undefined;
}

/** Somebody who owns instances and calls. Times are ms since 1970-01-01 UTC. */
export interface User {
  readonly id: string;
  readonly name: string;
  readonly createdAt: number;
}

/** A token as it is stored: only its hash. */
export interface TokenRecord {
  readonly id: string;
  readonly userId: string;
  /** What the user calls it. */
  readonly label: string;
  /** SHA-256 of the token, lower-case hex. */
  readonly hash: string;
  /** Set for a demo token: the one instance it may use. */
  readonly demoInstanceId: string | null;
  /** Beginnings of the numbers it may call; null: every number. */
  readonly allowedPrefixes: readonly string[] | null;
  /** Calls that may be created with it within 24 hours; null: any number. */
  readonly maxCallsPerDay: number | null;
  readonly createdAt: number;
  readonly expiresAt: number | null;
  readonly revokedAt: number | null;
}

/** Users and their tokens. */
export interface AccountStore {
  /** Inserts the user unless one of that name exists; answers the one that is stored. */
  ensureUser(user: User): Promise<User>;
  userByName(name: string): Promise<User | undefined>;
  /** Everybody, oldest first; at most `limit`. */
  users(limit?: number): Promise<User[]>;
  insertToken(token: TokenRecord): Promise<void>;
  /** One look-up on a unique index. Revoked and expired tokens are answered too. */
  tokenByHash(hash: string): Promise<TokenRecord | undefined>;
  /** The tokens that have one of these hashes, in any order. Revoked and expired ones are returned too. */
  tokensByHash(hashes: readonly string[]): Promise<TokenRecord[]>;
  /** All tokens, of one user or of everybody, oldest first. */
  tokens(userId?: string): Promise<TokenRecord[]>;
  /** Answers false where there is no such token or it is revoked already. */
  revokeToken(id: string, at: number): Promise<boolean>;
}

/** What an update may change of an instance. */
export type InstancePatch = Partial<
  Pick<Instance, "name" | "status" | "metadata" | "phone" | "callerId" | "updatedAt" | "erasedAt">
>;

/** Instances and the sealed credentials of their numbers. */
export interface InstanceStore {
  /**
   * @param most how many instances without deleted ones its user may have, this one included. Two insertions at once
   *   never make more. Default: any number
   * @returns false if the user has as many already; nothing was stored
   */
  insert(instance: Instance, events: readonly Event[], receipt?: ReceiptResult, most?: number): Promise<boolean>;
  /** Deleted instances are answered too. */
  get(id: string): Promise<Instance | undefined>;
  /** A user's instances, newest first (created_at, then id, descending), without deleted ones. */
  list(userId: string, page: Page): Promise<Instance[]>;
  /**
   * An instance that becomes CREATED (it was unlinked) or gets an `erasedAt` loses its credentials in the same
   * transaction; one that becomes DELETED keeps them.
   * @param sealed credentials stored in the same transaction, in place of earlier ones
   */
  update(
    id: string,
    version: number,
    patch: InstancePatch,
    events: readonly Event[],
    sealed?: Uint8Array,
  ): Promise<Instance | undefined>;
  /** Instances with a linked number (CONFIGURED, ACTIVE), by ascending id. */
  linked(page: Page): Promise<Instance[]>;
  /** Instances of a provider that no number was linked to yet (CREATED), by ascending id. */
  unlinked(provider: string, page: Page): Promise<Instance[]>;
  /** Instances that have credentials although no number counts as linked (CREATED), by ascending id. */
  halfLinked(page: Page): Promise<Instance[]>;
  /** Instances whose deletion has begun and is not finished (DELETED without `erasedAt`), by ascending id. */
  halfDeleted(page: Page): Promise<Instance[]>;
  /** Keeps the credentials in place of earlier ones; saves nothing for an instance that is not there or is deleted. */
  saveCredentials(id: string, sealed: Uint8Array): Promise<void>;
  loadCredentials(id: string): Promise<Uint8Array | undefined>;
  eraseCredentials(id: string): Promise<void>;
  /** Instances that a number is linked to, by ascending id. Reads every instance: rarely called. */
  withPhone(phone: string): Promise<Instance[]>;
  /** Deletes the `instance.linked` events of a number that is no longer linked to their instance; resolves with how many. */
  forgetPhone(phone: string): Promise<number>;
  /**
   * Deletes at most `limit` instances whose deletion was finished (`erasedAt`) before a time and that have no calls
   * left, with their events; resolves with their ids.
   */
  purge(erasedBefore: number, limit: number): Promise<string[]>;
}

/** What an update may change. `status` always comes with the table's input that leads to it. */
export type CallPatch = Partial<
  Pick<
    Call,
    | "status"
    | "outcome"
    | "mediaStatistics"
    | "recordedMs"
    | "startedAt"
    | "endedAt"
    | "owner"
    | "dialingAt"
    | "message"
  >
>;

/** Which calls are listed; what is left out does not matter. */
export interface CallFilter {
  readonly instanceId?: string | undefined;
  readonly status?: CallStatus | undefined;
  readonly type?: CallType | undefined;
  /** ms since 1970-01-01 UTC; strictly after. */
  readonly createdAfter?: number | undefined;
  /** ms since 1970-01-01 UTC; strictly before. */
  readonly createdBefore?: number | undefined;
}

/** What came of a creation. */
export type Insertion =
  | { readonly kind: "created"; readonly call: Call }
  /** Under `single`: the active call that was there before. */
  | { readonly kind: "existing"; readonly call: Call }
  /** Under `fifo`: every slot is taken. */
  | { readonly kind: "full" }
  /** The token has no call left (see {@link CallQuota}). */
  | {
      readonly kind: "limited";
      /** When the oldest call that stands in the way was created; ms since 1970-01-01 UTC. */
      readonly oldestAt: number;
    }
  /** The instance does not exist or is deleted. */
  | { readonly kind: "instance_gone" };

/** How many calls a token may create in the time before now. */
export interface CallQuota {
  readonly maxCalls: number;
  /** Calls created after this time count, those that were deleted since too; ms since 1970-01-01 UTC. */
  readonly since: number;
}

/** What went with deleted calls. */
export interface RemovedCalls {
  readonly ids: readonly string[];
  readonly events: number;
  readonly transcriptLines: number;
}

/** Calls, their audio files and the queue of those that wait. */
export interface CallStore {
  /**
   * Stores a QUEUED call in the first free slot of the policy (the call's own `slot` is ignored), with its audio
   * file. `receipt` is stored with it, made from what came of it. With a quota nothing is created once `maxCalls` calls of
   * the same `tokenId` count, whoever else creates one at the same time.
   */
  insert(
    call: Call,
    audio: Uint8Array | undefined,
    policy: QueuePolicy,
    events: readonly Event[],
    receipt?: (result: { created: boolean; call: Call }) => ReceiptResult,
    quota?: CallQuota,
  ): Promise<Insertion>;
  get(id: string): Promise<Call | undefined>;
  /** A user's calls, newest first (created_at, then id, descending). Costs one page, however many are stored. */
  list(userId: string, filter: CallFilter, page: Page): Promise<Call[]>;
  /** The active calls of an instance, oldest first. */
  active(instanceId: string): Promise<Call[]>;
  /**
   * Gives the oldest unclaimed QUEUED call of the instance to `owner` and marks it as dialing (`dialingAt`) in the same
   * write, one version up; undefined if none waits or the instance is DELETED.
   * @param now ms since 1970-01-01 UTC
   */
  claimNext(instanceId: string, owner: string, now: number): Promise<Call | undefined>;
  /** A call that becomes final loses its audio file: unreadable with the transaction, deleted soon behind it or at the next start. */
  update(id: string, version: number, patch: CallPatch, events: readonly Event[]): Promise<Call | undefined>;
  audio(id: string): Promise<Uint8Array | undefined>;
  /** Unclaimed QUEUED calls created before, oldest first; at most `limit`, behind `after`. Reads only waiting calls. */
  waitingSince(createdBefore: number, limit: number, after?: Pick<Call, "id" | "createdAt">): Promise<Call[]>;
  /** The creation time of the oldest unclaimed QUEUED call, to know when to look again. */
  oldestWaiting(): Promise<number | undefined>;
  /**
   * Calls that processes other than `owner` left RINGING, IN_PROGRESS, or QUEUED with the dialing mark, and calls still
   * waiting on an instance that is DELETED; at most `limit`.
   */
  orphaned(owner: string, limit: number): Promise<Call[]>;
  /** Calls of which a recording is kept (`recordedMs` above 0) and that ended before, oldest first; at most `limit`. */
  recorded(endedBefore: number, limit: number): Promise<Call[]>;
  /** Ids of final calls that ended before a time, oldest first; at most `limit`. */
  ended(endedBefore: number, limit: number): Promise<string[]>;
  /**
   * Deletes those of these calls that are final, with their events and transcripts.
   * @param countedSince calls created after it still count for their token (see {@link CallQuota}); ms since 1970-01-01
   *   UTC. Default: none of them does.
   */
  remove(ids: readonly string[], countedSince?: number): Promise<RemovedCalls>;
  /** Calls to a number, by ascending id. May read every call: rarely called. */
  to(phone: string, page: Page): Promise<Call[]>;
  /** Number of calls per status; a status without calls is left out. */
  counts(): Promise<Partial<Record<CallStatus, number>>>;
}

/** Where in the log a page begins. */
export interface LogPage {
  /** Most events to return; undefined: all. */
  readonly limit?: number | undefined;
  /** Events of a higher position; undefined: from the first one on. */
  readonly after?: number | undefined;
}

/** The append-only log. Each user has one of their own; its positions start at 1 and rise, with gaps. */
export interface EventStore {
  /** Stores all or none. */
  append(events: readonly Event[]): Promise<void>;
  /** The timeline of a call, by ascending position. Only what is committed. */
  ofCall(callId: string, page: LogPage): Promise<LoggedEvent[]>;
  /** All events of a user, or of one of their instances, by ascending position. Only what is committed. */
  ofUser(userId: string, filter: { instanceId?: string | undefined }, page: LogPage): Promise<LoggedEvent[]>;
  /**
   * The position for an old cursor, which is an event id. If the user has no such event any more: the position of the
   * last older event (by id) among those that were stored before there were positions, or 0.
   */
  positionOf(userId: string, eventId: string): Promise<number>;
  /** The greatest id of all events, calls and instances, compared without prefixes; undefined if there is none. */
  newestId(): Promise<string | undefined>;
}

/** What was said on calls. */
export interface TranscriptStore {
  /** A line that is there already, by call and position, is left as it is; lines of a call that is not there are dropped. */
  append(lines: readonly TranscriptLine[]): Promise<void>;
  /** The lines of these calls in the order of speaking: by `startMs`, then by `position`. */
  ofCalls(callIds: readonly string[]): Promise<TranscriptLine[]>;
}

/** An idempotency key and whose it is; all three together are unique. */
export interface ReceiptKey {
  readonly userId: string;
  /** The instance of a demo token; empty for a user's other tokens. */
  readonly scope: string;
  readonly key: string;
}

/** What a finished idempotent request answered: JSON, as the use case made it. */
export interface ReceiptResult extends ReceiptKey {
  readonly result: string;
}

/** What is known of an idempotency key. */
export type Receipt =
  | { readonly kind: "begun" }
  | { readonly kind: "running" }
  | { readonly kind: "done"; readonly fingerprint: string; readonly result: string };

/** What is known of idempotency keys. */
export interface ReceiptStore {
  /** Begins a request under a key unless one is known; keys from before `expiredBefore` are forgotten first. */
  begin(key: ReceiptKey, fingerprint: string, now: number, expiredBefore: number): Promise<Receipt>;
  /**
   * Stores the result of a request that changed nothing else. A creation stores its own, and fails in the same way.
   * @throws {StorageUnavailable} the key is not begun; nothing is stored
   */
  finish(receipt: ReceiptResult): Promise<void>;
  /** Forgets a request that was refused, unless it has a result. */
  abandon(key: ReceiptKey): Promise<void>;
  /** Forgets every unfinished request of a process that died. */
  abandonUnfinished(): Promise<void>;
  /** Forgets requests that were begun before a time; resolves with how many. */
  forget(begunBefore: number): Promise<number>;
  /** Forgets finished requests for a call to this number: `"targetPhone":"…"` in their result; resolves with how many. */
  forgetPhone(phone: string): Promise<number>;
}

/** How far a server has followed the wall clock; ms since 1970-01-01 UTC. */
export interface TrustedTime {
  readonly at: number;
  /** A wall clock that is ahead of it: its first reading, and the uptime since, ms. */
  readonly claim: { readonly at: number; readonly waitedMs: number } | null;
}

/** The purge clock's state, and scrubbing of deleted records. */
export interface RetentionStore {
  trustedTime(): Promise<TrustedTime | undefined>;
  saveTrustedTime(time: TrustedTime): Promise<void>;
  /**
   * Leaves nothing of deleted records in the files of the database. Without `thorough` it must be short, because live
   * calls wait for it, and traces may remain; with it, it may take seconds and needs the size of the database again.
   * A storage without files of its own does nothing.
   */
  scrub(options: { thorough: boolean }): Promise<void>;
}
