import { type Dialect, PostgresDialect, type PostgresPool, sql } from "kysely";
import type { Client, Pool, PoolConfig } from "pg";
import type { PostgresStorageOptions } from "./postgres.ts";
import { endsConnection, postgresUnavailable } from "./postgres-errors.ts";
import { takePostgresLock } from "./postgres-lock.ts";
import { withReadableUrl } from "./postgres-url.ts";
import type { Engine, Traits } from "./session.ts";

/** How long a connection may take to be had, ms. */
const CONNECT_MS = 5_000;
/** How long PostgreSQL may work on one statement or wait for a lock, ms. */
const STATEMENT_MS = 10_000;
/** How long PostgreSQL may say nothing before its connection counts as lost, ms. */
const SILENCE_MS = 15_000;

/** Transactions overlap on several connections. */
export const POSTGRES_TRAITS: Traits = { rowLocks: true, unavailable: postgresUnavailable };

/**
 * Makes the connection pool; nothing is connected before the first query.
 * @throws {Error} the package pg is not installed, or the URL cannot be read
 */
export async function connectPostgres({ url, max = 10 }: PostgresStorageOptions): Promise<Engine> {
  const { default: pg } = await import("pg").catch((cause: unknown) => {
    throw new Error("the PostgreSQL storage needs the package pg: npm install pg", { cause });
  });
  const patient: PoolConfig = {
    connectionString: url,
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    // int8 arrives as text; ours are times and counts, far below 2^53.
    types: {
      getTypeParser: (oid, format) => (oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format)),
    } as NonNullable<PoolConfig["types"]>,
  };
  const timed: PoolConfig = {
    ...patient,
    statement_timeout: STATEMENT_MS,
    query_timeout: SILENCE_MS,
    // A process that loses its power in the middle of a transaction must not keep its locks until TCP finds out.
    idle_in_transaction_session_timeout: STATEMENT_MS,
  };
  const name = nameOf(withReadableUrl(() => new pg.Client(patient)));
  return {
    name,
    dialect: dialect(new pg.Pool({ ...timed, max })),
    migrationDialect: dialect(new pg.Pool({ ...patient, max: 1 })),
    columnTypes: { id: sql`text collate "C"`, bytes: "bytea" },
    lock: () => takePostgresLock(() => new pg.Client({ ...patient, query_timeout: CONNECT_MS }), name),
  };
}

/** The database without its password. */
function nameOf({ host, port, database }: Client): string {
  return `${database} on ${host}:${port}`;
}

function dialect(pool: Pool): Dialect {
  // Without listeners a connection that breaks, at rest or at work, would end the process.
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => {}));
  return new PostgresDialect({ pool: withoutDeadConnections(pool) });
}

/** A pool that does not lend a connection again that PostgreSQL is closing or no longer answers on. */
function withoutDeadConnections(pool: Pool): PostgresPool {
  return {
    options: pool.options,
    end: () => pool.end(),
    async connect() {
      const client = await pool.connect();
      let dead: unknown;
      const query = async (text: string, parameters: unknown[]) => {
        if (dead) throw dead;
        try {
          return await client.query(text, parameters);
        } catch (error) {
          if (endsConnection(error)) dead = error;
          throw error;
        }
      };
      const connection = { query, release: (destroy?: boolean) => client.release(destroy || dead !== undefined) };
      return connection as unknown as Awaited<ReturnType<PostgresPool["connect"]>>;
    },
  };
}
