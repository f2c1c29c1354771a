/** The time up to which a server trusts the wall clock; ms since 1970-01-01 UTC. */
export interface TrustedTime {
  readonly at: number;
  /** A wall clock that is ahead of `at`: its first reading, and the uptime since then, ms. */
  readonly claim: { readonly at: number; readonly waitedMs: number } | null;
  /** A step to a later time within the last day of uptime, and the uptime since then, ms. Missing if there was none. */
  readonly step?: { readonly ms: number; readonly waitedMs: number } | undefined;
}

/** The purge clock's state, scrubbing of deleted records, and what is stored. */
export interface RetentionStore {
  trustedTime(): Promise<TrustedTime | undefined>;
  saveTrustedTime(time: TrustedTime): Promise<void>;
  /** Bytes that count for a user, or for the demo tokens of an instance: see `ByteBudget`. */
  storedBytes(owner: string): Promise<number>;
  /**
   * Removes traces of deleted records from the files of the database. Without `thorough` it must be short, because live
   * calls wait for it, and traces may remain. With `thorough` it may take seconds, and needs free space of the size of
   * the database. A storage without files does not act.
   */
  scrub(options: { thorough: boolean }): Promise<void>;
}
