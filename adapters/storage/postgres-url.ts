import { ConfigurationError } from "../../src/base/error.ts";

/**
 * Runs a function that parses the URL of a database.
 * @throws {ConfigurationError} the URL is malformed; unlike the errors of some runtimes it does not quote the password
 */
export function withReadableUrl<T>(read: () => T): T {
  try {
    return read();
  } catch {
    throw new ConfigurationError(
      "the database URL (DATABASE_URL) is malformed: write postgres://user:password@host:5432/database, special characters percent-encoded",
    );
  }
}
