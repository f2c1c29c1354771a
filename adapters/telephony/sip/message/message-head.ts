import type { Complaint } from "./complaint.ts";
import { headerLines, readFields } from "./header-fields.ts";
import type { SipHeaders } from "./headers.ts";
import { MAX_HEADER_BYTES } from "./limits.ts";
import { type ReadStartLine, readStartLine } from "./start-line.ts";

/** What stands before the body; the complaint is the first thing that is wrong. */
export type MessageHead = ReadStartLine & { readonly headers: SipHeaders };

/** What is wrong with a header that goes on for too long. */
export const HEADER_TOO_LARGE: Complaint = {
  status: 513,
  detail: `The header is larger than ${MAX_HEADER_BYTES / 1024} KiB`,
};

/** Reads a start line, which begins at the first byte, and the header fields below it. Of more than the limit, only so much. */
export function readHead(bytes: Uint8Array): MessageHead {
  const [first = "", ...rest] = headerLines(bytes.subarray(0, MAX_HEADER_BYTES));
  const line = readStartLine(first);
  const { headers, complaint } = readFields(rest);
  if (line.start === undefined) return { ...line, headers };
  const tooLarge = bytes.length > MAX_HEADER_BYTES ? HEADER_TOO_LARGE : undefined;
  return { start: line.start, headers, complaint: line.complaint ?? tooLarge ?? complaint };
}
