/** Where a server keeps its records, and how that fails. */
export interface Place {
  readonly name: "SQLite" | "PostgreSQL";
  /** Settings that lead the server there. */
  readonly env: Readonly<Record<string, string>>;
  /** Settings that lead a second server there, on a way of its own; undefined: there cannot be one. */
  readonly secondEnv?: Readonly<Record<string, string>>;
  /** Ways in which it can fail. */
  readonly outages: readonly string[];
  /** Whether what is stored can be read meanwhile. */
  readable(outage: string): boolean;
  /** The tables are there. */
  migrated(): Promise<void>;
  /** Begins to fail; resolves when it does. */
  fail(outage: string): Promise<void>;
  /** Works again, if it failed. */
  mend(): Promise<void>;
  /** Resolves when nothing of a dead server holds it any more. */
  released(): Promise<void>;
  dispose(): Promise<void>;
}
