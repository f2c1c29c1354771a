/** A server's database, and its faults. */
export interface FaultyDatabase {
  readonly name: "SQLite" | "PostgreSQL";
  /** Settings that select the database. */
  readonly env: Readonly<Record<string, string>>;
  /** Settings of a second server that reaches the database over a separate path; undefined if impossible. */
  readonly secondEnv?: Readonly<Record<string, string>>;
  /** Outages that can be caused. */
  readonly outages: readonly string[];
  /** True if stored data can be read during the outage. */
  isReadable(outage: string): boolean;
  /** Resolves once the tables exist. */
  migrationDone(): Promise<void>;
  /** Causes an outage; resolves once it has begun. */
  fail(outage: string): Promise<void>;
  /** Ends the outage, if any. */
  repair(): Promise<void>;
  /** Resolves when a dead server no longer holds any of the database's resources. */
  whenReleased(): Promise<void>;
  dispose(): Promise<void>;
}
