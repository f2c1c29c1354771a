import { errorText } from "../../../../src/base/error.ts";
import { decodeRecord, encodeRecord } from "../../../../src/base/record-format.ts";
import type { LineRecords } from "../../../../src/ports/telephony/line-records.ts";
import type { RecordWriter } from "./record-writer.ts";

/** Options of {@link RecordSet}. */
export interface RecordSetOptions<T> {
  readonly records: LineRecords;
  readonly writer: RecordWriter;
  /** Beginning of every key, ending in "/". */
  readonly prefix: string;
  /** Limit above which the least recently written records are deleted. Default: no limit. */
  readonly maxRecords?: number;
  /** Number of entries kept in memory. Default: 0. */
  readonly maxCached?: number;
  /** Returns true for a stored value that is one of these records. */
  readonly isRecord: (value: unknown) => value is T;
}

/** The records of one kind, by name: bounded, read through a cache, and written together with others. */
export class RecordSet<T> {
  readonly #options: RecordSetOptions<T>;
  readonly #maxRecords: number;
  readonly #maxCached: number;
  readonly #cache = new Map<string, T>();
  /** Names of all records; the latest written ones are last. */
  #names: Promise<Set<string>> | undefined;
  /** The latest pending or failed change to each name, which determines its value. */
  readonly #latestChanges = new Map<string, object>();
  /** Counts writes: a value read before a write is not cached after it. */
  #writeCount = 0;

  constructor(options: RecordSetOptions<T>) {
    this.#options = options;
    this.#maxRecords = options.maxRecords ?? Infinity;
    this.#maxCached = options.maxCached ?? 0;
  }

  async names(): Promise<string[]> {
    return [...(await this.#index())];
  }

  async get(name: string): Promise<T | undefined> {
    return (await this.getAll([name]))[0];
  }

  /** The records in the order of the names. Rejects with an Error if one cannot be read. */
  async getAll(names: readonly string[]): Promise<(T | undefined)[]> {
    const existingNames = await this.#index();
    const values = new Map<string, T>();
    const uncachedNames: string[] = [];
    for (const name of new Set(names)) {
      const cachedValue = this.#cache.get(name);
      if (cachedValue !== undefined) this.#cacheValue(name, cachedValue);
      if (cachedValue !== undefined) values.set(name, cachedValue);
      else if (existingNames.has(name)) uncachedNames.push(name);
    }
    const writes = this.#writeCount;
    const storedBytes =
      uncachedNames.length === 0 ? [] : await this.#options.records.get(uncachedNames.map((name) => this.#key(name)));
    for (const [index, name] of uncachedNames.entries()) {
      const bytes = storedBytes[index];
      if (bytes === undefined) continue;
      const value = this.#decode(name, bytes);
      values.set(name, value);
      if (writes === this.#writeCount) this.#cacheValue(name, value);
    }
    return names.map((name) => values.get(name));
  }

  /** Writes and deletes (undefined) atomically. */
  async set(changes: ReadonlyMap<string, T | undefined>): Promise<void> {
    const names = await this.#index();
    const surplusNames = this.#surplusNames(names, changes);
    const encodedChanges = new Map<string, Uint8Array | undefined>(
      surplusNames.map((name) => [this.#key(name), undefined]),
    );
    for (const [name, value] of changes) {
      if (value !== undefined) encodedChanges.set(this.#key(name), encodeRecord(value));
      else if (names.has(name)) encodedChanges.set(this.#key(name), undefined);
    }
    for (const [name, value] of changes) if (value !== undefined) move(names, name);
    const change = {};
    const changedNames = [...changes.keys(), ...surplusNames];
    for (const name of changedNames) this.#latestChanges.set(name, change);
    const invalidate = (): void => {
      this.#writeCount++;
      for (const name of changedNames) this.#cache.delete(name);
    };
    invalidate();
    // Repeated after the write: the effect of a failed write is unknown, and values read in the meantime may be stale.
    await this.#options.writer.write(encodedChanges).finally(invalidate);
    for (const name of changedNames) {
      if (this.#latestChanges.get(name) !== change) continue; // a later change is in progress
      this.#latestChanges.delete(name);
      const value = changes.get(name);
      if (value === undefined) names.delete(name);
      else this.#cacheValue(name, value);
    }
  }

  async clear(): Promise<void> {
    await this.set(new Map((await this.names()).map((name) => [name, undefined])));
  }

  #surplusNames(names: ReadonlySet<string>, changes: ReadonlyMap<string, T | undefined>): string[] {
    let count = names.size;
    for (const [name, value] of changes) {
      if (value !== undefined && !names.has(name)) count++;
      if (value === undefined && names.has(name)) count--;
    }
    const surplus: string[] = [];
    for (const name of names) {
      if (count - surplus.length <= this.#maxRecords) break;
      if (!changes.has(name)) surplus.push(name);
    }
    return surplus;
  }

  #key(name: string): string {
    return this.#options.prefix + name;
  }

  #decode(name: string, bytes: Uint8Array): T {
    const { isRecord } = this.#options;
    let problem = "it is of another kind";
    try {
      const value = decodeRecord(bytes);
      if (isRecord(value)) return value;
    } catch (error) {
      problem = errorText(error);
    }
    throw new Error(`record "${this.#key(name)}" cannot be read (${problem}): unlink the number and link it again`);
  }

  #cacheValue(name: string, value: T): void {
    if (this.#maxCached === 0) return;
    this.#cache.delete(name);
    this.#cache.set(name, value);
    if (this.#cache.size <= this.#maxCached) return;
    for (const oldest of this.#cache.keys()) {
      this.#cache.delete(oldest);
      return;
    }
  }

  /** The names of all records, read at the first use. */
  #index(): Promise<Set<string>> {
    this.#names ??= this.#options.records
      .keys(this.#options.prefix)
      .then((keys) => new Set(keys.map((key) => key.slice(this.#options.prefix.length))))
      .catch((error) => {
        this.#names = undefined;
        throw error;
      });
    return this.#names;
  }
}

function move(names: Set<string>, name: string): void {
  names.delete(name);
  names.add(name);
}
