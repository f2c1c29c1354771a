import { findPostgres, type RunningPostgres } from "../../support/postgres.ts";

/** Runs something with a PostgreSQL server. @throws {Error} no server is installed */
export async function withPostgres<T>(run: (server: RunningPostgres) => Promise<T>): Promise<T> {
  const source = await findPostgres();
  if (source.missing !== undefined) throw new Error(source.missing);
  const server = await source.start();
  try {
    return await run(server);
  } finally {
    await server.stop();
  }
}
