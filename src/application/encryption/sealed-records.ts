import type { LineRecordStore } from "../../ports/storage.ts";
import type { LineRecords } from "../../ports/telephony.ts";
import type { Vault } from "./vault.ts";

/** Maximum number of records of one instance. */
const MAX_RECORDS = 20_000;
/** Largest value, bytes. */
const MAX_VALUE_BYTES = 1024 * 1024;
const MAX_KEY_LENGTH = 200;

/** Dependencies of {@link SealedRecords}. */
export interface RecordKeeping {
  readonly vault: Pick<Vault, "seal" | "open">;
  readonly storage: { readonly lineRecords: LineRecordStore };
}

/** The records of one line. Each is sealed for its instance and its key, so that none can replace another. */
export class SealedRecords implements LineRecords {
  readonly #instanceId: string;
  readonly #vault: RecordKeeping["vault"];
  readonly #store: LineRecordStore;
  readonly #beforeAccess: () => Promise<void>;

  /** @param beforeAccess awaited before each access: rejects if the records must no longer be used */
  constructor(
    instanceId: string,
    { vault, storage }: RecordKeeping,
    beforeAccess: () => Promise<void> = async () => {},
  ) {
    this.#instanceId = instanceId;
    this.#vault = vault;
    this.#store = storage.lineRecords;
    this.#beforeAccess = beforeAccess;
  }

  async get(keys: readonly string[]): Promise<(Uint8Array | undefined)[]> {
    await this.#beforeAccess();
    if (keys.length > MAX_RECORDS)
      throw new RangeError(`${keys.length} keys are too many: read at most ${MAX_RECORDS} records at a time`);
    for (const key of keys) assertKey(key);
    const sealedValues = await this.#store.get(this.#instanceId, keys);
    return Promise.all(
      sealedValues.map((bytes, i) => bytes && this.#vault.open(this.#recordId(keys[i] as string), bytes)),
    );
  }

  async keys(prefix: string): Promise<string[]> {
    await this.#beforeAccess();
    if (prefix !== "") assertKey(prefix);
    return this.#store.keys(this.#instanceId, prefix);
  }

  async set(changes: ReadonlyMap<string, Uint8Array | undefined>): Promise<void> {
    await this.#beforeAccess();
    const sealedValues = new Map<string, Uint8Array | undefined>();
    for (const [key, value] of changes) {
      assertKey(key);
      if (value && value.length > MAX_VALUE_BYTES)
        throw new RangeError(`the record "${key}" has ${value.length} bytes, at most ${MAX_VALUE_BYTES} are allowed`);
      sealedValues.set(key, value && (await this.#vault.seal(this.#recordId(key), value)));
    }
    if (sealedValues.size === 0 || (await this.#store.set(this.#instanceId, sealedValues, MAX_RECORDS))) return;
    throw new RangeError(
      `instance "${this.#instanceId}" would have more than ${MAX_RECORDS} records; delete those that are not needed`,
    );
  }

  async clear(): Promise<void> {
    await this.#beforeAccess();
    return this.#store.clear(this.#instanceId);
  }

  #recordId(key: string): string {
    return recordId(this.#instanceId, key);
  }
}

/** The id under which a record is sealed; no other record and no credentials share it. */
export function recordId(instanceId: string, key: string): string {
  return `${instanceId}\0${key}`;
}

function assertKey(key: string): void {
  if (key.length < 1 || key.length > MAX_KEY_LENGTH)
    throw new RangeError(`a key of a record has ${key.length} characters; it must have 1 to ${MAX_KEY_LENGTH}`);
  // Databases cannot store NUL, and UTF-8 does not distinguish unpaired surrogates.
  if (key.includes("\0") || /\p{Surrogate}/u.test(key))
    throw new RangeError(`the key ${JSON.stringify(key)} contains NUL or an unpaired surrogate; remove it`);
}
