import { randomUUID } from "node:crypto";
import { Kysely, sql } from "kysely";
import type { ClientConfig, Pool } from "pg";
import { namedTables } from "./named-tables.ts";
import type { PostgresStorageOptions } from "./postgres.ts";
import { type Fence, postgresDialect, type TransactionLimits } from "./postgres-dialect.ts";
import { postgresUnavailable } from "./postgres-errors.ts";
import { fenceOf, leaseOf, releaseLease, takeLease } from "./postgres-ownership.ts";
import { kyselyPool, type PostgresQuery } from "./postgres-pool.ts";
import { withReadableUrl } from "./postgres-url.ts";
import type { Database } from "./schema.ts";
import type { Engine, Ownership, Traits } from "./session.ts";
import { checkedNames } from "./table-names.ts";

/** How long a connection may take to be had, ms. */
const CONNECT_MS = 5_000;
/** How long PostgreSQL may say nothing before its connection counts as lost, ms. */
const SILENCE_MS = 15_000;
/** A process that stands still in the middle of a transaction loses it, and with it its locks. */
const LIMITS: TransactionLimits = { statementMs: 10_000, idleMs: 5_000 };
const MIGRATION_LIMITS: TransactionLimits = { statementMs: 0, idleMs: 10_000 };
/** How long a renewal may take, as a part of the lease, so that there is time for another. */
const RENEWAL_PART = 1 / 4;
const LEAST_RENEWAL_MS = 1_000;

/** Transactions overlap on several connections. */
export const POSTGRES_TRAITS: Traits = { rowLocks: true, unavailable: postgresUnavailable };

/**
 * Makes the connection pool, unless one is given; nothing is connected before the first query.
 * @param owner identifies the storage: one that lost the answer to its opening may open again at once
 * @throws {Error} the package pg is not installed, or the URL, the schema or the prefix cannot be used
 */
export async function connectPostgres(options: PostgresStorageOptions, owner: string = randomUUID()): Promise<Engine> {
  const tables = checkedNames(options);
  const { default: pg } = await import("pg").catch((cause: unknown) => {
    throw new Error("the PostgreSQL storage needs the package pg: npm install pg", { cause });
  });
  // int8 arrives as text; ours are times and counts, far below 2^53.
  const types: PostgresQuery["types"] = {
    getTypeParser: (oid, format) => (oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format)),
  };
  const newPool = (max: number, connectionTimeoutMillis: number): Pool => {
    const pool = new pg.Pool({ connectionString: options.url, connectionTimeoutMillis, keepAlive: true, max });
    pool.on("error", () => {}); // without a listener a connection that breaks at rest would end the process
    return pool;
  };
  const ownPool = options.pool ? undefined : newPool(options.max ?? 10, CONNECT_MS);
  const pool = options.pool ?? (ownPool as Pool);
  const { connectionString, host, port, database }: ClientConfig = options.pool?.options ?? {
    connectionString: options.url,
  };
  const place = {
    name: nameOf(withReadableUrl(() => new pg.Client({ connectionString, host, port, database }))),
    tables,
  };
  const fence: Fence = { database: place.name };

  /** Renewals have a connection of their own, so that they never queue behind other work; a given pool has to do. */
  async function owned(epoch: number, ms: number): Promise<Ownership> {
    const patienceMs = Math.max(LEAST_RENEWAL_MS, ms * RENEWAL_PART);
    const leasePool = options.pool ? undefined : newPool(1, patienceMs);
    const settings = { types, query_timeout: patienceMs, connectMs: patienceMs };
    const dialect = postgresDialect(kyselyPool(leasePool ?? pool, settings), LIMITS);
    const db = new Kysely<Database>({ dialect, plugins: namedTables(tables) });
    fence.query = fenceOf(db, epoch);
    return {
      lease: leaseOf(db, place, epoch, ms),
      async release() {
        // If the database cannot be asked, the lease runs out.
        await releaseLease(db, epoch).catch(() => {});
        await leasePool?.end();
      },
    };
  }

  return {
    ...place,
    dialect: postgresDialect(
      kyselyPool(pool, { types, query_timeout: SILENCE_MS, connectMs: CONNECT_MS }),
      LIMITS,
      fence,
    ),
    migrationDialect: postgresDialect(
      kyselyPool(pool, { types, query_timeout: undefined, connectMs: CONNECT_MS }),
      MIGRATION_LIMITS,
    ),
    columnTypes: { id: sql`text collate "C"`, bytes: "bytea" },
    async own({ leaseMs, ...opening }) {
      const epoch = await takeLease(opening, place, { owner, ms: leaseMs });
      return owned(epoch, leaseMs);
    },
    close: () => ownPool?.end(),
  };
}

/** The database without its password. */
function nameOf({ host, port, database }: { host: string; port: number; database?: string | undefined }): string {
  return `${database} on ${host}:${port}`;
}
