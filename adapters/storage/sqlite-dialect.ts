import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from "kysely";
import type { Statement as Asked } from "./prepared.ts";
import { whenFree } from "./sqlite-errors.ts";

/** Statements kept prepared; an application's queries are far fewer. */
const CACHED_STATEMENTS = 300;

/** Migrations run in one immediate transaction, which is also their lock between processes. */
class Adapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

/**
 * Kysely over the runtime's own SQLite: one connection, statements kept prepared, transactions that never upgrade.
 * @param committed told behind each commit
 */
export function sqliteDialect(database: DatabaseSync, committed: () => void): Dialect {
  const connection = sqliteConnection(database);
  const raw = (text: string) => connection.executeQuery(CompiledQuery.raw(text));
  return {
    createAdapter: () => new Adapter(),
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createDriver: () => ({
      init: async () => {},
      acquireConnection: async () => connection,
      releaseConnection: async () => {},
      // A transaction that reads first and writes later fails when another process wrote in between; this one waits.
      beginTransaction: async () => void (await raw("begin immediate")),
      async commitTransaction() {
        await raw("commit");
        committed();
      },
      async rollbackTransaction() {
        if (database.isTransaction) await raw("rollback"); // SQLite itself rolls back when the disk is full
      },
      destroy: async () => {}, // who opened the database closes it
    }),
  };
}

interface Statement {
  readonly answersRows: boolean;
  all(parameters: readonly unknown[]): unknown[];
  run(parameters: readonly unknown[]): bigint;
}

/**
 * A connection of Kysely's, which also answers bare rows.
 * @param within what bare rows are read in
 */
export function sqliteConnection(
  database: DatabaseSync,
  within: <T>(read: () => T) => T = (read) => read(),
): DatabaseConnection & { rows<R>(query: Asked): Promise<R[]> } {
  const cache = new Map<string, Statement>();

  function prepare(text: string): Statement {
    const known = cache.get(text);
    if (known) return known;
    const prepared = database.prepare(text);
    const statement: Statement = {
      answersRows: prepared.columns().length > 0,
      all: (parameters) => prepared.all(...parameters.map(bound)),
      run: (parameters) => BigInt(prepared.run(...parameters.map(bound)).changes),
    };
    if (/^\s*(select|insert|update|delete|with|begin|commit|savepoint|release|rollback)\b/i.test(text)) {
      cache.set(text, statement);
      for (const oldest of cache.keys()) if (cache.size > CACHED_STATEMENTS) cache.delete(oldest);
    } else if (/^\s*(create|alter|drop)\b/i.test(text)) {
      cache.clear(); // Node 22 and Deno keep a statement's old column list after a table has changed
    }
    return statement;
  }

  return {
    rows: <R>({ sql, parameters }: Asked) => whenFree(() => within(() => prepare(sql).all(parameters) as R[])),
    executeQuery: <R>({ sql, parameters }: CompiledQuery) =>
      whenFree((): QueryResult<R> => {
        const statement = prepare(sql);
        if (statement.answersRows) return { rows: statement.all(parameters) as R[] };
        return { rows: [], numAffectedRows: statement.run(parameters) };
      }),
    streamQuery() {
      throw new Error("rows are not streamed: every query of this storage answers a page");
    },
  };
}

/** node:sqlite takes a Date or another object for named parameters and stores NULL; here it is refused. */
function bound(value: unknown): SQLInputValue {
  if (value === undefined || value === null) return null;
  if (typeof value === "boolean") return value ? 1 : 0;
  if (typeof value === "number" || typeof value === "bigint" || typeof value === "string") return value;
  if (value instanceof Uint8Array) return value;
  throw new TypeError(`SQLite cannot store ${Object.prototype.toString.call(value)}`);
}
