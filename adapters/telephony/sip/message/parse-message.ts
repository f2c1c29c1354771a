import { completeMessage } from "./complete-message.ts";
import { contentLength } from "./content-fields.ts";
import { headEnd, skipEmptyLines } from "./head-end.ts";
import type { MalformedMessage } from "./malformed-message.ts";
import { EMPTY_BODY, type SipMessage } from "./message.ts";
import { readHead } from "./message-head.ts";

/**
 * Reads the message in one datagram. What stands behind the length that Content-Length names is ignored; without one the
 * body is all that is left (RFC 3261 section 18.3). Never throws.
 */
export function parseMessage(bytes: Uint8Array): SipMessage | MalformedMessage {
  const from = skipEmptyLines(bytes, 0);
  const end = headEnd(bytes, from);
  const head = readHead(bytes.subarray(from, end < 0 ? bytes.length : end));
  if (end < 0) return completeMessage(head, EMPTY_BODY, { status: 400, detail: "The message ends within its header" });
  const came = bytes.length - end;
  const length = contentLength(head.headers) ?? came;
  if (typeof length !== "number") return completeMessage(head, EMPTY_BODY, length);
  if (length <= came) return completeMessage(head, new Uint8Array(bytes.subarray(end, end + length)));
  const detail = `Content-Length is ${length}, but only ${came} bytes of body came`;
  return completeMessage(head, EMPTY_BODY, { status: 400, detail });
}
