import type { LineRecords } from "../../../src/ports/telephony/line-records.ts";

/** Records in memory. A test may read and break them. */
export class MapRecords implements LineRecords {
  readonly values = new Map<string, Uint8Array>();
  /** Number of keys in each read, and number of changes in each write. */
  readonly reads: number[] = [];
  readonly writes: number[] = [];
  /** Set to make every method reject. */
  failure: Error | undefined;

  async get(keys: readonly string[]): Promise<(Uint8Array | undefined)[]> {
    this.#assertAccess(keys);
    this.reads.push(keys.length);
    return keys.map((key) => this.values.get(key)?.slice());
  }

  async keys(prefix: string): Promise<string[]> {
    this.#assertAccess([]);
    return [...this.values.keys()].filter((key) => key.startsWith(prefix)).reverse();
  }

  async set(changes: ReadonlyMap<string, Uint8Array | undefined>): Promise<void> {
    this.#assertAccess([...changes.keys()]);
    this.writes.push(changes.size);
    for (const [key, value] of changes)
      if (value === undefined) this.values.delete(key);
      else this.values.set(key, value.slice());
  }

  async clear(): Promise<void> {
    this.#assertAccess([]);
    this.values.clear();
  }

  #assertAccess(keys: readonly string[]): void {
    if (this.failure) throw this.failure;
    for (const key of keys)
      if (key.length < 1 || key.length > 200) throw new Error(`key "${key}" is too long or empty`);
  }
}
