import { headerLines, readFields } from "./header-fields.ts";
import type { SipHeaders } from "./headers.ts";
import { MAX_HEADER_BYTES } from "./limits.ts";
import type { MessageError } from "./message-error.ts";
import { type ReadStartLine, readStartLine } from "./start-line.ts";

/** The start line and the header of a message (RFC 3261 section 7); the error is the first fault. */
export type MessageHead = ReadStartLine & { readonly headers: SipHeaders };

/** The fault of a header beyond the limit. */
export const HEADER_TOO_LARGE: MessageError = {
  status: 513,
  detail: `The header is larger than ${MAX_HEADER_BYTES / 1024} KiB`,
};

/** Reads a start line at the first byte, and the header fields below it, up to the limit. */
export function readHead(bytes: Uint8Array): MessageHead {
  const [first = "", ...rest] = headerLines(bytes.subarray(0, MAX_HEADER_BYTES));
  const line = readStartLine(first);
  const { headers, error } = readFields(rest);
  if (line.start === undefined) return { ...line, headers };
  const tooLarge = bytes.length > MAX_HEADER_BYTES ? HEADER_TOO_LARGE : undefined;
  return { start: line.start, headers, error: line.error ?? tooLarge ?? error };
}
