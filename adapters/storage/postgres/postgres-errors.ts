import { ConfigurationError } from "../../../src/base/error.ts";
import { LeaseLost } from "../../../src/ports/storage.ts";

/** SQLSTATE classes and codes (PostgreSQL, appendix A) of an unavailable database. */
const UNAVAILABLE_STATES = [
  /^08/, // connection exception
  /^25006$/, // read only: a replica after a failover
  /^25P0[34]$/, // the transaction was idle, or took too long
  /^40/, // rolled back: deadlock, serialization
  /^53/, // insufficient resources: disk full, out of memory, too many connections
  /^55P03$/, // lock not available
  /^57014$/, // cancelled, by statement_timeout
  /^57P0[1-5]$/, // shut down, crashed, starting up, dropped, idle too long
  /^58030$/, // input or output error
];

/** The operating system's codes for a connection that fails or breaks. */
const BROKEN_CONNECTION = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "ECONNABORTED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EPIPE",
  "ENOENT", // a missing Unix socket
]);

/** Messages of pg itself, which have no code. */
const PG_MESSAGES =
  /^(Connection terminated|Client has encountered a connection error|Client was closed|timeout exceeded when trying to connect|timeout expired|Query read timeout)/;

/** The reason why PostgreSQL is unavailable; undefined for every other error. */
export function postgresUnavailable(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  const matches =
    UNAVAILABLE_STATES.some((state) => state.test(code)) || BROKEN_CONNECTION.has(code) || isPgMessage(error);
  return matches ? `PostgreSQL is unavailable (${error.message || code})` : undefined;
}

/** The refusal of a write or renewal from an earlier epoch. */
export function leaseLost(database: string): LeaseLost {
  return new LeaseLost(`another server has taken over the database ${database}`);
}

/** True if the connection must not be used again after this error: PostgreSQL closes it, or no longer responds. */
export function endsConnection(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ("severity" in error && error.severity === "FATAL") || isPgMessage(error);
}

function isPgMessage(error: Error): boolean {
  return PG_MESSAGES.test(error.message);
}

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
