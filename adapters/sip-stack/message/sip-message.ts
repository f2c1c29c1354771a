import { SipHeaders } from "./headers.ts";

/** A fault of a message, and the status of the response to it (RFC 3261 section 21). */
export interface MessageError {
  readonly status: number;
  /** The fault as a reason phrase, without a full stop. */
  readonly detail: string;
}

/** Maximum size of a start line and header, bytes (RFC 3261 section 21.5.7). */
export const MAX_HEADER_BYTES = 65_536;

/** Maximum size of a body, bytes (RFC 3261 section 21.4.11). */
export const MAX_BODY_BYTES = 262_144;

/** Maximum number of accepted header fields. */
export const MAX_FIELDS = 500;

/** A SIP request (RFC 3261 section 7.1). */
export interface SipRequest {
  readonly kind: "request";
  /** Upper case, as sent: `INVITE`. */
  readonly method: string;
  /** The Request-URI, byte for byte: a digest is computed over it. */
  readonly uri: string;
  readonly headers: SipHeaders;
  readonly body: Uint8Array;
}

/** A SIP response (RFC 3261 section 7.2). */
export interface SipResponse {
  readonly kind: "response";
  /** Status, 100 to 699. */
  readonly status: number;
  /** The reason phrase; may be empty. */
  readonly reason: string;
  readonly headers: SipHeaders;
  readonly body: Uint8Array;
}

export type SipMessage = SipRequest | SipResponse;

/** An empty body. */
export const EMPTY_BODY: Uint8Array = new Uint8Array(0);

/** A request with exactly these parts. */
export function sipRequest(
  method: string,
  uri: string,
  headers: SipHeaders = new SipHeaders(),
  body: Uint8Array = EMPTY_BODY,
): SipRequest {
  return { kind: "request", method, uri, headers, body };
}

/**
 * The response to a request, with Via, From, To, Call-ID and CSeq copied from it (RFC 3261 section 8.2.6.2). The caller
 * adds the tag of To.
 */
export function responseTo(
  request: SipRequest,
  status: number,
  reason: string,
  body: Uint8Array = EMPTY_BODY,
): SipResponse {
  const headers = new SipHeaders();
  for (const name of ["Via", "From", "To", "Call-ID", "CSeq"])
    for (const value of request.headers.fields(name)) headers.add(name, value);
  return { kind: "response", status, reason, headers, body };
}

const MAX_LENGTH = 200;

/** A peer's text for use in a sentence: on one line, and truncated. @param length maximum length. Default: 200 */
export function oneLine(text: string, length: number = MAX_LENGTH): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are removed
  const line = text.slice(0, 2 * length).replace(/[\u0000-\u001f\u007f-\u009f]+/g, " ");
  return line.length > length ? `${line.slice(0, length)}…` : line;
}

/** `SIP 486 Busy Here`. */
export function statusText({ status, reason }: SipResponse): string {
  return oneLine(`SIP ${status} ${reason}`.trim());
}
