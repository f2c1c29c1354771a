/** Database of a server, and its faults. */
export interface FaultyDatabase {
  readonly name: "SQLite" | "PostgreSQL";
  /** Settings that select it. */
  readonly env: Readonly<Record<string, string>>;
  /** Settings that select it for a second server, over a separate path; undefined if there cannot be one. */
  readonly secondEnv?: Readonly<Record<string, string>>;
  /** Ways in which it can fail. */
  readonly outages: readonly string[];
  /** True if stored data can be read during the outage. */
  isReadable(outage: string): boolean;
  /** Resolves once the tables exist. */
  migrationDone(): Promise<void>;
  /** Makes it fail; resolves once it does. */
  fail(outage: string): Promise<void>;
  /** Repairs it, if it failed. */
  repair(): Promise<void>;
  /** Resolves when a dead server holds no resource of it. */
  whenReleased(): Promise<void>;
  dispose(): Promise<void>;
}
