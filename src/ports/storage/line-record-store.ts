import type { MentionedNumber } from "../../domain/numbers/mentioned-number.ts";

/** The sealed records of lines, by instance and key. They are erased with the credentials of their instance. */
export interface LineRecordStore {
  /** The values in the order of the keys; undefined for a key without one. */
  get(instanceId: string, keys: readonly string[]): Promise<(Uint8Array | undefined)[]>;
  /** The keys with this beginning, sorted by their code points. */
  keys(instanceId: string, prefix: string): Promise<string[]>;
  /**
   * Writes and deletes (undefined) in one transaction. Saves nothing for an unknown or deleted instance.
   * @param most how many records the instance may have
   * @returns false if it would have more; then no change was made
   */
  set(instanceId: string, changes: ReadonlyMap<string, Uint8Array | undefined>, most: number): Promise<boolean>;
  /**
   * Deletes the records whose key mentions a number, except those of instances that the number itself is linked to; returns
   * how many. May read every key: rarely called.
   */
  forgetNumber(number: MentionedNumber): Promise<number>;
  /** Deletes all records of an instance. */
  clear(instanceId: string): Promise<void>;
}
