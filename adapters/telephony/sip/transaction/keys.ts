import { parseCSeq } from "../message/cseq.ts";
import { writeHostPort } from "../message/host-port.ts";
import type { SipRequest } from "../message/message.ts";
import { tagOf } from "../message/name-addr.ts";
import { BRANCH_COOKIE, parseVia, type Via } from "../message/via.ts";

/** What a response must match (RFC 3261 section 17.1.3): the branch is ours alone, and says everything. */
export function clientKey(via: Via | undefined, method: string): string {
  return `${via?.params.get("branch") ?? ""} ${method}`;
}

/**
 * What a request must match to be one that has come before (RFC 3261 section 17.2.3); an ACK and a CANCEL look for the
 * INVITE. Peers older than RFC 3261, without its cookie, are told apart by what their requests have in common.
 */
export function serverKey(request: SipRequest, method: string): string {
  const { headers, uri } = request;
  const text = headers.list("Via")[0] ?? "";
  const via = parseVia(text);
  const branch = via?.params.get("branch") ?? "";
  if (via !== undefined && branch.startsWith(BRANCH_COOKIE)) return `${branch} ${writeHostPort(via)} ${method}`;
  return [uri, tagOf(headers.get("From")), headers.get("Call-ID"), numberOf(request), text, method].join(" ");
}

/** What the ACK of a 2xx has in common with the INVITE that was answered: the dialog and the number. */
export function ackKey(request: SipRequest, toTag: string | undefined): string {
  const { headers } = request;
  return [headers.get("Call-ID"), numberOf(request), tagOf(headers.get("From")), toTag].join(" ");
}

function numberOf({ headers }: SipRequest): number | undefined {
  return parseCSeq(headers.get("CSeq"))?.number;
}
