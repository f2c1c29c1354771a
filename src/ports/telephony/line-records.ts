/**
 * The records that an adapter keeps for one line, such as the keys of a linked device: opaque bytes by key. The core
 * encrypts each one at rest, and erases all of them with the credentials of the instance.
 *
 * Keys are strings of 1 to 200 characters. A method rejects with {@link StorageUnavailable} if the storage cannot serve
 * it; what it failed to store must be written again.
 */
export interface LineRecords {
  /** The values in the order of the keys; undefined for a key without a value. */
  get(keys: readonly string[]): Promise<(Uint8Array | undefined)[]>;
  /** All keys with this prefix, in any order. */
  keys(prefix: string): Promise<string[]>;
  /** Writes or deletes (undefined) all of these keys or none, durably, before it resolves. */
  set(changes: ReadonlyMap<string, Uint8Array | undefined>): Promise<void>;
  /** Deletes everything. */
  clear(): Promise<void>;
}
