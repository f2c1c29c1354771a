import { parseCSeq } from "../message/cseq.ts";
import { writeHostPort } from "../message/host-port.ts";
import type { SipRequest } from "../message/message.ts";
import { tagOf } from "../message/name-addr.ts";
import { BRANCH_COOKIE, parseVia, type Via } from "../message/via.ts";

/** The key that matches a response to its client transaction (RFC 3261 section 17.1.3): our unique branch and the method. */
export function clientKey(via: Via | undefined, method: string): string {
  return `${via?.params.get("branch") ?? ""} ${method}`;
}

/**
 * The key that matches a request to its server transaction (RFC 3261 section 17.2.3); an ACK and a CANCEL match their
 * INVITE. Requests of RFC 2543 have no unique branch, and are matched by several fields.
 */
export function serverKey(request: SipRequest, method: string): string {
  const { headers, uri } = request;
  const text = headers.list("Via")[0] ?? "";
  const via = parseVia(text);
  const branch = via?.params.get("branch") ?? "";
  if (via !== undefined && branch.startsWith(BRANCH_COOKIE)) return `${branch} ${writeHostPort(via)} ${method}`;
  return [uri, tagOf(headers.get("From")), headers.get("Call-ID"), numberOf(request), text, method].join(" ");
}

/** The key that matches the ACK of a 2xx to its INVITE: the dialog and the CSeq number. */
export function ackKey(request: SipRequest, toTag: string | undefined): string {
  const { headers } = request;
  return [headers.get("Call-ID"), numberOf(request), tagOf(headers.get("From")), toTag].join(" ");
}

function numberOf({ headers }: SipRequest): number | undefined {
  return parseCSeq(headers.get("CSeq"))?.number;
}
