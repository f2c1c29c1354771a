import {
  CompiledQuery,
  type DatabaseConnection,
  type Driver,
  type Kysely,
  PostgresAdapter,
  PostgresDialect,
  PostgresDriver,
  type PostgresPool,
  sql,
} from "kysely";
import { leaseLost } from "./postgres-errors.ts";

/** The guard at the start of every transaction. */
export interface Fence {
  /** Locks one row while this storage may write, and finds no row later. Without it every storage may write. */
  query?: string;
  /** The name of the database in errors. */
  readonly database: string;
}

/** Limits of a transaction, ms; 0: no limit. */
export interface TransactionLimits {
  /** For each statement, including its waits for locks. */
  readonly statementMs: number;
  /** Between two statements: a suspended process must not keep its locks. */
  readonly idleMs: number;
}

/** The number of Kysely's own lock, for which older versions wait. */
const MIGRATION_LOCK = "3853314791062309107";

/**
 * Kysely over PostgreSQL without session state, so that connections may come from a transaction pooler. Limits and the
 * fence are sent with BEGIN, in one round trip.
 */
export function postgresDialect(pool: PostgresPool, limits: TransactionLimits, fence?: Fence): PostgresDialect {
  return new StatelessDialect(pool, limits, fence);
}

class StatelessDialect extends PostgresDialect {
  readonly #driver: () => Driver;

  constructor(pool: PostgresPool, limits: TransactionLimits, fence: Fence | undefined) {
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

class StatelessAdapter extends PostgresAdapter {
  override async acquireMigrationLock(db: Kysely<unknown>): Promise<void> {
    await sql`select pg_advisory_xact_lock(${sql.raw(MIGRATION_LOCK)})`.execute(db);
  }

  /** The lock ends with the transaction. */
  override async releaseMigrationLock(): Promise<void> {}
}

class FencedDriver extends PostgresDriver {
  readonly #begin: string;
  readonly #fence: Fence | undefined;

  constructor(pool: PostgresPool, { statementMs, idleMs }: TransactionLimits, fence: Fence | undefined) {
    super({ pool });
    // The database may have another default isolation.
    this.#begin = `begin isolation level read committed; set local statement_timeout = ${statementMs}; set local idle_in_transaction_session_timeout = ${idleMs}`;
    this.#fence = fence;
  }

  /** @throws {LeaseLost} the fence finds no row */
  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    const fence = this.#fence;
    const query = fence?.query;
    const text = query === undefined ? this.#begin : `${this.#begin}; ${query}`;
    try {
      const { rows } = await connection.executeQuery(CompiledQuery.raw(text));
      if (fence && query !== undefined && rows.length === 0) throw leaseLost(fence.database);
    } catch (error) {
      await this.rollbackTransaction(connection as Parameters<PostgresDriver["rollbackTransaction"]>[0]).catch(
        () => {},
      );
      throw error;
    }
  }
}
