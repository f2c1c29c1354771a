import type { PostgresPool as KyselyPool } from "kysely";
import { within } from "../../src/base/timeout.ts";
import { realSystem } from "../../src/ports/system.ts";
import { endsConnection } from "./postgres-errors.ts";

/** The part of a `Pool` of the package `pg` that the storage uses. */
export interface PostgresPool {
  connect(): Promise<PostgresPoolClient>;
  /** Its connection settings; only the name of the database is read. */
  readonly options?: object;
}

/** The part of a connection from that pool that the storage uses. */
export interface PostgresPoolClient {
  query(query: PostgresQuery): Promise<unknown>;
  release(destroy?: boolean): void;
  on(event: "error", listener: (error: Error) => void): unknown;
  off(event: "error", listener: (error: Error) => void): unknown;
}

/** One query, with its settings in pg. */
export interface PostgresQuery {
  readonly text: string;
  readonly values: unknown[];
  readonly types: { getTypeParser(oid: number, format?: "text" | "binary"): (value: never) => unknown };
  /** Time the response may take, ms; undefined: the limit of the pool. */
  readonly query_timeout: number | undefined;
}

/** Settings of every query, and the timeout of a connection attempt, ms. */
type QuerySettings = Pick<PostgresQuery, "types" | "query_timeout"> & { readonly connectMs: number };

const ignore = (): void => {};

/**
 * Adapts a pool for Kysely: it never closes the pool, discards dead connections, and returns the result of the last
 * statement if several are sent together.
 */
export function kyselyPool(pool: PostgresPool, { connectMs, ...settings }: QuerySettings): KyselyPool {
  return {
    options: {},
    end: async () => {},
    async connect() {
      const client = await connected(pool, connectMs);
      // Without a listener, a connection that breaks during a query would end the process.
      client.on("error", ignore);
      let dead: unknown;
      const query = async (text: string, values: unknown[]) => {
        if (dead) throw dead;
        try {
          const result = await client.query({ text, values, ...settings });
          return Array.isArray(result) ? result.at(-1) : result;
        } catch (error) {
          if (endsConnection(error)) dead = error;
          throw error;
        }
      };
      const release = (destroy = false) => {
        const ends = destroy || dead !== undefined;
        if (!ends) client.off("error", ignore);
        client.release(ends);
      };
      return { query, release } as unknown as Awaited<ReturnType<KyselyPool["connect"]>>;
    },
  };
}

/** A connection from the pool, or an error after the timeout. The host program's pool may wait forever. */
async function connected(pool: PostgresPool, ms: number): Promise<PostgresPoolClient> {
  const connecting = pool.connect();
  const late = () => new Error("timeout exceeded when trying to connect");
  try {
    return await within(connecting, { system: realSystem, ms, late });
  } catch (error) {
    connecting.then(
      (client) => client.release(),
      () => {},
    );
    throw error;
  }
}
