/**
 * Runs what reads the URL of a database.
 * @throws {Error} the URL cannot be read; unlike the errors of some runtimes it does not quote the password
 */
export function withReadableUrl<T>(read: () => T): T {
  try {
    return read();
  } catch {
    throw new Error(
      "the database URL (DATABASE_URL) cannot be read: write postgres://user:password@host:5432/database, special characters percent-encoded",
    );
  }
}
