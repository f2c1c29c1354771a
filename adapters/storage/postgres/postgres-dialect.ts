import {
  CompiledQuery,
  type DatabaseConnection,
  type Driver,
  type Kysely,
  type PostgresPool as KyselyPool,
  PostgresAdapter,
  PostgresDialect,
  PostgresDriver,
  type QueryResult,
  sql,
} from "kysely";
import { within } from "../../../src/base/timers.ts";
import { realSystem } from "../../../src/ports/system.ts";
import { endsConnection, leaseLost } from "./postgres-errors.ts";

/** The guard at the start of every transaction. */
export interface Fence {
  /**
   * Locks one row while this storage may write, and finds no row afterwards. Without a query, every storage may write.
   */
  query?: string;
  /** The name of the database in errors. */
  readonly database: string;
}

/**
 * Limits for every transaction, ms; 0 for no limit. PostgreSQL gives up before the client does: a statement whose
 * client has disconnected would keep its connection, and a locked table would use them all up.
 */
export interface TransactionLimits {
  /** Limit for each statement, including its waits for locks. */
  readonly statementMs: number;
  /** Limit for the time between two statements: a suspended process must not keep its locks. */
  readonly idleMs: number;
}

/** The number of Kysely's lock, which older versions wait for. */
const MIGRATION_LOCK = "3853314791062309107";

/**
 * Kysely over PostgreSQL without session state, so that connections may come from a transaction pooler. The limits and
 * the fence are sent with BEGIN, in one round trip. A query outside of a transaction gets its own transaction, for its
 * limits.
 */
export function postgresDialect(pool: KyselyPool, limits: TransactionLimits, fence?: Fence): PostgresDialect {
  return new StatelessDialect(pool, limits, fence);
}

class StatelessDialect extends PostgresDialect {
  readonly #driver: () => Driver;

  constructor(pool: KyselyPool, limits: TransactionLimits, fence: Fence | undefined) {
    super({ pool });
    this.#driver = () => new FencedDriver(pool, limits, fence);
  }

  override createDriver(): Driver {
    return this.#driver();
  }

  override createAdapter(): PostgresAdapter {
    return new StatelessAdapter();
  }
}

/** Locks migrations until the end of their transaction. */
export class StatelessAdapter extends PostgresAdapter {
  readonly #supportsMultiple: boolean;

  /** @param supportsMultiple false if the driver has one connection, which transactions take turns to use */
  constructor(supportsMultiple = true) {
    super();
    this.#supportsMultiple = supportsMultiple;
  }

  override get supportsMultipleConnections(): boolean {
    return this.#supportsMultiple;
  }

  override async acquireMigrationLock(db: Kysely<unknown>): Promise<void> {
    await sql`select pg_advisory_xact_lock(${sql.raw(MIGRATION_LOCK)})`.execute(db);
  }

  /** The lock ends with the transaction. */
  override async releaseMigrationLock(): Promise<void> {}
}

class FencedDriver extends PostgresDriver {
  readonly #begin: string;
  readonly #fence: Fence | undefined;
  /** Connections in a transaction that Kysely has begun. */
  readonly #transactions = new WeakSet<DatabaseConnection>();
  /** The end of a read's transaction, which its result does not wait for, by connection. */
  readonly #transactionEnds = new WeakMap<DatabaseConnection, Promise<unknown>>();

  constructor(pool: KyselyPool, { statementMs, idleMs }: TransactionLimits, fence: Fence | undefined) {
    super({ pool });
    // The database may have a different default isolation level.
    this.#begin = `begin isolation level read committed; set local statement_timeout = ${statementMs}; set local idle_in_transaction_session_timeout = ${idleMs}`;
    this.#fence = fence;
  }

  override async acquireConnection(...options: Parameters<Driver["acquireConnection"]>): Promise<DatabaseConnection> {
    const connection = await super.acquireConnection(...options);
    const execute = connection.executeQuery.bind(connection) as Execute;
    const executeLimited: Execute = (query) =>
      this.#transactions.has(connection) ? execute(query) : this.#inOwnTransaction(connection, execute, query);
    return Object.assign(connection, { executeQuery: executeLimited });
  }

  /** @throws {LeaseLost} the fence finds no row */
  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    const fence = this.#fence;
    const query = fence?.query;
    const text = query === undefined ? this.#begin : `${this.#begin}; ${query}`;
    this.#transactions.add(connection);
    try {
      const { rows } = await connection.executeQuery(CompiledQuery.raw(text));
      if (fence && query !== undefined && rows.length === 0) throw leaseLost(fence.database);
    } catch (error) {
      await this.rollbackTransaction(connection as Connection).catch(() => {});
      throw error;
    }
  }

  /** Waits for the end of a read's transaction, which the reader does not wait for. */
  override async releaseConnection(connection: Connection): Promise<void> {
    const transactionEnd = this.#transactionEnds.get(connection);
    if (transactionEnd === undefined) return super.releaseConnection(connection);
    transactionEnd.then(() => super.releaseConnection(connection)).catch(() => {}); // the pool discards a broken connection
  }

  /** Runs a query in a separate transaction. */
  async #inOwnTransaction(
    connection: DatabaseConnection,
    execute: Execute,
    query: CompiledQuery,
  ): Promise<QueryResult<never>> {
    const result = execute(CompiledQuery.raw(this.#begin)).then(() => execute(query));
    // After a fault, this rolls back.
    const transactionEnd = result.catch(() => {}).then(() => execute(CompiledQuery.raw("commit")));
    this.#transactionEnds.set(
      connection,
      transactionEnd.catch(() => {}),
    );
    if (query.query.kind !== "SelectQueryNode") await Promise.all([result, transactionEnd]);
    return result;
  }
}

type Connection = Parameters<PostgresDriver["releaseConnection"]>[0];
type Execute = (query: CompiledQuery) => Promise<QueryResult<never>>;

/** The part of a `Pool` from the package `pg` that the storage uses. */
export interface PostgresPool {
  connect(): Promise<PostgresPoolClient>;
  /** The connection settings; only the name of the database is read. */
  readonly options?: object;
}

/** The part of a connection from that pool that the storage uses. */
export interface PostgresPoolClient {
  query(query: PostgresQuery): Promise<unknown>;
  release(destroy?: boolean): void;
  on(event: "error", listener: (error: Error) => void): unknown;
  off(event: "error", listener: (error: Error) => void): unknown;
}

/** One query in pg's form. */
export interface PostgresQuery {
  readonly text: string;
  readonly values: unknown[];
  readonly types: { getTypeParser(oid: number, format?: "text" | "binary"): (value: never) => unknown };
  /** Time limit for the response, ms; undefined for the pool's limit. */
  readonly query_timeout: number | undefined;
}

/** Settings for every query, and the timeout for a connection attempt, ms. */
type QuerySettings = Pick<PostgresQuery, "types" | "query_timeout"> & { readonly connectMs: number };

const ignoreError = (): void => {};

/**
 * Adapts a pool for Kysely: it never closes the pool, discards dead connections, and returns the result of the last
 * statement if several are sent together.
 */
export function kyselyPool(pool: PostgresPool, { connectMs, ...settings }: QuerySettings): KyselyPool {
  return {
    options: {},
    end: async () => {},
    async connect() {
      const client = await connectWithin(pool, connectMs);
      // Without a listener, a connection that breaks during a query would end the process.
      client.on("error", ignoreError);
      let connectionError: unknown;
      const query = async (text: string, values: unknown[]) => {
        if (connectionError) throw connectionError;
        try {
          const result = await client.query({ text, values, ...settings });
          return Array.isArray(result) ? result.at(-1) : result;
        } catch (error) {
          if (endsConnection(error)) connectionError = error;
          throw error;
        }
      };
      const release = (destroy = false) => {
        const mustClose = destroy || connectionError !== undefined;
        if (!mustClose) client.off("error", ignoreError);
        client.release(mustClose);
      };
      return { query, release } as unknown as Awaited<ReturnType<KyselyPool["connect"]>>;
    },
  };
}

/** A connection from the pool, or an error after the timeout. The host program's pool may wait forever. */
async function connectWithin(pool: PostgresPool, ms: number): Promise<PostgresPoolClient> {
  const pendingClient = pool.connect();
  const createTimeoutError = () => new Error("timeout exceeded when trying to connect");
  try {
    return await within(pendingClient, { system: realSystem, ms, timeoutError: createTimeoutError });
  } catch (error) {
    pendingClient.then(
      (client) => client.release(),
      () => {},
    );
    throw error;
  }
}
