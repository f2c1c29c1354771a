import {
  type Compilable,
  CompiledQuery,
  type Dialect,
  type DialectAdapter,
  type Kysely,
  type RawBuilder,
} from "kysely";
import type { Lease } from "../../src/ports/storage.ts";
import type { ColumnTypes } from "./migrations/first-tables.ts";
import type { Contents, DatabaseLocation } from "./migrations/migrate.ts";
import type { Database } from "./schema.ts";
import type { AudioFiles } from "./sqlite/audio-files.ts";

/** One open database, for the stores. All methods throw StorageUnavailable. */
export interface Session {
  readonly traits: Traits;
  /** Writes large audio files; undefined if the database writes them like all records. */
  readonly files: AudioFiles | undefined;
  /** Runs a hot query that only reads; returns its rows. */
  query<Params, Row>(query: PreparedQuery<Params, Row>, params: Params): Promise<Row[]>;
  /** Runs other work that only reads. */
  read<T>(work: (db: Kysely<Database>) => Promise<T>): Promise<T>;
  /** Runs work of one statement that writes. */
  write<T>(work: (db: Kysely<Database>) => Promise<T>): Promise<T>;
  /**
   * Runs one hot statement that returns its changes. With an `epoch`, it changes nothing in any other epoch, without
   * locking the owner's row.
   */
  writeOnce<Params extends FencedParams, Row>(query: PreparedQuery<Params, Row>, params: Params): Promise<Row[]>;
  /** Runs work that is stored together; `work` waits only for the database. */
  transaction<T>(work: (tx: Kysely<Database>) => Promise<T>): Promise<T>;
  /** Overwrites deleted records, if the storage has the database files. */
  scrub(thorough: boolean): Promise<void>;
}

/** Values that the session adds to a statement. */
export interface FencedParams {
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

/** A connected database, from which `databaseStorage` creates a storage. */
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
   * @throws {StorageLocked} another server uses it
   */
  lock(opening: LockedOpening): Promise<ServerLock>;
  /** Writes large audio files, if the dialect would block the event loop. */
  readonly files?: AudioFiles | undefined;
  /** Closes resources that the dialect does not close. */
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
  /** The lease; undefined if the lock ends with the process. */
  readonly lease?: Lease;
  /** Checks that the lock still keeps other servers out, if it can be lost. @throws {LeaseLost} */
  verify?(): void;
  release(): Promise<void>;
}

/** Marks the place of a value in a compiled query. */
class Placeholder {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

/** An SQL statement with its values. */
export interface Statement {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

/** A query that is compiled once. */
export interface PreparedQuery<Params, Row> {
  /** Runs it in a transaction. */
  (tx: Kysely<Database>, params: Params): Promise<Row[]>;
  statement(db: Kysely<Database>, params: Params): Statement;
}

/**
 * A query that is built and compiled once per database: on a hot path, building one takes longer than running it.
 * @param build builds the query from placeholders, so it must not read the values. It is called again if a run has
 * values with other names.
 */
export function preparedQuery<Params extends object, Row>(
  build: (db: Kysely<Database>, params: Params) => Compilable<Row>,
): PreparedQuery<Params, Row> {
  const templatesFor = new WeakMap<DialectAdapter, Map<string, CompiledQuery>>();

  function template(db: Kysely<Database>, names: readonly string[]): CompiledQuery {
    const { adapter } = db.getExecutor();
    const templates = templatesFor.get(adapter) ?? new Map<string, CompiledQuery>();
    templatesFor.set(adapter, templates);
    const key = names.join();
    const cachedTemplate = templates.get(key);
    if (cachedTemplate) return cachedTemplate;
    const placeholders = Object.fromEntries(names.map((name) => [name, new Placeholder(name)])) as Params;
    const compiledQuery = build(db, placeholders).compile();
    templates.set(key, compiledQuery);
    return compiledQuery;
  }

  function statement(db: Kysely<Database>, params: Params): Statement {
    const { sql, parameters } = template(db, Object.keys(params));
    const values = parameters.map((value) =>
      value instanceof Placeholder ? params[value.name as keyof Params] : value,
    );
    return { sql, parameters: values };
  }

  const run = async (tx: Kysely<Database>, params: Params): Promise<Row[]> => {
    const { sql, parameters } = statement(tx, params);
    return (await tx.executeQuery<Row>(CompiledQuery.raw(sql, [...parameters]))).rows;
  };
  return Object.assign(run, { statement });
}
