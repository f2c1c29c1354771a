import { clearTimeout, setTimeout } from "node:timers";
import type { PostgresPool as KyselyPool } from "kysely";
import { endsConnection } from "./postgres-errors.ts";

/** What the storage uses of a `Pool` of the package `pg`. */
export interface PostgresPool {
  connect(): Promise<PostgresPoolClient>;
  /** How it connects; only the name of the database is read from it. */
  readonly options?: object;
}

/** What the storage uses of a connection from that pool. */
export interface PostgresPoolClient {
  query(query: PostgresQuery): Promise<unknown>;
  release(destroy?: boolean): void;
  on(event: "error", listener: (error: Error) => void): unknown;
  off(event: "error", listener: (error: Error) => void): unknown;
}

/** One query, with the settings that pg takes for each. */
export interface PostgresQuery {
  readonly text: string;
  readonly values: unknown[];
  readonly types: { getTypeParser(oid: number, format?: "text" | "binary"): (value: never) => unknown };
  /** How long the answer may take, ms; undefined: the limit of the pool. */
  readonly query_timeout: number | undefined;
}

/** Settings of every query, and how long a connection may take to be had, ms. */
type QuerySettings = Pick<PostgresQuery, "types" | "query_timeout"> & { readonly connectMs: number };

const ignore = (): void => {};

/**
 * Adapts a pool for Kysely: it never closes the pool, discards dead connections, and returns the result of the last
 * statement when several are sent together.
 */
export function kyselyPool(pool: PostgresPool, { connectMs, ...settings }: QuerySettings): KyselyPool {
  return {
    options: {},
    end: async () => {},
    async connect() {
      const client = await connected(pool, connectMs);
      // Without a listener a connection that breaks at work would end the process.
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

/** A pool of the host may wait for ever: for the network, or for a connection that somebody keeps. */
async function connected(pool: PostgresPool, ms: number): Promise<PostgresPoolClient> {
  const connecting = pool.connect();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("timeout exceeded when trying to connect")), ms);
  });
  try {
    return await Promise.race([connecting, late]);
  } catch (error) {
    connecting.then(
      (client) => client.release(),
      () => {},
    );
    throw error;
  } finally {
    clearTimeout(timer);
  }
}
