import type { Compilable, CompiledQuery, Dialect, DialectAdapter, Kysely, RawBuilder } from "kysely";
import type { Lease } from "../../src/ports/storage.ts";
import type { ColumnTypes, Contents, DatabaseLocation } from "./migrations/migrate.ts";
import type { AudioFiles } from "./sqlite/audio-files.ts";
import type { Database } from "./tables/all-tables.ts";

/** One open database, for the stores. All methods throw StorageUnavailable. */
export interface Session {
  readonly traits: Traits;
  /** Writes large audio files; undefined if the database writes them like all records. */
  readonly files: AudioFiles | undefined;
  /** Runs a hot query that only reads; returns its rows. */
  query<Params, Row>(query: PreparedQuery<Params, Row>, params: Params): Promise<Row[]>;
  /** Runs other work that only reads. */
  read<T>(work: (db: Kysely<Database>) => Promise<T>): Promise<T>;
  /** Runs work that consists of one writing statement. */
  write<T>(work: (db: Kysely<Database>) => Promise<T>): Promise<T>;
  /**
   * Runs one hot statement that returns its changes. With an `epoch`, it has no effect in any other epoch, and does not
   * lock the owner's row.
   */
  writeOnce<Params extends FencedParams, Row>(query: PreparedQuery<Params, Row>, params: Params): Promise<Row[]>;
  /**
   * Runs work whose changes are stored together. `work` waits only for the database and changes nothing else: it is
   * repeated if other work of the same commit fails.
   */
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
  /**
   * True if transactions overlap, so that a row that a decision depends on is locked. Otherwise transactions share
   * commits.
   */
  readonly rowLocks: boolean;
  /** A member of the JSON object in a column, as text. */
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
  /** The dialect for migrations, if `dialect` has time limits that a long migration would exceed. */
  readonly migrationDialect?: Dialect;
  /**
   * Makes this storage the one server of the database, and keeps other servers out while it migrates.
   * @throws {StorageLocked} another server uses it
   */
  lock(opening: LockedOpening): Promise<ServerLock>;
  /**
   * Resolves when all commits until now survive a power failure; undefined if commits do so already.
   * @throws {StorageUnavailable}
   */
  commitsDurable?: (() => Promise<void>) | undefined;
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

/** The lock on the database. */
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
  /** Runs the query in a transaction. */
  (tx: Kysely<Database>, params: Params): Promise<Row[]>;
  statement(db: Kysely<Database>, params: Params): Statement;
}

/**
 * A query that is built and compiled once per database: on a hot path, building one takes longer than running it.
 * @param build builds the query from placeholders, so it must not read the values. It is called again if a run's values
 * have other names.
 */
export function preparedQuery<Params extends object, Row>(
  build: (db: Kysely<Database>, params: Params) => Compilable<Row>,
): PreparedQuery<Params, Row> {
  const templatesFor = new WeakMap<DialectAdapter, Map<string, CompiledQuery<Row>>>();

  function template(db: Kysely<Database>, names: readonly string[]): CompiledQuery<Row> {
    const { adapter } = db.getExecutor();
    const templates = templatesFor.get(adapter) ?? new Map<string, CompiledQuery<Row>>();
    templatesFor.set(adapter, templates);
    const key = names.join();
    const cachedTemplate = templates.get(key);
    if (cachedTemplate) return cachedTemplate;
    const placeholders = Object.fromEntries(names.map((name) => [name, new Placeholder(name)])) as Params;
    const compiledQuery = build(db, placeholders).compile();
    templates.set(key, compiledQuery);
    return compiledQuery;
  }

  function statement(db: Kysely<Database>, params: Params): CompiledQuery<Row> {
    const compiledQuery = template(db, Object.keys(params));
    const parameters = compiledQuery.parameters.map((value) =>
      value instanceof Placeholder ? params[value.name as keyof Params] : value,
    );
    // Keeps the query's kind: PostgreSQL ends the transaction of a read without a wait.
    return { ...compiledQuery, parameters };
  }

  const run = async (tx: Kysely<Database>, params: Params): Promise<Row[]> =>
    (await tx.executeQuery(statement(tx, params))).rows;
  return Object.assign(run, { statement });
}

/** Maximum number of values in a query's list; both databases limit the parameters of one statement. */
const MAX_LIST = 256;

/**
 * The distinct values, in lists for a prepared query. Each length of a list has its own statement, so the last value is repeated
 * until the length is a power of two.
 */
export function valueLists<T>(values: readonly T[]): T[][] {
  const distinctValues = [...new Set(values)];
  const lists: T[][] = [];
  for (let from = 0; from < distinctValues.length; from += MAX_LIST) {
    const list = distinctValues.slice(from, from + MAX_LIST);
    const length = 2 ** Math.ceil(Math.log2(list.length));
    lists.push(Array.from({ length }, (_, index) => list[Math.min(index, list.length - 1)]!));
  }
  return lists;
}
