import type { Dialect, Kysely, RawBuilder } from "kysely";
import type { Lease } from "../../src/ports/storage.ts";
import type { AudioFiles } from "./audio-files.ts";
import type { ColumnTypes } from "./first-tables.ts";
import type { Contents, DatabaseLocation } from "./migrate.ts";
import type { Prepared, Statement } from "./prepared.ts";
import type { Database } from "./schema.ts";

/** One open database, for the stores. All methods throw StorageUnavailable. */
export interface Session {
  readonly traits: Traits;
  /** Writes large audio files; undefined if the database writes them like all records. */
  readonly files: AudioFiles | undefined;
  /** Runs a hot query that only reads; returns its rows. */
  query<Given, Row>(query: Prepared<Given, Row>, given: Given): Promise<Row[]>;
  /** Runs other work that only reads. */
  read<T>(work: (db: Kysely<Database>) => Promise<T>): Promise<T>;
  /** Runs work of one statement that writes. */
  write<T>(work: (db: Kysely<Database>) => Promise<T>): Promise<T>;
  /**
   * Runs one hot statement that returns its changes. With an `epoch`, it changes nothing in another one, and locks no
   * row of the owner for that.
   */
  writeOnce<Given extends Fenced, Row>(query: Prepared<Given, Row>, given: Given): Promise<Row[]>;
  /** Runs work that is stored together; `work` waits only for the database. */
  transaction<T>(work: (tx: Kysely<Database>) => Promise<T>): Promise<T>;
  /** Overwrites deleted records, if the files of the database are its own. */
  scrub(thorough: boolean): Promise<void>;
}

/** Values that the session adds to a statement. */
export interface Fenced {
  readonly epoch?: number;
}

/** Differences between the databases. */
export interface Traits {
  /** Transactions overlap, so a row that a decision depends on is locked. Otherwise transactions share commits. */
  readonly rowLocks: boolean;
  /** A member of a column that holds a JSON object, as text. */
  jsonText(column: string, member: string): RawBuilder<string | null>;
  /** The reason why the database is unavailable; undefined for every other error. */
  unavailable(error: unknown): string | undefined;
}

/** A connected database, from which `kyselyStorage` makes a storage. */
export interface ConnectedDatabase extends DatabaseLocation {
  readonly dialect: Dialect;
  readonly columnTypes: ColumnTypes;
  /** Runs a query that only reads faster than the dialect does. It sees all committed data. */
  read?<Row>(statement: Statement): Promise<Row[]>;
  /** Overwrites deleted records; undefined if the files belong to a database server. */
  scrub?(thorough: boolean): Promise<void>;
  /** For migrations, if the other dialect has time limits that a long migration would exceed. */
  readonly migrationDialect?: Dialect;
  /**
   * Makes this storage the one server of the database, and keeps other servers out while it migrates.
   * @throws {StorageLocked} another server works on it
   */
  lock(opening: LockedOpening): Promise<ServerLock>;
  /** Writes large audio files, if the dialect would block the event loop. */
  readonly files?: AudioFiles | undefined;
  /** Closes what the dialect does not close. */
  close?(): Promise<void> | void;
}

export interface LockedOpening {
  readonly db: Kysely<Database>;
  readonly migrationDb: Kysely<Database>;
  /** True if the database needs no migration. */
  isCurrent(contents: Contents): boolean;
  /** Migrates the database in a transaction of `migrationDb`, or of `db` if it is current. */
  migrate(tx: Kysely<Database>): Promise<void>;
  readonly leaseMs: number;
}

/** The lock of the database. */
export interface ServerLock {
  /** Undefined if the lock ends with the process. */
  readonly lease?: Lease;
  /** Checks that the lock still keeps other servers out, if something else than them can end that. @throws {LeaseLost} */
  verify?(): void;
  release(): Promise<void>;
}
