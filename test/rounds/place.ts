/** Place of a server's records, and its faults. */
export interface Place {
  readonly name: "SQLite" | "PostgreSQL";
  /** Settings that select it. */
  readonly env: Readonly<Record<string, string>>;
  /** Settings that select it for a second server, over a separate path; undefined if there cannot be one. */
  readonly secondEnv?: Readonly<Record<string, string>>;
  /** Ways in which it can fail. */
  readonly outages: readonly string[];
  /** True if stored data can be read in the meantime. */
  readable(outage: string): boolean;
  /** Resolves once the tables exist. */
  migrated(): Promise<void>;
  /** Starts to fail; resolves once it does. */
  fail(outage: string): Promise<void>;
  /** Works again, if it failed. */
  mend(): Promise<void>;
  /** Resolves when a dead server holds no resource of it. */
  released(): Promise<void>;
  dispose(): Promise<void>;
}
