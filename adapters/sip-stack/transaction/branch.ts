import { randomText } from "../message/grammar.ts";
import { BRANCH_COOKIE, parseCSeq, parseVia, type Via } from "../message/header-values.ts";
import { SipHeaders } from "../message/headers.ts";
import { tagOf } from "../message/name-addr.ts";
import { type SipRequest, type SipResponse, sipRequest } from "../message/sip-message.ts";
import { writeHostPort } from "../message/uri.ts";
import type { System } from "../ports.ts";

/** The key that matches a response to its client transaction (RFC 3261 section 17.1.3): our unique branch and the method. */
export function clientKey(via: Via | undefined, method: string): string {
  return `${via?.params.get("branch") ?? ""} ${method}`;
}

/**
 * The key that matches a request to its server transaction (RFC 3261 section 17.2.3); an ACK and a CANCEL match their
 * INVITE. RFC 2543 requests have no unique branch, and are matched by several fields.
 */
export function serverKey(request: SipRequest, method: string): string {
  const { headers, uri } = request;
  const text = headers.list("Via")[0] ?? "";
  const via = parseVia(text);
  const branch = via?.params.get("branch") ?? "";
  if (via !== undefined && branch.startsWith(BRANCH_COOKIE)) return `${branch} ${writeHostPort(via)} ${method}`;
  return [uri, tagOf(headers.get("From")), headers.get("Call-ID"), numberOf(request), text, method].join(" ");
}

/** The key that matches the ACK for a 2xx response with its INVITE: the dialog and the CSeq number. */
export function ackKey(request: SipRequest, toTag: string | undefined): string {
  const { headers } = request;
  return [headers.get("Call-ID"), numberOf(request), tagOf(headers.get("From")), toTag].join(" ");
}

function numberOf({ headers }: SipRequest): number | undefined {
  return parseCSeq(headers.get("CSeq"))?.number;
}

const TRANSPORTS = { udp: "UDP", tcp: "TCP", tls: "TLS" } as const;
const RANDOM_BYTES = 12;

/** A unique branch that cannot be guessed (RFC 3261 section 8.1.1.7). */
export function newBranch(system: System): string {
  return BRANCH_COOKIE + randomText(system, RANDOM_BYTES);
}

/**
 * The Via of our request. `rport` asks the peer to report our address as it sees it (RFC 3581); `alias` lets the peer
 * send its requests on the same connection (RFC 5923).
 */
export function viaOf(kind: keyof typeof TRANSPORTS, sentBy: string, branch: string): string {
  return `SIP/2.0/${TRANSPORTS[kind]} ${sentBy};branch=${branch};rport${kind === "udp" ? "" : ";alias"}`;
}

/** A hop-by-hop request with the fields of its INVITE, including the topmost Via. */
function hopByHop(method: string, { uri, headers: inviteHeaders }: SipRequest, to: string | undefined): SipRequest {
  const headers = new SipHeaders();
  headers.add("Via", inviteHeaders.list("Via")[0] ?? "");
  headers.add("Max-Forwards", "70");
  for (const route of inviteHeaders.fields("Route")) headers.add("Route", route);
  headers.add("From", inviteHeaders.get("From") ?? "");
  headers.add("To", to ?? inviteHeaders.get("To") ?? "");
  headers.add("Call-ID", inviteHeaders.get("Call-ID") ?? "");
  headers.add("CSeq", `${Number.parseInt(inviteHeaders.get("CSeq") ?? "", 10)} ${method}`);
  return sipRequest(method, uri, headers);
}

/** The ACK for a 300–699 response, part of the INVITE's own transaction (RFC 3261 section 17.1.1.3). */
export function ackOf(invite: SipRequest, response: SipResponse): SipRequest {
  return hopByHop("ACK", invite, response.headers.get("To"));
}

/** The CANCEL for an INVITE (RFC 3261 section 9.1), with this value in a Reason field (RFC 3326). */
export function cancelOf(invite: SipRequest, reason: string | undefined): SipRequest {
  const cancel = hopByHop("CANCEL", invite, undefined);
  if (reason !== undefined) cancel.headers.add("Reason", reason);
  return cancel;
}
