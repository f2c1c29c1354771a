import { type Lease, type OpenOptions, type Storage, StorageUnavailable } from "../../src/ports/storage.ts";

/** Read-only operations. */
const READS =
  /\.(get|find|list|keys|linked|withWaitingCalls|active|nextWaiting|nextNotBefore|claimed|unlinked|half\w*|audio|load\w*|ofCall|ofCalls|ofNumbers|ofUser|positionOf|positionBefore|lookUp|dialHistory|oldest\w*|waiting\w*|expiring|orphaned|recorded|ended|newestId|trustedTime|counts|tally|enabled|behind|pending|delivered\w*|getDelivery|deliveries|naming|open|due|calling|targets?|token\w*|user\w*|withPhone|hasAdmin|account\w*|session\w*|codeByHash|invitations|audit)$/;

/** True if an operation of a storage (`calls.update`) writes. */
export function isWrite(operation: string): boolean {
  return !READS.test(operation);
}

/** The stores of a storage. */
export type StoreName = Exclude<keyof Storage, "open" | "close" | "lease" | "verifyOwner">;

/** A storage that can be switched off, like a locked or missing database. */
export class FaultyStorage implements Storage {
  readonly #inner: Storage;
  /** True if every operation throws `StorageUnavailable`. */
  isDown = false;
  /** True if every write throws `StorageUnavailable`, as on a full disk or a read-only replica. */
  isFull = false;
  /** Called before each operation with its name (`calls.update`); may throw in its place or make it wait. */
  before: (operation: string, args: readonly unknown[]) => void | Promise<void> = () => {};
  /** Called after each completed operation; may throw, like a connection that breaks before the response, or wait. */
  after: (operation: string) => void | Promise<void> = () => {};
  /** The operations so far, by name. */
  readonly operations: string[] = [];
  #runningCount = 0;
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

  constructor(inner: Storage) {
    this.#inner = inner;
    this.accounts = this.#withFaults("accounts");
    this.logins = this.#withFaults("logins");
    this.instances = this.#withFaults("instances");
    this.lineRecords = this.#withFaults("lineRecords");
    this.consents = this.#withFaults("consents");
    this.calls = this.#withFaults("calls");
    this.batches = this.#withFaults("batches");
    this.audio = this.#withFaults("audio");
    this.events = this.#withFaults("events");
    this.receipts = this.#withFaults("receipts");
    this.transcripts = this.#withFaults("transcripts");
    this.retention = this.#withFaults("retention");
    this.webhooks = this.#withFaults("webhooks");
    this.sealed = this.#withFaults("sealed");
  }

  /** Renewed as an operation (`lease.renew`). */
  get lease(): Lease | undefined {
    const { lease } = this.#inner;
    return lease && { ...lease, renew: async () => void (await this.#run("lease.renew", [], () => lease.renew())) };
  }

  get verifyOwner(): Storage["verifyOwner"] {
    return this.#inner.verifyOwner;
  }

  open(options: OpenOptions): Promise<void> {
    return this.#inner.open(options);
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  /** The writes among the operations so far. */
  get writes(): string[] {
    return this.operations.filter(isWrite);
  }

  /** Number of pending operations. */
  get pendingCount(): number {
    return this.#runningCount;
  }

  #withFaults<Name extends StoreName>(name: Name): Storage[Name] {
    return new Proxy(this.#inner[name], {
      get: (store, method) => {
        const original = Reflect.get(store, method) as (...args: unknown[]) => Promise<unknown>;
        return (...args: unknown[]) => this.#run(`${name}.${String(method)}`, args, original.bind(store));
      },
    });
  }

  async #run(
    operation: string,
    args: readonly unknown[],
    run: (...args: unknown[]) => Promise<unknown>,
  ): Promise<unknown> {
    this.#runningCount++;
    try {
      await this.before(operation, args);
      if (this.isDown) throw new StorageUnavailable("the database is locked");
      if (this.isFull && isWrite(operation)) throw new StorageUnavailable("the database or its disk is full");
      this.operations.push(operation);
      const result = await run(...args);
      const pendingWait = this.after(operation);
      if (pendingWait) await pendingWait;
      return result;
    } finally {
      this.#runningCount--;
    }
  }
}
