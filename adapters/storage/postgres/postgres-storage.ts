import { randomUUID } from "node:crypto";
import type { Storage } from "../../../src/ports/storage.ts";
import { databaseStorage } from "../all-stores.ts";
import type { TableNames } from "../tables/table-names.ts";
import { connectPostgres, POSTGRES_TRAITS } from "./connect-postgres.ts";
import type { PostgresPool } from "./postgres-dialect.ts";

export type { PostgresPool, PostgresPoolClient, PostgresQuery } from "./postgres-dialect.ts";

/** Options of {@link postgresStorage}: a `url`, or a `pool`. */
export type PostgresStorageOptions = TableNames & (Connection | SharedPool);

interface Connection {
  /** `postgres://user:password@host:port/database` */
  readonly url: string;
  /** Maximum number of connections. Default: 10. A server uses one more for its lease. */
  readonly max?: number | undefined;
  readonly pool?: undefined;
}

interface SharedPool {
  /** A `Pool` from the package `pg`. `close()` leaves it open. Allow it at least 3 connections. */
  readonly pool: PostgresPool;
  readonly url?: undefined;
}

/**
 * A storage in PostgreSQL (12 and later), with the package `pg` (a peer dependency: `npm install pg`). It keeps no
 * session state, so it works through a transaction pooler such as PgBouncer.
 * @example const storage = postgresStorage({ url: "postgres://ringport:secret@localhost/ringport" });
 * @example const storage = postgresStorage({ pool, schema: "ringport" });
 */
export function postgresStorage(options: PostgresStorageOptions): Storage {
  const owner = randomUUID();
  return databaseStorage(() => connectPostgres(options, owner), POSTGRES_TRAITS);
}
