/** Time zones by the prefixes of the numbers with one country code. */
export interface ZoneTable {
  /** Precedes every prefix; empty for a table of country codes. */
  readonly code: string;
  /**
   * IANA names, separated by spaces, and the prefixes of numbers that may be in any of them. The longest matching
   * prefix applies.
   */
  readonly zones: readonly (readonly [zones: string, prefixes: string])[];
}
