import { DEFAULT_TIMINGS } from "../../src/domain/timings.ts";
import {
  type Lease,
  LeaseLost,
  type OpenOptions,
  type Storage,
  StorageLocked,
  StorageUnavailable,
} from "../../src/ports/storage.ts";
import type { System } from "../../src/ports/system.ts";
import { isWrite, type StoreName } from "./faulty-storage.ts";

/**
 * One database for several processes of a test, each with a separate storage: a lease by the database's
 * clock, and writes that are fenced by its epoch.
 */
export class LeasedDatabase {
  readonly #clock: Pick<System, "monotonic">;
  readonly #sharedStorage: Storage;
  #openPromise: Promise<void> | undefined;
  #epoch = 0;
  #endsAt = -Infinity;
  /** Admitted but unfinished writes: a new owner waits for them, as it would for their row locks. */
  readonly #writes = new Set<Promise<unknown>>();

  /** @param sharedStorage opened by the first process; stays open until {@link close} */
  constructor(clock: Pick<System, "monotonic">, sharedStorage: Storage) {
    this.#clock = clock;
    this.#sharedStorage = sharedStorage;
  }

  /** Epoch of the latest owner; 0 if there was none. */
  get epoch(): number {
    return this.#epoch;
  }

  /** Remaining time of the lease, ms; 0 if it is free. */
  get remainingMs(): number {
    return Math.max(0, this.#endsAt - this.#clock.monotonic());
  }

  /** The storage of one process. */
  storage(): LeasedStorage {
    return new LeasedStorage(this, this.#sharedStorage);
  }

  /** Closes the shared storage. */
  close(): Promise<void> {
    return this.#sharedStorage.close();
  }

  /** Opens the shared storage once. */
  open(): Promise<void> {
    this.#openPromise ??= this.#sharedStorage.open({ exclusive: false });
    return this.#openPromise;
  }

  /** Takes the lease; resolves with the epoch. @throws {StorageLocked} it has not expired */
  async take(ms: number): Promise<number> {
    do await Promise.allSettled(this.#writes);
    while (this.#writes.size > 0);
    const { remainingMs } = this;
    if (remainingMs > 0) throw new StorageLocked("another server works on this database", { remainingMs });
    this.#endsAt = this.#clock.monotonic() + ms;
    return ++this.#epoch;
  }

  /** Extends the lease to `ms` from now. @throws {LeaseLost} */
  renew(epoch: number, ms: number): void {
    this.assertOwner(epoch);
    this.#endsAt = this.#clock.monotonic() + ms;
  }

  release(epoch: number): void {
    if (epoch === this.#epoch) this.#endsAt = -Infinity;
  }

  /** Carries out a write of the owner. @throws {LeaseLost} */
  write(epoch: number, work: () => Promise<unknown>): Promise<unknown> {
    this.assertOwner(epoch);
    const writePromise = work();
    this.#writes.add(writePromise);
    const forget = () => void this.#writes.delete(writePromise);
    writePromise.then(forget, forget);
    return writePromise;
  }

  /** @throws {LeaseLost} */
  assertOwner(epoch: number): void {
    if (epoch !== this.#epoch) throw new LeaseLost("another server has taken over this database");
  }
}

/** The storage of one process on a {@link LeasedDatabase}. It can be opened again after it was closed. */
export class LeasedStorage implements Storage {
  readonly #database: LeasedDatabase;
  readonly #sharedStorage: Storage;
  #lease: Lease | undefined;
  #isExclusive = false;
  /** True if this process cannot reach the database: every operation throws `StorageUnavailable`. */
  isUnreachable = false;
  /** Renewals are carried out, but get their response only after this has resolved. */
  holdRenewals: Promise<unknown> | undefined;
  readonly accounts: Storage["accounts"];
  readonly logins: Storage["logins"];
  readonly instances: Storage["instances"];
  readonly lineRecords: Storage["lineRecords"];
  readonly consents: Storage["consents"];
  readonly calls: Storage["calls"];
  readonly batches: Storage["batches"];
  readonly audio: Storage["audio"];
  readonly events: Storage["events"];
  readonly receipts: Storage["receipts"];
  readonly transcripts: Storage["transcripts"];
  readonly retention: Storage["retention"];
  readonly webhooks: Storage["webhooks"];
  readonly sealed: Storage["sealed"];

  constructor(database: LeasedDatabase, sharedStorage: Storage) {
    this.#database = database;
    this.#sharedStorage = sharedStorage;
    this.accounts = this.#fenced("accounts");
    this.logins = this.#fenced("logins");
    this.instances = this.#fenced("instances");
    this.lineRecords = this.#fenced("lineRecords");
    this.consents = this.#fenced("consents");
    this.calls = this.#fenced("calls");
    this.batches = this.#fenced("batches");
    this.audio = this.#fenced("audio");
    this.events = this.#fenced("events");
    this.receipts = this.#fenced("receipts");
    this.transcripts = this.#fenced("transcripts");
    this.retention = this.#fenced("retention");
    this.webhooks = this.#fenced("webhooks");
    this.sealed = this.#fenced("sealed");
  }

  get lease(): Lease | undefined {
    return this.#lease;
  }

  async open({ exclusive, leaseMs = DEFAULT_TIMINGS.leaseMs }: OpenOptions): Promise<void> {
    this.#assertReachable();
    await this.#database.open();
    this.#isExclusive = exclusive;
    if (!exclusive || this.#lease) return; // opening twice is fine
    const epoch = await this.#database.take(leaseMs);
    this.#lease = {
      epoch,
      ms: leaseMs,
      renew: async () => {
        this.#assertReachable();
        this.#database.renew(epoch, leaseMs);
        await this.holdRenewals;
      },
    };
  }

  async close(): Promise<void> {
    if (this.#lease && !this.isUnreachable) this.#database.release(this.#lease.epoch);
    this.#lease = undefined;
  }

  #assertReachable(): void {
    if (this.isUnreachable) throw new StorageUnavailable("the database cannot be reached");
  }

  #fenced<Name extends StoreName>(name: Name): Storage[Name] {
    return new Proxy(this.#sharedStorage[name], {
      get: (store, method) => {
        const original = Reflect.get(store, method) as (...args: unknown[]) => Promise<unknown>;
        const operation = `${name}.${String(method)}`;
        return async (...args: unknown[]) => {
          this.#assertReachable();
          const work = () => original.apply(store, args);
          if (!isWrite(operation) || !this.#isExclusive) return work();
          if (!this.#lease) throw new StorageUnavailable("the storage is closed");
          return this.#database.write(this.#lease.epoch, work);
        };
      },
    });
  }
}
