import { pause } from "../../../../src/base/pause.ts";
import type { Timers } from "../../../../src/base/timers.ts";
import { LeaseLost, StorageUnavailable } from "../../../../src/ports/storage.ts";
import type { LineRecords } from "../../../../src/ports/telephony/line-records.ts";

const RETRY_MS = 1_000;

/**
 * The records of one client. Writes go through in their order, and each one is repeated until the storage has taken it: a
 * key that rotates must not be lost to an outage. A client that is no longer used is cut off from them.
 */
export class SessionRecords implements LineRecords {
  readonly #records: LineRecords;
  readonly #system: Timers;
  readonly #cut = new AbortController();
  #last: Promise<void> = Promise.resolve();

  constructor(records: LineRecords, system: Timers) {
    this.#records = records;
    this.#system = system;
  }

  async get(keys: readonly string[]): Promise<(Uint8Array | undefined)[]> {
    return this.#isCut ? keys.map(() => undefined) : await this.#records.get(keys);
  }

  async keys(prefix: string): Promise<string[]> {
    return this.#isCut ? [] : await this.#records.keys(prefix);
  }

  set(changes: ReadonlyMap<string, Uint8Array | undefined>): Promise<void> {
    return this.#inTurn(() => this.#records.set(changes));
  }

  clear(): Promise<void> {
    return this.#inTurn(() => this.#records.clear());
  }

  /** Resolves once everything that was written so far is stored, or cut off. */
  flushed(): Promise<void> {
    return this.#last;
  }

  /** Whatever the client writes from now on is discarded. */
  cut(): void {
    this.#cut.abort();
  }

  get #isCut(): boolean {
    return this.#cut.signal.aborted;
  }

  #inTurn(write: () => Promise<void>): Promise<void> {
    const done = this.#last.then(() => this.#untilStored(write));
    this.#last = done.catch(() => {}); // the writer is notified
    return done;
  }

  async #untilStored(write: () => Promise<void>): Promise<void> {
    while (!this.#isCut) {
      try {
        await write();
        return;
      } catch (error) {
        if (!(error instanceof StorageUnavailable) || error instanceof LeaseLost) throw error;
        await pause(this.#system, RETRY_MS, this.#cut.signal);
      }
    }
  }
}
