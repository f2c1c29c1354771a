import { completeMessage } from "./complete-message.ts";
import { contentLength } from "./content-fields.ts";
import { headEnd, skipEmptyLines } from "./head-end.ts";
import type { MalformedMessage } from "./malformed-message.ts";
import { EMPTY_BODY, type SipMessage } from "./message.ts";
import { readHead } from "./message-head.ts";

/**
 * Reads the message in one datagram. Bytes beyond Content-Length are ignored; without the field the body is the rest of
 * the datagram (RFC 3261 section 18.3). Never throws.
 */
export function parseMessage(bytes: Uint8Array): SipMessage | MalformedMessage {
  const from = skipEmptyLines(bytes, 0);
  const end = headEnd(bytes, from);
  const head = readHead(bytes.subarray(from, end < 0 ? bytes.length : end));
  if (end < 0) return completeMessage(head, EMPTY_BODY, { status: 400, detail: "The message ends within its header" });
  const received = bytes.length - end;
  const length = contentLength(head.headers) ?? received;
  if (typeof length !== "number") return completeMessage(head, EMPTY_BODY, length);
  if (length <= received) return completeMessage(head, new Uint8Array(bytes.subarray(end, end + length)));
  const detail = `Content-Length is ${length}, but the body has only ${received} bytes`;
  return completeMessage(head, EMPTY_BODY, { status: 400, detail });
}
