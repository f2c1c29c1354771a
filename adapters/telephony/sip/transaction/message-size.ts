import type { SipRequest } from "../message/message.ts";

/** Longer requests do not fit into a datagram for certain (RFC 3261 section 18.1.1), bytes. */
const LONG_BYTES = 1300;
const SEPARATORS = 4; // ": " and CRLF
const CONTENT_LENGTH = 24;

/** Whether a request is too long for UDP. Reckons with one byte per character, so that nothing has to be written. */
export function isLong({ method, uri, headers, body }: SipRequest): boolean {
  let bytes = method.length + uri.length + " SIP/2.0 \r\n\r\n".length + CONTENT_LENGTH + body.length;
  for (const [name, value] of headers) bytes += name.length + value.length + SEPARATORS;
  return bytes > LONG_BYTES;
}
