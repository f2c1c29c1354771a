import type { LineRecords } from "../../../../../src/ports/telephony/line-records.ts";

/** Options of {@link StoredRecord}. */
export interface StoredRecordOptions {
  readonly key: string;
  /** The number's records; undefined if no client uses them. */
  readonly records: () => LineRecords | undefined;
  /** Returns the current value; undefined if there is no record to store. */
  readonly value: () => unknown;
  /** Loads the data that the value must include before it is stored; no record is stored if it rejects. */
  readonly load?: () => Promise<void>;
  /** Called if the value could not be stored. */
  readonly onError: (error: unknown) => void;
}

/** A session value that is stored as JSON with the number's keys. */
export class StoredRecord {
  readonly #options: StoredRecordOptions;
  #storePromise: Promise<void> | undefined;
  #isDirty = false;

  constructor(options: StoredRecordOptions) {
    this.#options = options;
  }

  /** True if the last change is not stored: a write of it has failed, or is in progress. */
  get isDirty(): boolean {
    return this.#isDirty;
  }

  /** Stores the latest value; changes in the meantime are stored together. */
  store(): void {
    this.#isDirty = true;
    this.#storePromise ??= this.#storeAll();
  }

  /** Drops pending writes because the records are being deleted. */
  discard(): void {
    this.#isDirty = false;
  }

  async #storeAll(): Promise<void> {
    const { key, records, value, load, onError } = this.#options;
    try {
      await load?.();
      while (this.#isDirty) {
        this.#isDirty = false;
        const latestValue = value();
        const bytes = latestValue === undefined ? undefined : new TextEncoder().encode(JSON.stringify(latestValue));
        await records()?.set(new Map([[key, bytes]]));
      }
    } catch (error) {
      this.#isDirty = true; // until the next change
      onError(error);
    } finally {
      this.#storePromise = undefined; // in the same turn, so that no change is missed
    }
  }
}

/** The stored value; undefined if it is missing or not JSON. */
export async function storedValue(records: LineRecords | undefined, key: string): Promise<unknown> {
  const [bytes] = (await records?.get([key])) ?? [];
  if (bytes === undefined) return undefined;
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
}
