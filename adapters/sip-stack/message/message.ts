import { SipHeaders } from "./headers.ts";

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
  /** 100 to 699. */
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
