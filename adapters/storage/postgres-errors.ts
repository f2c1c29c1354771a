import { OwnershipLost } from "../../src/ports/storage.ts";

/** SQLSTATE classes and codes (PostgreSQL, appendix A) of a database that cannot do it now. */
const UNAVAILABLE_STATES = [
  /^08/, // connection exception
  /^25006$/, // read only: a replica after a failover
  /^25P0[34]$/, // the transaction stood still, or took too long
  /^40/, // rolled back: deadlock, serialization
  /^53/, // insufficient resources: disk full, out of memory, too many connections
  /^55P03$/, // lock not available
  /^57014$/, // cancelled, by statement_timeout
  /^57P0[1-5]$/, // shut down, crashed, starting up, dropped, idle too long
  /^58030$/, // input or output error
];

/** What the operating system says of a connection that cannot be had or broke. */
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
  "ENOENT", // a Unix socket that is not there
]);

/** What pg itself says; these errors carry no code. */
const PG_SENTENCES =
  /^(Connection terminated|Client has encountered a connection error|Client was closed|timeout exceeded when trying to connect|timeout expired|Query read timeout)/;

/** A sentence where PostgreSQL cannot do it now; undefined for every other error. */
export function postgresUnavailable(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  const matches =
    UNAVAILABLE_STATES.some((state) => state.test(code)) || BROKEN_CONNECTION.has(code) || isPgSentence(error);
  return matches ? `PostgreSQL cannot do it now (${error.message || code})` : undefined;
}

/** The refusal of a write or renewal of an earlier epoch. */
export function ownershipLost(database: string): OwnershipLost {
  return new OwnershipLost(`another server has taken over the database ${database}`);
}

/** Whether the connection that gave the error must not be used again: PostgreSQL is closing it, or says nothing more. */
export function endsConnection(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ("severity" in error && error.severity === "FATAL") || isPgSentence(error);
}

function isPgSentence(error: Error): boolean {
  return PG_SENTENCES.test(error.message);
}
