import { type Dialect, PostgresDialect, type PostgresPool, sql } from "kysely";
import type { Pool, PoolConfig } from "pg";
import type { Storage } from "../../src/ports/storage.ts";
import { kyselyStorage } from "./kysely-storage.ts";
import { isSilence, postgresUnavailable } from "./postgres-errors.ts";
import { takePostgresLock } from "./postgres-lock.ts";
import type { Engine, Traits } from "./session.ts";

/** Options of {@link postgresStorage}. */
export interface PostgresStorageOptions {
  /** `postgres://user:password@host:port/database`; tables live in the first schema of its search path. */
  readonly url: string;
  /** Most connections; 10 when not given. A server holds one more for its lock. */
  readonly max?: number;
}

/** How long a connection may take to be had, ms. */
const CONNECT_MS = 5_000;
/** How long PostgreSQL may work on one statement or wait for a lock, ms. */
const STATEMENT_MS = 10_000;
/** How long PostgreSQL may say nothing before its connection counts as lost, ms. */
const SILENCE_MS = 15_000;

const TRAITS: Traits = { rowLocks: true };

/**
 * A storage in PostgreSQL (12 and later), by the package `pg` (a peer dependency: `npm install pg`).
 * @example const storage = postgresStorage({ url: process.env.DATABASE_URL });
 */
export function postgresStorage({ url, max = 10 }: PostgresStorageOptions): Storage {
  return kyselyStorage(() => connect(url, max), TRAITS);
}

async function connect(url: string, max: number): Promise<Engine> {
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
  const timed: PoolConfig = { ...patient, statement_timeout: STATEMENT_MS, query_timeout: SILENCE_MS };
  return {
    traits: TRAITS,
    dialect: dialect(new pg.Pool({ ...timed, max })),
    migrationDialect: dialect(new pg.Pool({ ...patient, max: 1 })),
    columnTypes: { id: sql`text collate "C"`, bytes: "bytea" },
    unavailable: postgresUnavailable,
    lock: () => takePostgresLock(() => new pg.Client({ ...patient, query_timeout: CONNECT_MS })),
  };
}

function dialect(pool: Pool): Dialect {
  // Without listeners a connection that breaks, at rest or at work, would end the process.
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => {}));
  return new PostgresDialect({ pool: withoutSilentConnections(pool) });
}

/** A pool that throws a connection away once PostgreSQL has left a query on it without an answer. */
function withoutSilentConnections(pool: Pool): PostgresPool {
  return {
    options: pool.options,
    end: () => pool.end(),
    async connect() {
      const client = await pool.connect();
      let silent: unknown;
      const query = async (text: string, parameters: unknown[]) => {
        if (silent) throw silent;
        try {
          return await client.query(text, parameters);
        } catch (error) {
          if (isSilence(error)) silent = error;
          throw error;
        }
      };
      const connection = { query, release: (destroy?: boolean) => client.release(destroy || silent !== undefined) };
      return connection as unknown as Awaited<ReturnType<PostgresPool["connect"]>>;
    },
  };
}
