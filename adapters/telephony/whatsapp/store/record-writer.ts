import type { LineRecords } from "../../../../src/ports/telephony/line-records.ts";

type Changes = ReadonlyMap<string, Uint8Array | undefined>;

interface PendingWrite {
  readonly changes: Changes;
  resolve(): void;
  reject(error: unknown): void;
}

/** Writes sequentially; pending changes are written together. */
export class RecordWriter {
  readonly #records: LineRecords;
  #pending: PendingWrite[] = [];
  #isWriting = false;

  constructor(records: LineRecords) {
    this.#records = records;
  }

  /** Resolves once the changes are stored atomically, possibly together with other changes. */
  write(changes: Changes): Promise<void> {
    if (changes.size === 0) return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.#pending.push({ changes, resolve, reject });
      if (!this.#isWriting) void this.#writeAll();
    });
  }

  async #writeAll(): Promise<void> {
    this.#isWriting = true;
    while (this.#pending.length > 0) {
      const writes = this.#pending;
      this.#pending = [];
      const combinedChanges = new Map(writes.flatMap(({ changes }) => [...changes]));
      try {
        await this.#records.set(combinedChanges);
        for (const write of writes) write.resolve();
      } catch (error) {
        if (writes.length === 1) writes[0]?.reject(error);
        else await this.#writeEach(writes); // a record that cannot be stored must not fail the others
      }
    }
    this.#isWriting = false;
  }

  async #writeEach(writes: readonly PendingWrite[]): Promise<void> {
    for (const { changes, resolve, reject } of writes) {
      try {
        await this.#records.set(changes);
        resolve();
      } catch (error) {
        reject(error);
      }
    }
  }
}
