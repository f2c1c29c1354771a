import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import { setTimeout } from "node:timers";
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type LimitNode,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  ValueNode,
} from "kysely";
import { InternalError } from "../../../src/base/error.ts";
import type { Statement as Query } from "../connected-database.ts";
import { whenFree } from "./node-sqlite.ts";

/** Maximum number of prepared statements in the cache; the storage has far fewer queries. */
const CACHED_STATEMENTS = 300;

/** Migrations run in one immediate transaction, which also locks out other processes. */
export class TransactionalAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

/** Writes limits into the text of a query: SQLite plans a query again in every run if its limit is a parameter. */
export class LiteralLimitCompiler extends SqliteQueryCompiler {
  protected override visitLimit(node: LimitNode): void {
    const { limit } = node;
    if (ValueNode.is(limit) && Number.isSafeInteger(limit.value)) this.append(`limit ${limit.value}`);
    else super.visitLimit(node);
  }
}

/**
 * Kysely over the runtime's own SQLite: one connection, cached statements, transactions that never upgrade.
 * @param onCommit called after each commit
 */
export function sqliteDialect(database: DatabaseSync, onCommit: () => void): Dialect {
  const connection = sqliteConnection(database);
  const executeRaw = (text: string) => connection.executeQuery(CompiledQuery.raw(text));
  return {
    createAdapter: () => new TransactionalAdapter(),
    createQueryCompiler: () => new LiteralLimitCompiler(),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createDriver: () => ({
      init: async () => {},
      acquireConnection: async () => connection,
      releaseConnection: async () => {},
      // A transaction that reads first and writes later fails if another process wrote in between; this one waits.
      beginTransaction: async () => void (await executeRaw("begin immediate")),
      async commitTransaction() {
        await executeRaw("commit");
        onCommit();
      },
      async rollbackTransaction() {
        if (database.isTransaction) await executeRaw("rollback"); // SQLite itself rolls back on a full disk
      },
      destroy: async () => {}, // the caller closes the database
    }),
  };
}

interface Statement {
  readonly returnsRows: boolean;
  all(parameters: readonly unknown[]): unknown[];
  run(parameters: readonly unknown[]): bigint;
}

/**
 * A Kysely connection that also returns bare rows.
 * @param within wraps the reading of bare rows
 */
export function sqliteConnection(
  database: DatabaseSync,
  within: <T>(read: () => T) => T = (read) => read(),
): DatabaseConnection & { rows<R>(query: Query): Promise<R[]> } {
  const cache = new Map<string, Statement>();

  function prepare(text: string): Statement {
    const cachedStatement = cache.get(text);
    if (cachedStatement) return cachedStatement;
    const nativeStatement = database.prepare(text);
    const statement: Statement = {
      returnsRows: nativeStatement.columns().length > 0,
      all: (parameters) => nativeStatement.all(...parameters.map(toInputValue)),
      run: (parameters) => BigInt(nativeStatement.run(...parameters.map(toInputValue)).changes),
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
    rows: <R>({ sql, parameters }: Query) => whenFree(() => within(() => prepare(sql).all(parameters) as R[])),
    executeQuery: <R>({ sql, parameters }: CompiledQuery) =>
      whenFree((): QueryResult<R> => {
        const statement = prepare(sql);
        if (statement.returnsRows) return { rows: statement.all(parameters) as R[] };
        return { rows: [], numAffectedRows: statement.run(parameters) };
      }),
    streamQuery() {
      throw new InternalError("rows cannot be streamed: read a page instead");
    },
  };
}

/** Rejects objects such as a Date, which node:sqlite would treat as named parameters and store as NULL. */
function toInputValue(value: unknown): SQLInputValue {
  if (value === undefined || value === null) return null;
  if (typeof value === "boolean") return value ? 1 : 0;
  if (typeof value === "number" || typeof value === "bigint" || typeof value === "string") return value;
  if (value instanceof Uint8Array) return value;
  throw new TypeError(`SQLite cannot store ${Object.prototype.toString.call(value)}`);
}

/** A transaction shared by reads. */
interface SharedReads {
  /** Runs a read inside the open transaction, or a new one. */
  within<T>(read: () => T): T;
  /** Called after a commit: the next read starts a new transaction, which sees it. */
  renew(): void;
}

/** Time within which another process's commits become visible, ms; our own are visible immediately. */
const MAX_MS = 2;

/**
 * Runs reads that are close together in one transaction: they see the same state of the database and lock it only once.
 * In WAL mode, locking takes longer than reading a row.
 * @param database only for reading
 */
export function sharedReads(database: DatabaseSync): SharedReads {
  const begin = database.prepare("begin");
  const end = database.prepare("commit");
  /** Time at which the open transaction began, by the monotonic clock, ms; undefined if none is open. */
  let begunAt: number | undefined;
  let isScheduled = false;

  function renew(): void {
    if (begunAt === undefined) return;
    begunAt = undefined;
    if (database.isOpen) end.run();
  }

  function onTimeout(): void {
    isScheduled = false;
    renew();
  }

  return {
    within(read) {
      // The timer may be late, so the data it would have refreshed is read now.
      if (begunAt !== undefined && performance.now() - begunAt > MAX_MS) renew();
      if (begunAt === undefined) {
        begin.run();
        begunAt = performance.now();
        if (!isScheduled) setTimeout(onTimeout, MAX_MS);
        isScheduled = true;
      }
      return read();
    },
    renew,
  };
}
