import { readStartLine } from "./start-line.ts";

/** The longest status line that is read, bytes. */
const LONGEST_LINE = 500;

/** A status of another call, as its party reports it. */
export interface ReportedStatus {
  /** 100 to 699. */
  readonly status: number;
  readonly reason: string;
}

/**
 * The status line at the beginning of a `message/sipfrag` body (RFC 3420), by which a NOTIFY reports on a transfer (RFC
 * 3515 section 2.4.5); undefined if it does not begin with one. What follows the line is not read.
 */
export function reportedStatus(body: Uint8Array): ReportedStatus | undefined {
  const [line = ""] = new TextDecoder().decode(body.subarray(0, LONGEST_LINE)).split(/\r?\n/, 1);
  const { start } = readStartLine(line);
  return start?.kind === "response" ? { status: start.status, reason: start.reason } : undefined;
}
