import type { Event } from "../../domain/events.ts";
import type { Instance } from "../../domain/instances/instance.ts";
import type { MentionedNumber } from "../../domain/numbers/mentioned-number.ts";
import type { ByteBudget } from "./call-store.ts";
import type { Page } from "./list-page.ts";
import type { NewReceipt } from "./receipt-store.ts";

/** The fields of an instance that an update may change. */
export type InstancePatch = Partial<Omit<Instance, "id" | "userId" | "provider" | "createdAt" | "version">>;

/** Instances and the sealed credentials of their numbers. */
export interface InstanceStore {
  /**
   * @param maxInstances maximum number of instances of its user, including this instance and excluding deleted
   *   instances. Concurrent insertions never exceed it. Default: unlimited
   * @returns `at_limit`: the user is at the limit; `repeated`: a receipt with the same key exists; `over_budget`: more
   *   would be stored than the user's budget allows. In each of these cases, no record is stored
   */
  insert(
    instance: Instance,
    events: readonly Event[],
    receipt?: NewReceipt,
    maxInstances?: number,
    budget?: ByteBudget,
  ): Promise<"created" | "at_limit" | "repeated" | "over_budget">;
  /** Deleted instances are returned too. */
  get(id: string): Promise<Instance | undefined>;
  /** A user's instances except deleted instances, newest first (created_at, then id, descending). */
  list(userId: string, page: Page): Promise<Instance[]>;
  /**
   * An instance that becomes CREATED (it was unlinked) or gets an `erasedAt` loses its credentials and line records in
   * the same transaction; a status of DELETED keeps them.
   * @param sealed credentials stored in the same transaction; they replace earlier credentials
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
  /**
   * The linked instances (CONFIGURED, ACTIVE) with unclaimed QUEUED calls, each once, in the order of their oldest such
   * call; at most `limit`. The cost does not grow with the number of calls.
   */
  withWaitingCalls(limit: number): Promise<Instance[]>;
  /** Instances of a provider without a linked number (CREATED), by ascending id. */
  unlinked(provider: string, page: Page): Promise<Instance[]>;
  /** Instances that have credentials but no linked number (CREATED), by ascending id. */
  halfLinked(page: Page): Promise<Instance[]>;
  /** Instances whose deletion has begun but not finished (DELETED without `erasedAt`), by ascending id. */
  halfDeleted(page: Page): Promise<Instance[]>;
  /** Replaces the credentials; saves nothing for an unknown or deleted instance. */
  saveCredentials(id: string, sealed: Uint8Array): Promise<void>;
  loadCredentials(id: string): Promise<Uint8Array | undefined>;
  /** True if the instance has credentials or line records: its network may still list it as a linked device. */
  hasSecrets(id: string): Promise<boolean>;
  /** Deletes credentials and line records. */
  eraseCredentials(id: string): Promise<void>;
  /** Instances linked to a number, by ascending id. Called rarely, because it reads every instance. */
  withPhone(phone: string): Promise<Instance[]>;
  /** Deletes the `instance.linked` events of a number that is no longer linked to their instance; returns how many. */
  forgetPhone(phone: string): Promise<number>;
  /**
   * Deletes at most `limit` instances whose deletion finished (`erasedAt`) before a time and that have no calls left,
   * with their events; returns their ids. It runs in pieces, between which other work continues; the instance itself is
   * deleted last.
   */
  purge(erasedBefore: number, limit: number): Promise<string[]>;
}

/** The sealed records of lines, by instance and key. They are erased with the credentials of their instance. */
export interface LineRecordStore {
  /** The values in the order of the keys; undefined for a key without a value. */
  get(instanceId: string, keys: readonly string[]): Promise<(Uint8Array | undefined)[]>;
  /** The keys with this prefix, sorted by their code points. */
  keys(instanceId: string, prefix: string): Promise<string[]>;
  /**
   * Writes and deletes (undefined) in one transaction. Saves nothing for an unknown or deleted instance.
   * @param maxRecords maximum number of records of the instance
   * @returns false if it would have more; no change is made in that case
   */
  set(instanceId: string, changes: ReadonlyMap<string, Uint8Array | undefined>, maxRecords: number): Promise<boolean>;
  /**
   * Deletes the records whose key mentions a number, except those of instances that the number itself is linked to;
   * returns how many. Called rarely, because it may read every key.
   */
  forgetNumber(number: MentionedNumber): Promise<number>;
  /** Deletes all records of an instance. */
  clear(instanceId: string): Promise<void>;
}
