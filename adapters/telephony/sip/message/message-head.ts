import { headerLines, readFields } from "./header-fields.ts";
import type { SipHeaders } from "./headers.ts";
import type { Complaint } from "./malformed-message.ts";
import { readStartLine, type StartLine } from "./start-line.ts";

/** What stands before the body. */
export interface MessageHead {
  /** Undefined where the first line is neither a request's nor a response's. */
  readonly start: StartLine | undefined;
  readonly headers: SipHeaders;
  /** The first thing that is wrong. */
  readonly complaint: Complaint | undefined;
}

/** Reads a start line, which begins at the first byte, and the header fields below it. */
export function readHead(bytes: Uint8Array): MessageHead {
  const [first = "", ...rest] = headerLines(bytes);
  const { start, complaint: ofStart } = readStartLine(first);
  const { headers, complaint: ofFields } = readFields(rest);
  return { start, headers, complaint: ofStart ?? ofFields };
}
