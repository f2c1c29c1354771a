import { type IdPrefix, type IdSource, idSource } from "../../base/ids.ts";
import { type Call, UNDIALLED } from "../../domain/calls/call.ts";
import type { Event, EventSource, EventType, LoggedEvent } from "../../domain/events.ts";
import type { Instance } from "../../domain/instances/instance.ts";
import type { QueuePolicy } from "../../domain/instances/queue-capacity.ts";
import type { ReceiptKey, Storage, TokenRecord } from "../../ports/storage.ts";
import type { ContractRunner } from "../contract-runner.ts";

/** An empty storage for one test, open. */
export interface StorageUnderTest {
  readonly storage: Storage;
  /** Closes the storage, opens the same data again and returns it; not called if the storage loses its data. */
  reopen(): Promise<Storage>;
  /** Closes what `storage` or `reopen` left open and removes the data. */
  close(): Promise<void>;
}

/** Registers one rule of the contract with its test. */
export type Clause = (title: string, body: (scene: StorageScene) => Promise<void>) => void;

/** A queue long enough for any test. */
export const LONG_QUEUE: QueuePolicy = { kind: "fifo", depth: 100 };

/** The storage of one test, with a clock that advances 1 ms per reading, and records to store. */
export class StorageScene {
  storage: Storage;
  readonly userId: string;
  readonly #subject: StorageUnderTest;
  readonly #expect: ContractRunner["expect"];
  readonly #ids: IdSource;
  #now = Date.UTC(2025, 0, 1);

  constructor(subject: StorageUnderTest, expect: ContractRunner["expect"]) {
    this.#subject = subject;
    this.#expect = expect;
    this.storage = subject.storage;
    this.#ids = idSource(
      () => this.#now,
      (bytes) => void crypto.getRandomValues(bytes),
    );
    this.userId = this.id("usr");
  }

  /** Closes the storage and opens the same data again. */
  async reopen(): Promise<void> {
    this.storage = await this.#subject.reopen();
  }

  /** An idempotency key of the user. */
  key(key: string, scope = ""): ReceiptKey {
    return { userId: this.userId, scope, key };
  }

  equal(actual: unknown, expected: unknown): void {
    this.#expect(actual).toEqual(expected);
  }

  /** The error that the promise rejects with; a promise that resolves fails the test. */
  async failure(promise: Promise<unknown>): Promise<Error> {
    const error = await promise.then(
      () => undefined,
      (error: unknown) => error,
    );
    this.equal(error instanceof Error, true);
    return error as Error;
  }

  /** A later time, ms. */
  now(): number {
    return ++this.#now;
  }

  /** A later id. */
  id(prefix: IdPrefix): string {
    this.now();
    return this.#ids(prefix);
  }

  instance(patch: Partial<Instance> = {}): Instance {
    const id = this.id("inst");
    const createdAt = this.now();
    return {
      id,
      userId: this.userId,
      name: "Reception",
      status: "ACTIVE",
      metadata: {},
      provider: "simulator",
      phone: null,
      createdAt,
      updatedAt: createdAt,
      erasedAt: null,
      version: 1,
      ...patch,
    };
  }

  call(instance: Pick<Instance, "id">, patch: Partial<Call> = {}): Call {
    return {
      id: this.id("call"),
      instanceId: instance.id,
      userId: this.userId,
      tokenId: null,
      status: "QUEUED",
      targetPhone: "+15550100",
      message: { type: "FIXED_TTS", text: "Hello", voiceId: "en-US-1" },
      outcome: null,
      mediaStatistics: null,
      recordedMs: null,
      createdAt: this.now(),
      ...UNDIALLED,
      ...patch,
    };
  }

  /** An event with any data: a storage accepts it, whatever the type. */
  event(
    type: EventType,
    record: Call | Instance,
    patch: Partial<EventSource> & { readonly data?: unknown } = {},
  ): Event {
    const isCallEvent = "instanceId" in record;
    return {
      id: this.id("evt"),
      type,
      timestamp: this.now(),
      callId: isCallEvent ? record.id : null,
      instanceId: isCallEvent ? record.instanceId : record.id,
      userId: record.userId,
      data: {},
      ...patch,
    } as Event;
  }

  /** An event that every storage refuses, because it has no type. */
  impossibleEvent(type: EventType, record: Call | Instance): Event {
    return { ...this.event(type, record), type: null as never };
  }

  /** The events of a call as they were stored, oldest first. */
  async timeline(callId: string): Promise<Event[]> {
    return (await this.storage.events.ofCall(callId, {})).map(asAppended);
  }

  /** The events of the user as they were stored, oldest first. */
  async log(userId: string = this.userId): Promise<Event[]> {
    return (await this.storage.events.ofUser(userId, {}, {})).map(asAppended);
  }

  async storedInstance(patch: Partial<Instance> = {}): Promise<Instance> {
    const instance = this.instance(patch);
    await this.storage.instances.insert(instance, []);
    return instance;
  }

  /** A call that was created in the first free slot of a long queue. */
  async storedCall(instance: Pick<Instance, "id">, patch: Partial<Call> = {}, audio?: Uint8Array): Promise<Call> {
    const insertion = await this.storage.calls.insert(this.call(instance, patch), audio, LONG_QUEUE, []);
    if (insertion.kind !== "created") throw new Error(`the call was not created: ${insertion.kind}`);
    return insertion.call;
  }

  /** Claims the oldest waiting call of the instance for a line. */
  async claimedCall(instance: Pick<Instance, "id">, line: number): Promise<Call> {
    const call = await this.storage.calls.claimNext(instance.id, "node_a", this.now(), line);
    if (!call) throw new Error(`no call of ${instance.id} waits`);
    return call;
  }

  /** Updates the call and returns the result. */
  async updateCall(call: Call, patch: Partial<Call>, events: readonly Event[] = []): Promise<Call> {
    const updatedCall = await this.storage.calls.update(call.id, call.version, patch, events);
    if (!updatedCall) throw new Error(`the call is not at version ${call.version}`);
    return updatedCall;
  }

  /** A call that was created and has ended. */
  async endedCall(instance: Pick<Instance, "id">, patch: Partial<Call> = {}): Promise<Call> {
    const call = await this.storedCall(instance, patch);
    return this.updateCall(call, { status: "FAILED", endedAt: this.now() });
  }
}

/** The event without the fields that the storage adds. */
function asAppended({ position: _, sequence: __, ...event }: LoggedEvent): Event {
  return event;
}

/** The ids of records, in their order. */
export function idsOf(records: readonly { readonly id: string }[]): string[] {
  return records.map((record) => record.id);
}

/** A token of the scene's user that was never used. */
export function tokenRecord(scene: StorageScene, patch: Partial<TokenRecord> = {}): TokenRecord {
  const id = scene.id("tok");
  return {
    id,
    userId: scene.userId,
    label: "laptop",
    hash: id.padEnd(64, "0"),
    demoInstanceId: null,
    allowedPrefixes: null,
    maxCallsPerDay: null,
    scopes: null,
    createdAt: scene.now(),
    expiresAt: null,
    revokedAt: null,
    lastUsedAt: null,
    ...patch,
  };
}
