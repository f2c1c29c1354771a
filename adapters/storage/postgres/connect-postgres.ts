import { randomUUID } from "node:crypto";
import { Kysely, sql } from "kysely";
import type { ClientConfig, Pool } from "pg";
import { ConfigurationError } from "../../../src/base/error.ts";
import type { ConnectedDatabase, ServerLock, Traits } from "../connected-database.ts";
import type { ColumnTypes } from "../migrations/migrate.ts";
import type { Database } from "../tables/all-tables.ts";
import { namedTables } from "../tables/full-table-names.ts";
import { checkNames } from "../tables/table-names.ts";
import {
  type Fence,
  kyselyPool,
  type PostgresQuery,
  postgresDialect,
  type TransactionLimits,
} from "./postgres-dialect.ts";
import { postgresUnavailable, withReadableUrl } from "./postgres-errors.ts";
import { fenceOf, leaseOf, releaseLease, takeLease } from "./postgres-lease.ts";
import type { PostgresStorageOptions } from "./postgres-storage.ts";

/** Time limit for a connection attempt, ms. */
const CONNECT_MS = 5_000;
/** A process that is suspended during a transaction loses it, with its locks. */
const LIMITS: PostgresLimits = { statementMs: 10_000, idleMs: 5_000, silenceMs: 15_000 };
const MIGRATION_LIMITS: TransactionLimits = { statementMs: 0, idleMs: 10_000 };
/** Time limit for a renewal, as a fraction of the lease; it leaves time for a second attempt. */
const RENEWAL_PART = 1 / 4;
const MIN_RENEWAL_MS = 1_000;
/** Time limit for a renewal's statement, as a fraction of the time for its response: PostgreSQL gives up first. */
const STATEMENT_PART = 4 / 5;

/** Limits for every query. */
export interface PostgresLimits extends TransactionLimits {
  /** Time without a response after which a connection is considered lost, ms; longer than the statement limit. */
  readonly silenceMs: number;
}

/** Transactions overlap on several connections. */
export const POSTGRES_TRAITS: Traits = {
  rowLocks: true,
  jsonText: (column, member) => sql`${sql.ref(column)}::json ->> ${sql.lit(member)}`,
  unavailable: postgresUnavailable,
};

export const POSTGRES_COLUMNS: ColumnTypes = { id: sql`text collate "C"`, bytes: "bytea" };

/**
 * Creates the connection pool, unless one is passed in. It connects with the first query.
 * @param owner identifies the storage: if the response to its opening was lost, it may open again immediately
 * @throws {ConfigurationError} the package pg is not installed, or the URL, the schema or the prefix is invalid
 */
export async function connectPostgres(
  options: PostgresStorageOptions,
  owner: string = randomUUID(),
  limits: PostgresLimits = LIMITS,
): Promise<ConnectedDatabase> {
  const tables = checkNames(options);
  const { default: pg } = await import("pg").catch((cause: unknown) => {
    throw new ConfigurationError("the PostgreSQL storage needs the package pg: npm install pg", { cause });
  });
  // int8 arrives as text. Our values are times and counts, far below 2^53.
  const types: PostgresQuery["types"] = {
    getTypeParser: (oid, format) => (oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format)),
  };
  const newPool = (max: number, connectionTimeoutMillis: number): Pool => {
    const pool = new pg.Pool({ connectionString: options.url, connectionTimeoutMillis, keepAlive: true, max });
    pool.on("error", () => {}); // without a listener, a broken idle connection would end the process
    return pool;
  };
  const ownPool = options.pool ? undefined : newPool(options.max ?? 10, CONNECT_MS);
  const pool = options.pool ?? (ownPool as Pool);
  const { connectionString, host, port, database }: ClientConfig = options.pool?.options ?? {
    connectionString: options.url,
  };
  const location = {
    name: nameOf(withReadableUrl(() => new pg.Client({ connectionString, host, port, database }))),
    tables,
  };
  const fence: Fence = { database: location.name };

  /**
   * Renewals have a separate connection, so that they never queue behind other work; a pool passed by the program is
   * shared.
   */
  async function lockWithLease(epoch: number, ms: number): Promise<ServerLock> {
    const timeoutMs = Math.max(MIN_RENEWAL_MS, ms * RENEWAL_PART);
    const leasePool = options.pool ? undefined : newPool(1, timeoutMs);
    const settings = { types, query_timeout: timeoutMs, connectMs: timeoutMs };
    const statementMs = Math.min(limits.statementMs, Math.floor(timeoutMs * STATEMENT_PART));
    const dialect = postgresDialect(kyselyPool(leasePool ?? pool, settings), { ...limits, statementMs });
    const db = new Kysely<Database>({ dialect, plugins: namedTables(tables) });
    fence.query = fenceOf(db, epoch);
    return {
      lease: leaseOf(db, location, epoch, ms),
      async release() {
        // If the database is unavailable, the lease expires.
        await releaseLease(db, epoch).catch(() => {});
        await leasePool?.end();
      },
    };
  }

  return {
    ...location,
    dialect: postgresDialect(
      kyselyPool(pool, { types, query_timeout: limits.silenceMs, connectMs: CONNECT_MS }),
      limits,
      fence,
    ),
    migrationDialect: postgresDialect(
      kyselyPool(pool, { types, query_timeout: undefined, connectMs: CONNECT_MS }),
      MIGRATION_LIMITS,
    ),
    columnTypes: POSTGRES_COLUMNS,
    async lock({ leaseMs, ...opening }) {
      const epoch = await takeLease(opening, location, { owner, ms: leaseMs });
      return lockWithLease(epoch, leaseMs);
    },
    close: () => ownPool?.end(),
  };
}

/** The database without its password. */
function nameOf({ host, port, database }: { host: string; port: number; database?: string | undefined }): string {
  return `${database} on ${host}:${port}`;
}
