import { contentLength } from "./content-length.ts";
import { headEnd, skipEmptyLines } from "./head-end.ts";
import { MAX_BODY_BYTES, MAX_HEADER_BYTES } from "./limits.ts";
import { type Complaint, type MalformedMessage, malformed } from "./malformed-message.ts";
import { EMPTY_BODY, type SipMessage } from "./message.ts";
import { messageFault } from "./message-fault.ts";
import { type MessageHead, readHead } from "./message-head.ts";

/**
 * Reads the message in one datagram. What stands behind the length that Content-Length names is ignored; without one the
 * body is all that is left (RFC 3261 section 18.3). Never throws.
 */
export function parseMessage(bytes: Uint8Array): SipMessage | MalformedMessage {
  const from = skipEmptyLines(bytes, 0);
  const end = headEnd(bytes, from);
  const headBytes = bytes.subarray(from, end < 0 ? bytes.length : end);
  if (headBytes.length > MAX_HEADER_BYTES)
    return completeMessage(readHead(headBytes.subarray(0, MAX_HEADER_BYTES)), EMPTY_BODY, HEADER_TOO_LARGE);
  const head = readHead(headBytes);
  if (end < 0) return completeMessage(head, EMPTY_BODY, { status: 400, detail: "The message ends within its header" });
  const came = bytes.length - end;
  const length = contentLength(head.headers) ?? came;
  const complaint = lengthFault(length);
  if (complaint !== undefined) return completeMessage(head, EMPTY_BODY, complaint);
  if (length <= came) return completeMessage(head, new Uint8Array(bytes.subarray(end, end + length)));
  const detail = `Content-Length is ${length}, but only ${came} bytes of body came`;
  return completeMessage(head, EMPTY_BODY, { status: 400, detail });
}

/** The answer to a header that goes on for too long. */
export const HEADER_TOO_LARGE: Complaint = {
  status: 513,
  detail: `The header is larger than ${MAX_HEADER_BYTES / 1024} KiB`,
};

const NO_START: Complaint = { status: 400, detail: "The first line is not one of SIP" };

/** What is wrong with the length of a body. */
export function lengthFault(length: number): Complaint | undefined {
  if (Number.isNaN(length)) return { status: 400, detail: "Content-Length is not one number" };
  if (length > MAX_BODY_BYTES) return { status: 413, detail: `The body is larger than ${MAX_BODY_BYTES / 1024} KiB` };
  return undefined;
}

/** The message with its body, or what is wrong with it: in its head, as given, or in its fields. */
export function completeMessage(
  { start, headers, complaint: ofHead }: MessageHead,
  body: Uint8Array,
  given?: Complaint,
): SipMessage | MalformedMessage {
  if (start === undefined) return malformed(undefined, ofHead ?? NO_START);
  const complaint = ofHead ?? given ?? messageFault(start, headers);
  const request = start.kind === "request" ? { method: start.method, headers } : undefined;
  if (complaint !== undefined) return malformed(request, complaint);
  return start.kind === "request"
    ? { kind: "request", method: start.method, uri: start.uri, headers, body }
    : { kind: "response", status: start.status, reason: start.reason, headers, body };
}
