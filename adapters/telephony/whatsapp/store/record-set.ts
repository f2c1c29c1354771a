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
  readonly most?: number;
  /** Number of entries kept in memory. Default: 0. */
  readonly cached?: number;
  /** Returns true for a stored value that is one of these records. */
  readonly is: (value: unknown) => value is T;
}

/** The records of one kind, by name: bounded, read through a cache, and written together with others. */
export class RecordSet<T> {
  readonly #options: RecordSetOptions<T>;
  readonly #maxRecords: number;
  readonly #cached: number;
  readonly #cache = new Map<string, T>();
  /** The names of all records, those written last at the end. */
  #names: Promise<Set<string>> | undefined;
  /** The latest pending or failed change of each name, which determines its value. */
  readonly #latest = new Map<string, object>();
  /** Counts writes: a value read before a write is not cached after it. */
  #writes = 0;

  constructor(options: RecordSetOptions<T>) {
    this.#options = options;
    this.#maxRecords = options.most ?? Infinity;
    this.#cached = options.cached ?? 0;
  }

  async names(): Promise<string[]> {
    return [...(await this.#index())];
  }

  async get(name: string): Promise<T | undefined> {
    return (await this.getAll([name]))[0];
  }

  /** The records in the order of the names. Rejects with an Error if one cannot be read. */
  async getAll(names: readonly string[]): Promise<(T | undefined)[]> {
    const existing = await this.#index();
    const found = new Map<string, T>();
    const missing: string[] = [];
    for (const name of new Set(names)) {
      const cached = this.#cache.get(name);
      if (cached !== undefined) this.#remember(name, cached);
      if (cached !== undefined) found.set(name, cached);
      else if (existing.has(name)) missing.push(name);
    }
    const writes = this.#writes;
    const stored = missing.length === 0 ? [] : await this.#options.records.get(missing.map((name) => this.#key(name)));
    for (const [at, name] of missing.entries()) {
      const bytes = stored[at];
      if (bytes === undefined) continue;
      const value = this.#decode(name, bytes);
      found.set(name, value);
      if (writes === this.#writes) this.#remember(name, value);
    }
    return names.map((name) => found.get(name));
  }

  /** Writes and deletes (undefined) atomically. */
  async set(changes: ReadonlyMap<string, T | undefined>): Promise<void> {
    const names = await this.#index();
    const surplus = this.#surplus(names, changes);
    const stored = new Map<string, Uint8Array | undefined>(surplus.map((name) => [this.#key(name), undefined]));
    for (const [name, value] of changes) {
      if (value !== undefined) stored.set(this.#key(name), encodeRecord(value));
      else if (names.has(name)) stored.set(this.#key(name), undefined);
    }
    for (const [name, value] of changes) if (value !== undefined) move(names, name);
    const change = {};
    const changed = [...changes.keys(), ...surplus];
    for (const name of changed) this.#latest.set(name, change);
    const forget = (): void => {
      this.#writes++;
      for (const name of changed) this.#cache.delete(name);
    };
    forget();
    // Repeated after the write: the effect of a failed write is unknown, and values read in the meantime may be stale.
    await this.#options.writer.write(stored).finally(forget);
    for (const name of changed) {
      if (this.#latest.get(name) !== change) continue; // a later change is in progress
      this.#latest.delete(name);
      const value = changes.get(name);
      if (value === undefined) names.delete(name);
      else this.#remember(name, value);
    }
  }

  async clear(): Promise<void> {
    await this.set(new Map((await this.names()).map((name) => [name, undefined])));
  }

  #surplus(names: ReadonlySet<string>, changes: ReadonlyMap<string, T | undefined>): string[] {
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
    const { is } = this.#options;
    let problem = "it is of another kind";
    try {
      const value = decodeRecord(bytes);
      if (is(value)) return value;
    } catch (error) {
      problem = errorText(error);
    }
    throw new Error(`record "${this.#key(name)}" cannot be read (${problem}): unlink the number and link it again`);
  }

  #remember(name: string, value: T): void {
    if (this.#cached === 0) return;
    this.#cache.delete(name);
    this.#cache.set(name, value);
    if (this.#cache.size <= this.#cached) return;
    for (const oldest of this.#cache.keys()) {
      this.#cache.delete(oldest);
      return;
    }
  }

  /** Reads the names at the first use. */
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
