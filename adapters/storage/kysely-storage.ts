import { randomUUID } from "node:crypto";
import {
  CompiledQuery,
  type Dialect,
  type Driver,
  PostgresIntrospector,
  PostgresQueryCompiler,
  SqliteIntrospector,
} from "kysely";
import type { Storage } from "../../src/ports/storage.ts";
import { databaseStorage } from "./all-stores.ts";
import type { ConnectedDatabase, LockedOpening, ServerLock } from "./connected-database.ts";
import { POSTGRES_COLUMNS, POSTGRES_TRAITS } from "./postgres/connect-postgres.ts";
import { type Fence, StatelessAdapter } from "./postgres/postgres-dialect.ts";
import { leaseLost } from "./postgres/postgres-errors.ts";
import { fenceOf, leaseOf, releaseLease, takeLease } from "./postgres/postgres-lease.ts";
import { SQLITE_COLUMNS, SQLITE_TRAITS } from "./sqlite/connect-sqlite.ts";
import { LiteralLimitCompiler, TransactionalAdapter } from "./sqlite/sqlite-dialect.ts";
import { checkNames, type TableNames } from "./tables/table-names.ts";

/** Differences between databases, and the names of the tables. */
export interface DatabaseTraits extends TableNames {
  /**
   * The database's SQL dialect: PostgreSQL (12 or later), with transactions that are `READ COMMITTED` by default, or
   * SQLite (3.38 or later), over one connection. A `bigint` must arrive as a number, and bytes as a `Uint8Array`.
   */
  readonly sql: "postgres" | "sqlite";
  /** The name of the database in errors, without a password. */
  readonly name: string;
  /**
   * The reason why the database is unavailable, such as a full disk or a broken connection: the caller may try again.
   * Undefined for every other error. Default: determined from PostgreSQL's (`code`) or SQLite's (`errcode`) error
   * codes.
   */
  unavailable?(error: unknown): string | undefined;
  /**
   * Makes this process the only server of the database until the returned function is called, after the driver has
   * closed. Default: for `postgres`, a lease in the table `owners`; for `sqlite` no lock, so only one server may open
   * the database.
   * @throws {StorageLocked} another server uses it
   */
  lock?(): Promise<() => Promise<void>>;
}

/**
 * A storage in any database with a Kysely dialect. Closing the storage destroys the dialect's driver.
 * @example const storage = kyselyStorage(new PGliteDialect({ pglite: () => new PGlite("./data/pg") }), { sql: "postgres", name: "PGlite" });
 */
export function kyselyStorage(dialect: Dialect, traits: DatabaseTraits): Storage {
  const owner = randomUUID();
  const defaults = traits.sql === "postgres" ? POSTGRES_TRAITS : SQLITE_TRAITS;
  return databaseStorage(async () => connect(dialect, traits, owner), {
    ...defaults,
    unavailable: (error) => traits.unavailable?.(error) ?? defaults.unavailable(error),
  });
}

function connect(dialect: Dialect, traits: DatabaseTraits, owner: string): ConnectedDatabase {
  const { name, sql } = traits;
  const location = { name, tables: checkNames(traits) };
  const fence: Fence = { database: name };
  let unlock: (() => Promise<void>) | undefined;

  /**
   * Locks the database by a lease: each write begins with the fence, which finds no row once another server has raised
   * the epoch.
   */
  async function lockByLease({ leaseMs, ...opening }: LockedOpening): Promise<ServerLock> {
    const { db } = opening;
    const epoch = await takeLease(opening, location, { owner, ms: leaseMs });
    fence.query = fenceOf(db, epoch);
    return {
      lease: leaseOf(db, location, epoch, leaseMs),
      release: () => releaseLease(db, epoch).catch(() => {}), // if the database is unavailable, the lease expires
    };
  }

  return {
    ...location,
    dialect: sql === "postgres" ? postgresOver(dialect, fence) : sqliteOver(dialect),
    columnTypes: sql === "postgres" ? POSTGRES_COLUMNS : SQLITE_COLUMNS,
    async lock(opening) {
      if (sql === "postgres" && !traits.lock) return lockByLease(opening);
      unlock = await traits.lock?.();
      await opening.migrationDb.transaction().execute(opening.migrate);
      return { release: async () => {} };
    },
    close: () => unlock?.(),
  };
}

/** A dialect's driver with our own compiler and adapter: the dialect may come from another version of Kysely. */
function postgresOver(dialect: Dialect, fence: Fence): Dialect {
  const { supportsMultipleConnections = true } = dialect.createAdapter();
  return {
    createAdapter: () => new StatelessAdapter(supportsMultipleConnections),
    createQueryCompiler: () => new PostgresQueryCompiler(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createDriver: () => withFence(dialect.createDriver(), fence),
  };
}

function sqliteOver(dialect: Dialect): Dialect {
  return {
    createAdapter: () => new TransactionalAdapter(),
    createQueryCompiler: () => new LiteralLimitCompiler(),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createDriver: () => dialect.createDriver(),
  };
}

function withFence(driver: Driver, fence: Fence): Driver {
  return {
    init: (options) => driver.init(options),
    acquireConnection: (options) => driver.acquireConnection(options),
    /** @throws {LeaseLost} the fence finds no row */
    async beginTransaction(connection, settings) {
      await driver.beginTransaction(connection, settings);
      if (fence.query === undefined) return;
      try {
        const { rows } = await connection.executeQuery(CompiledQuery.raw(fence.query));
        if (rows.length === 0) throw leaseLost(fence.database);
      } catch (error) {
        await driver.rollbackTransaction(connection).catch(() => {});
        throw error;
      }
    },
    commitTransaction: (connection) => driver.commitTransaction(connection),
    rollbackTransaction: (connection) => driver.rollbackTransaction(connection),
    releaseConnection: (connection, options) => driver.releaseConnection(connection, options),
    destroy: (options) => driver.destroy(options),
  };
}
