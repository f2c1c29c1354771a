import type { Storage } from "../../src/ports/storage.ts";
import { kyselyStorage } from "./kysely-storage.ts";
import { connectPostgres, POSTGRES_TRAITS } from "./postgres-engine.ts";

/** Options of {@link postgresStorage}. */
export interface PostgresStorageOptions {
  /** `postgres://user:password@host:port/database`; tables live in the first schema of its search path. */
  readonly url: string;
  /** Most connections; 10 when not given. A server holds one more for its lock. */
  readonly max?: number;
}

/**
 * A storage in PostgreSQL (12 and later), by the package `pg` (a peer dependency: `npm install pg`).
 * @example const storage = postgresStorage({ url: "postgres://ringport:secret@localhost/ringport" });
 */
export function postgresStorage(options: PostgresStorageOptions): Storage {
  return kyselyStorage(() => connectPostgres(options), POSTGRES_TRAITS);
}
