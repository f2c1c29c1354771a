import type { Timers } from "../../../../../src/base/timers.ts";
import { pause } from "../../../../../src/base/timers.ts";
import { LeaseLost, StorageUnavailable } from "../../../../../src/ports/storage.ts";
import type { LineRecords } from "../../../../../src/ports/telephony/line-records.ts";

const RETRY_MS = 1_000;
/** Maximum number of rounds before a client that never stops writing is cut off. */
const MAX_ROUNDS = 100;

/**
 * The records of one client. Writes are stored in order, and each one is repeated until it succeeds: a key that rotates
 * must not be lost to an outage. A client that is no longer used is cut off; its writes until then precede everything
 * that the next client on the same keys reads or writes.
 */
export class SessionRecords implements LineRecords {
  readonly #records: LineRecords;
  readonly #system: Timers;
  readonly #cutOff = new AbortController();
  readonly #predecessor: SessionRecords | undefined;
  #last: Promise<void> = Promise.resolve();
  #retirement: Promise<void> | undefined;

  /** @param predecessor the records of the client that previously used these keys */
  constructor(records: LineRecords, system: Timers, predecessor?: SessionRecords) {
    this.#records = records;
    this.#system = system;
    this.#predecessor = predecessor;
    if (predecessor !== undefined) this.#last = predecessor.retire();
  }

  async get(keys: readonly string[]): Promise<(Uint8Array | undefined)[]> {
    await this.#predecessor?.retire();
    return this.#isCut ? keys.map(() => undefined) : await this.#records.get(keys);
  }

  async keys(prefix: string): Promise<string[]> {
    await this.#predecessor?.retire();
    return this.#isCut ? [] : await this.#records.keys(prefix);
  }

  set(changes: ReadonlyMap<string, Uint8Array | undefined>): Promise<void> {
    return this.#writeInTurn(() => this.#records.set(changes));
  }

  clear(): Promise<void> {
    return this.#writeInTurn(() => this.#records.clear());
  }

  /**
   * Resolves once all writes so far are stored or cut off, along with all work that was waiting for them. Never
   * rejects.
   */
  async flushed(): Promise<void> {
    let last: Promise<void> | undefined;
    for (let round = 0; last !== this.#last && round < MAX_ROUNDS; round++) {
      last = this.#last;
      await last;
    }
  }

  /** Resolves once everything is stored; later writes by the client are rejected. Never rejects. */
  retire(): Promise<void> {
    this.#retirement ??= this.flushed().then(() => this.#cutOff.abort());
    return this.#retirement;
  }

  /** Rejects all writes that are not stored yet, and all further writes by the client. */
  cutOff(): void {
    this.#predecessor?.cutOff();
    this.#cutOff.abort();
  }

  get #isCut(): boolean {
    return this.#cutOff.signal.aborted;
  }

  #writeInTurn(write: () => Promise<void>): Promise<void> {
    const result = this.#last.then(() => this.#retryUntilStored(write));
    this.#last = result.catch(() => {}); // the caller handles the error
    return result;
  }

  async #retryUntilStored(write: () => Promise<void>): Promise<void> {
    while (!this.#isCut) {
      try {
        await write();
        return;
      } catch (error) {
        if (!(error instanceof StorageUnavailable) || error instanceof LeaseLost) throw error;
        await pause(this.#system, RETRY_MS, this.#cutOff.signal);
      }
    }
    throw new Error("not stored: this client is no longer in use");
  }
}
