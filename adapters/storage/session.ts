import type { Dialect, Kysely } from "kysely";
import type { Lease } from "../../src/ports/storage.ts";
import type { Contents, Place } from "./migrate.ts";
import type { ColumnTypes } from "./migrations.ts";
import type { Prepared, Statement } from "./prepared.ts";
import type { Database } from "./schema.ts";

/** One open database, as the stores see it. All methods throw StorageUnavailable where the database cannot. */
export interface Session {
  readonly traits: Traits;
  /** For one query that is asked again and again and only reads; answers its rows. */
  ask<Given, Row>(query: Prepared<Given, Row>, given: Given): Promise<Row[]>;
  /** For everything else that only reads. */
  read<T>(work: (db: Kysely<Database>) => Promise<T>): Promise<T>;
  /** For what one statement changes. */
  write<T>(work: (db: Kysely<Database>) => Promise<T>): Promise<T>;
  /**
   * For one hot statement that returns what it has changed. On PostgreSQL it takes one round trip instead of three: if it
   * is given an `epoch`, it changes nothing in another one.
   */
  writeOnce<Given extends Fenced, Row>(query: Prepared<Given, Row>, given: Given): Promise<Row[]>;
  /** For what is stored together; `work` waits for nothing but the database. */
  transaction<T>(work: (tx: Kysely<Database>) => Promise<T>): Promise<T>;
  /** Overwrites what was deleted, if the database keeps files of its own. */
  scrub(thorough: boolean): Promise<void>;
}

/** What the session adds to what a statement is given. */
export interface Fenced {
  readonly epoch?: number;
}

/** How one database differs from the other. */
export interface Traits {
  /** Transactions overlap, so a row that is read in order to decide must be locked. Where they do not, they share commits. */
  readonly rowLocks: boolean;
  /** A sentence where the error says that the database cannot do it now; undefined for every other error. */
  unavailable(error: unknown): string | undefined;
}

/** What a database brings to be a storage. */
export interface Engine extends Place {
  readonly dialect: Dialect;
  readonly columnTypes: ColumnTypes;
  /** Runs a query that only reads, where there is a quicker way than the dialect's. It sees all that is committed. */
  read?<Row>(statement: Statement): Promise<Row[]>;
  /** Overwrites what was deleted; undefined where files are the database server's own. */
  scrub?(thorough: boolean): Promise<void>;
  /** For migrations, where the everyday dialect has time limits that a long one would break. */
  readonly migrationDialect?: Dialect;
  /**
   * Makes this opening the one server of the database, which nobody else becomes while it migrates.
   * @throws {StorageLocked} another server works on it
   */
  own(opening: OwnedOpening): Promise<Ownership>;
  /** Closes what `connect` opened, where the dialect does not. */
  close?(): Promise<void> | void;
}

export interface OwnedOpening {
  readonly db: Kysely<Database>;
  readonly migrationDb: Kysely<Database>;
  /** Whether the database needs no migration. */
  isCurrent(contents: Contents): boolean;
  /** Brings the database up to date in a transaction of `migrationDb`, or of `db` if it is current. */
  migrate(tx: Kysely<Database>): Promise<void>;
  readonly leaseMs: number;
}

/** That this opening is the one server. */
export interface Ownership {
  /** Undefined where the operating system takes it back when the process dies. */
  readonly lease?: Lease;
  release(): Promise<void>;
}
